package home

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
)

// Home is a folder that contains nictwin's own files.
type Home struct {
	Dir string // absolute path of the folder
}

// tree is the subfolder of a home in which all files of nictwin lie.
const tree = "verilator"

var (
	duts    = filepath.Join(tree, "duts")
	harness = filepath.Join(tree, "harness")
	rtl     = filepath.Join(tree, "rtl")
	mark    = filepath.Join(harness, "device.hpp")
)

// Manifest is the name of a device's manifest in its folder.
const Manifest = "dut.yaml"

func isHome(dir string) bool { return isFile(filepath.Join(dir, mark)) }

func isFile(path string) bool {
	st, err := os.Stat(path)
	return err == nil && !st.IsDir()
}

func sameFile(a, b string) bool {
	x, err1 := os.Stat(a)
	y, err2 := os.Stat(b)
	return err1 == nil && err2 == nil && os.SameFile(x, y)
}

// Harness returns the folder of the C++ harness.
func (h Home) Harness() string { return filepath.Join(h.Dir, harness) }

// RTL returns the folder of the NIC's sources.
func (h Home) RTL() string { return filepath.Join(h.Dir, rtl) }

// DUTs returns the names of the devices, sorted.
func (h Home) DUTs() ([]string, error) {
	entries, err := os.ReadDir(filepath.Join(h.Dir, duts))
	if err != nil && !errors.Is(err, os.ErrNotExist) {
		return nil, fmt.Errorf("devices: %w", err)
	}
	var names []string
	for _, e := range entries { // sorted by name
		if isFile(h.Path(e.Name())) {
			names = append(names, e.Name())
		}
	}
	return names, nil
}

// Path returns the path of the manifest of the device with that name.
func (h Home) Path(name string) string { return filepath.Join(h.Dir, duts, name, Manifest) }

// Block returns the path of the manifest of a block that can be built as its own device.
func (h Home) Block(name string) string { return filepath.Join(h.Dir, duts, "blocks", name+".yaml") }

// UnknownError reports a name that is neither that of a device nor that of a file.
type UnknownError struct {
	Name string
	Dir  string   // folder of the devices; empty: no home
	Have []string // names of the devices
}

func (e *UnknownError) Error() string {
	if e.Dir == "" {
		return fmt.Sprintf("%s: no such manifest", e.Name)
	}
	have := "it has none"
	if len(e.Have) > 0 {
		have = "it has " + strings.Join(e.Have, ", ")
	}
	return fmt.Sprintf("no device %q: neither a manifest nor a folder of %s; %s", e.Name, e.Dir, have)
}

// Resolve finds a manifest. A plain word is the name of a device in the home. Anything else, or a word that names no
// device, is the path of a manifest or of its folder, for which no home is needed. A word that is both is refused.
// homeFlag is the flag for Find. The path is returned as given. It returns a *NotFoundError or an *UnknownError.
func Resolve(dut, homeFlag string) (string, error) {
	if dut == "" {
		return "", &UnknownError{Name: `""`}
	}
	if !IsWord(dut) {
		return manifestAt(dut, &UnknownError{Name: dut})
	}
	h, err := Find(homeFlag)
	if err != nil {
		return manifestAt(dut, err)
	}
	if p := h.Path(dut); isFile(p) {
		if here := filepath.Join(dut, Manifest); isFile(here) && !sameFile(p, here) {
			return "", fmt.Errorf("%s: a device at home and a folder here have this name: want ./%s for the folder, "+
				"or %s", dut, dut, p)
		}
		return p, nil
	}
	have, err := h.DUTs()
	if err != nil {
		return "", err
	}
	return manifestAt(dut, &UnknownError{Name: dut, Dir: filepath.Join(h.Dir, duts), Have: have})
}

// IsWord reports whether s can only be a name, not a path.
func IsWord(s string) bool {
	ext := filepath.Ext(s)
	return !strings.ContainsRune(s, filepath.Separator) && ext != ".yaml" && ext != ".yml" && s != "." && s != ".."
}

func manifestAt(path string, otherwise error) (string, error) {
	st, err := os.Stat(path)
	switch {
	case err != nil:
		return "", otherwise
	case st.IsDir() && isFile(filepath.Join(path, Manifest)):
		return filepath.Join(path, Manifest), nil
	case st.IsDir():
		return "", fmt.Errorf("%s: this folder has no %s", path, Manifest)
	}
	return path, nil
}

var _ error = (*UnknownError)(nil)
