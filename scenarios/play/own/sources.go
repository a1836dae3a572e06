package own

import (
	"errors"
	"fmt"
	"go/parser"
	"go/token"
	"io"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"unicode"
)

// source is a file of a reference, with its contents when it was read.
type source struct {
	name string
	text []byte
}

// maxBytes limits the total size of a reference's files.
const maxBytes = 4 << 20

// Beginnings of import paths: module, of all packages of nictwin; room, of those that a reference may import.
const (
	module = "nictwin/"
	room   = "nictwin/models/"
)

// readSources reads the Go files of a folder, except tests. It reads each file once.
func readSources(dir string) (list []source, err error) {
	entries, err := os.ReadDir(dir)
	if err != nil {
		return nil, err
	}
	left := maxBytes
	for _, e := range entries { // sorted by name
		n := e.Name()
		if !strings.HasSuffix(n, ".go") || strings.HasSuffix(n, "_test.go") || strings.HasPrefix(n, "_") ||
			strings.HasPrefix(n, ".") {
			continue
		}
		if strings.ContainsFunc(n, unicode.IsControl) {
			return nil, fmt.Errorf("%q: a name with a control character; rename the file", n)
		}
		text, err := readRegular(filepath.Join(dir, n), left)
		if err != nil {
			return nil, err
		}
		left -= len(text)
		list = append(list, source{n, text})
	}
	if len(list) == 0 {
		return nil, errors.New("has no Go files: want a package with a function Reference(p *ref.Player)")
	}
	return list, nil
}

// readRegular reads a regular file of at most the given size.
func readRegular(path string, most int) ([]byte, error) {
	st, err := os.Stat(path)
	if err == nil && !st.Mode().IsRegular() {
		err = fmt.Errorf("%s is no regular file", filepath.Base(path))
	}
	if err != nil {
		return nil, err
	}
	f, err := os.Open(path)
	if err != nil {
		return nil, err
	}
	defer f.Close()
	text, err := io.ReadAll(io.LimitReader(f, int64(most)+1))
	if err == nil && len(text) > most {
		err = fmt.Errorf("its Go files have more than %d bytes, the limit", maxBytes)
	}
	return text, err
}

// checkSources refuses several packages, package main, C, embedded files and imports outside models. It leaves syntax
// errors to the Go tool.
func checkSources(dir string, list []source) error {
	var errs []error
	set := token.NewFileSet()
	name := ""
	for _, s := range list {
		f, err := parser.ParseFile(set, filepath.Join(dir, s.name), s.text, parser.ImportsOnly)
		if err != nil {
			continue
		}
		if name == "" {
			name = f.Name.Name
		}
		if f.Name.Name != name {
			errs = append(errs, fmt.Errorf("%v: package %s beside package %s: want one package",
				set.Position(f.Name.Pos()), f.Name.Name, name))
		}
		if f.Name.Name == "main" {
			errs = append(errs, fmt.Errorf("%v: package main cannot be a reference: give it another name",
				set.Position(f.Name.Pos())))
		}
		for _, i := range f.Imports {
			switch path, _ := strconv.Unquote(i.Path.Value); {
			case path == "C":
				errs = append(errs, fmt.Errorf("%v: a reference cannot import C", set.Position(i.Pos())))
			case path == "embed":
				errs = append(errs, fmt.Errorf("%v: a reference cannot import embed: it is built of its Go files alone",
					set.Position(i.Pos())))
			case strings.HasPrefix(path, module) && !strings.HasPrefix(path, room):
				errs = append(errs, fmt.Errorf("%v: import of %s: of nictwin's packages, a reference may import "+
					"those of models alone",
					set.Position(i.Pos()), path))
			}
		}
	}
	return errors.Join(errs...)
}
