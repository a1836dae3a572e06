package emulation

import (
	"errors"
	"fmt"
	"path/filepath"
	"strings"

	"nictwin/rtlbridge/build"
	"nictwin/rtlbridge/manifest"
)

// maxResets is the number of resets that a grant has bits for.
const maxResets = 64

// Supported reports what a shell cannot carry, each with the manifest's line.
func Supported(b *manifest.Binding) error {
	m := b.Manifest
	var errs []error
	ins, outs := 0, 0
	for _, s := range b.Streams {
		if s.Dir == manifest.DirIn {
			ins++
		} else {
			outs++
		}
	}
	if ins == 0 || outs == 0 {
		errs = append(errs, m.Errorf("streams", "a shell needs an input and an output stream: %d inputs, %d outputs",
			ins, outs))
	}
	if len(b.Resets) > maxResets {
		errs = append(errs, m.Errorf("resets", "%d resets: a shell holds at most %d", len(b.Resets), maxResets))
	}
	for i, c := range m.Clocks {
		for k, d := range m.Clocks[:i] {
			if c.Signal == d.Signal {
				errs = append(errs, m.Errorf(fmt.Sprintf("clocks[%d]", i), "clock %s is clocks[%d], too", c.Signal, k))
			}
		}
	}
	return errors.Join(errs...)
}

// clashes refuses a design that has modules of the shell's names, with the manifest's line. Its own clock gate takes
// the place of the shell's.
func clashes(m *manifest.Manifest, blocks []string) error {
	var errs []error
	for _, f := range append([]string{Module + ".sv"}, blocks...) {
		name := strings.TrimSuffix(filepath.Base(f), ".sv")
		if has, err := build.HasModule(m, name); err != nil {
			return err
		} else if has {
			errs = append(errs, m.Errorf("sources", "sources: the design has a module %s, and so has the shell: want "+
				"another name", name))
		}
	}
	return errors.Join(errs...)
}
