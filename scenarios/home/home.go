package home

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
)

// Env names the variable that holds the folder when no flag does.
const Env = "NICTWIN_HOME"

// Home is a folder with nictwin's files.
type Home struct {
	Dir string // absolute
}

// NotFoundError tells that no home was found, or that the one named is none.
type NotFoundError struct {
	Named  string   // flag or variable that names a folder, empty when it was searched for
	Looked []string // where
}

func (e *NotFoundError) Error() string {
	if e.Named != "" {
		return fmt.Sprintf("%s: %s is not nictwin's folder: it has no %s", e.Named, strings.Join(e.Looked, ", "), harness)
	}
	return fmt.Sprintf("nictwin's folder (the one with %s) was not found above %s; name it with --home or %s",
		harness, strings.Join(e.Looked, " or "), Env)
}

var (
	duts    = filepath.Join("verilator", "duts")
	harness = filepath.Join("verilator", "harness")
	rtl     = filepath.Join("verilator", "rtl")
	mark    = filepath.Join(harness, "device.hpp")
)

// Manifest is the name of a device's manifest in its folder.
const Manifest = "dut.yaml"

// Find returns the folder named by flag, else by $NICTWIN_HOME, else the nearest one upward from the working
// directory, else from the program. Errors: *NotFoundError.
func Find(flag string) (Home, error) {
	if flag != "" {
		return named("--home", flag)
	}
	if dir := os.Getenv(Env); dir != "" {
		return named(Env, dir)
	}
	var starts []string
	if dir, err := os.Getwd(); err == nil {
		starts = append(starts, dir)
	}
	if exe, err := os.Executable(); err == nil {
		if exe, err = filepath.EvalSymlinks(exe); err == nil {
			starts = append(starts, filepath.Dir(exe))
		}
	}
	for _, dir := range starts {
		if h, ok := above(dir); ok {
			return h, nil
		}
	}
	return Home{}, &NotFoundError{Looked: starts}
}

func named(by, dir string) (Home, error) {
	abs, err := filepath.Abs(dir)
	if err != nil || !isHome(abs) {
		return Home{}, &NotFoundError{Named: by, Looked: []string{dir}}
	}
	return Home{abs}, nil
}

func above(dir string) (Home, bool) {
	for {
		if isHome(dir) {
			return Home{dir}, true
		}
		up := filepath.Dir(dir)
		if up == dir {
			return Home{}, false
		}
		dir = up
	}
}

func isHome(dir string) bool { return isFile(filepath.Join(dir, mark)) }

func isFile(path string) bool {
	st, err := os.Stat(path)
	return err == nil && !st.IsDir()
}

// Harness is the folder of the C++ harness.
func (h Home) Harness() string { return filepath.Join(h.Dir, harness) }

// RTL is the folder of the NIC's sources.
func (h Home) RTL() string { return filepath.Join(h.Dir, rtl) }

// DUTs are the names of the devices, sorted.
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

// Path is where the manifest of a device of that name is.
func (h Home) Path(name string) string { return filepath.Join(h.Dir, duts, name, Manifest) }

// Block is where the manifest of a block that is a device of its own is.
func (h Home) Block(name string) string { return filepath.Join(h.Dir, duts, "blocks", name+".yaml") }

// UnknownError tells that no device has that name and no file that path.
type UnknownError struct {
	Name string
	Dir  string   // folder of the devices, empty without a home
	Have []string // names there are
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

// Resolve finds a manifest: a plain word is the name of a device at home, anything else, and a word that names
// nothing there, is the path of a manifest or of its folder. homeFlag is as in Find; a path needs no home. The path is
// returned as it was given. Errors: *NotFoundError, *UnknownError.
func Resolve(dut, homeFlag string) (string, error) {
	if dut == "" {
		return "", &UnknownError{Name: `""`}
	}
	if !isWord(dut) {
		return manifestAt(dut, &UnknownError{Name: dut})
	}
	h, err := Find(homeFlag)
	if err != nil {
		return manifestAt(dut, err)
	}
	if p := h.Path(dut); isFile(p) {
		return p, nil
	}
	have, err := h.DUTs()
	if err != nil {
		return "", err
	}
	return manifestAt(dut, &UnknownError{Name: dut, Dir: filepath.Join(h.Dir, duts), Have: have})
}

// isWord reports whether s cannot be meant as a path.
func isWord(s string) bool {
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

var (
	_ error = (*NotFoundError)(nil)
	_ error = (*UnknownError)(nil)
)
