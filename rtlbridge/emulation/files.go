package emulation

import (
	"fmt"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"nictwin/rtlbridge/build"
	"nictwin/rtlbridge/manifest"
)

// File is a file of a shell.
type File struct{ Name, Text string }

// ListFile is the name of the list of all sources.
const ListFile = "shell.f"

// Files returns the files of a shell: its blocks, its top module, and a list of these with the sources of the device.
func (s *Shell) Files(m *manifest.Manifest) ([]File, error) {
	var all []File
	for _, f := range s.Blocks {
		text, err := os.ReadFile(f)
		if err != nil {
			return nil, err
		}
		all = append(all, File{filepath.Base(f), string(text)})
	}
	all = append(all, File{Module + ".sv", s.Text})
	list, err := s.list(m, all)
	return append(all, File{ListFile, list}), err
}

// list returns the text of the list: options as most tools take them, and files relative to the list or absolute.
func (s *Shell) list(m *manifest.Manifest, own []File) (string, error) {
	sources, includes, defines, err := build.Sources(m)
	if err != nil {
		return "", err
	}
	var b strings.Builder
	fmt.Fprintf(&b, "// Sources of %s with %s inside; build hash %s.\n", Module, m.Top, s.Hash)
	for _, k := range slices.Sorted(maps.Keys(m.Defines)) {
		fmt.Fprintf(&b, "+define+%s=%s\n", k, m.Defines[k])
	}
	for _, d := range defines {
		fmt.Fprintf(&b, "+define+%s\n", d)
	}
	for _, d := range includes {
		fmt.Fprintf(&b, "+incdir+%s\n", d)
	}
	for _, f := range sources {
		fmt.Fprintln(&b, f)
	}
	for _, f := range own {
		fmt.Fprintln(&b, f.Name)
	}
	return b.String(), nil
}
