package build

import (
	"errors"
	"maps"
	"slices"
	"strings"

	"nictwin/rtlbridge/manifest"
)

// Instances returns the instances of a module in a design, by their names in waveforms, such as
// TOP.nic_top.u_tx.u_out; none if the design has no such module. Variants of a module with different parameters
// count as one module.
func Instances(m *manifest.Manifest, module string, o Options) (paths []string, err error) {
	b, err := prepare(m, o)
	if err != nil {
		return nil, err
	}
	if err := b.makeScratch(); err != nil {
		return nil, err
	}
	defer b.cleanUp()
	_, err = b.translate()
	if err != nil {
		return nil, err
	}
	design, err := b.describe()
	if err != nil {
		return nil, err
	}
	const deepest = 64 // more than any real design
	var walk func(path, name string, left int) error
	walk = func(path, name string, left int) error {
		if left == 0 {
			return errors.New("outline: instances lead round in a ring")
		}
		if name == module || strings.HasPrefix(name, module+"__") {
			paths = append(paths, path)
		}
		below := design.modules[name]
		if below == nil {
			return nil
		}
		for _, inst := range slices.Sorted(maps.Keys(below.instances)) {
			if err := walk(path+"."+strings.ReplaceAll(inst, " ", "."), below.instances[inst], left-1); err != nil {
				return err
			}
		}
		return nil
	}
	return paths, walk("TOP."+design.top, design.top, deepest)
}
