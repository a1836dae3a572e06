package build

import (
	"errors"
	"path/filepath"

	"nictwin/rtlbridge/build/sources"
	"nictwin/rtlbridge/build/toolchain"
	"nictwin/rtlbridge/manifest"
)

// ShellDir returns the folder of the shell's blocks, which lies beside the harness.
func ShellDir(o *Options) (string, error) {
	home, err := findHarness(o.HarnessDir)
	return filepath.Join(filepath.Dir(home), "shell"), err
}

// CheckEmulation translates a design without building it, checks that a shell can clock it, and binds the manifest to
// its ports, which it returns.
func CheckEmulation(m *manifest.Manifest, o Options) ([]manifest.PinPort, error) {
	o.Variant = VariantSpeed
	b, err := prepare(m, o)
	if err != nil {
		return nil, err
	}
	b.limits = toolchain.LookLimits
	if err := b.makeScratch(); err != nil {
		return nil, err
	}
	defer b.cleanUp()
	ports, err := b.translate()
	if err != nil {
		return nil, err
	}
	_, err = b.bind(ports)
	return ports, errors.Join(err, b.checkEdges())
}

// InstanceParameters returns the parameters of a manifest's design in the form of an instance: #(.A(1), .B(2)).
func InstanceParameters(m *manifest.Manifest, o Options) (string, error) {
	b, err := prepare(m, o)
	if err != nil {
		return "", err
	}
	return b.parameters()
}

// HasModule reports whether the sources of a manifest declare a module, as far as their text shows.
func HasModule(m *manifest.Manifest, module string) (bool, error) {
	src, err := sources.Expand(m)
	if err != nil {
		return false, err
	}
	return src.FileOf(module) != "", nil
}

// Sources returns the files of a manifest's design in their order, its include folders, and the macros of its file
// lists.
func Sources(m *manifest.Manifest) (files, includes, defines []string, err error) {
	src, err := sources.Expand(m)
	if err != nil {
		return nil, nil, nil, err
	}
	return src.Files, src.IncDirs, src.Defines, nil
}
