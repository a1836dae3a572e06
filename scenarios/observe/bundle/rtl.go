package bundle

import (
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"nictwin/rtlbridge/build/sources"
	"nictwin/rtlbridge/manifest"
	"nictwin/scenarios/shell/files"
)

// headers lists the extensions of files in include folders that belong to a design.
var headers = []string{".v", ".sv", ".vh", ".svh", ".h", ".inc", ".svi"}

// AddRTL adds the manifest and the sources of a device under rtl/, at the same paths relative to each other.
func (b *Bundle) AddRTL(m *manifest.Manifest) error {
	set, err := sources.Expand(m)
	if err != nil {
		return err
	}
	paths := append([]string{m.Abs(filepath.Base(m.Path))}, set.Files...)
	paths = append(paths, set.Lists()...)
	for _, dir := range set.IncDirs {
		found, err := headersIn(dir)
		if err != nil {
			return err
		}
		paths = append(paths, found...)
	}
	slices.Sort(paths)
	paths = slices.Compact(paths)
	above, room := common(paths), int64(MaxBytes)
	for _, path := range paths {
		text, err := files.Read(path, room)
		if err != nil {
			return err
		}
		room -= int64(len(text))
		rel, err := filepath.Rel(above, path)
		if err != nil {
			return err
		}
		b.Files[rtlDir+filepath.ToSlash(rel)] = text
	}
	return nil
}

// headersIn lists the Verilog files below a folder.
func headersIn(dir string) (list []string, err error) {
	err = filepath.WalkDir(dir, func(path string, d fs.DirEntry, err error) error {
		if err == nil && d.Type().IsRegular() && slices.Contains(headers, filepath.Ext(path)) {
			list = append(list, path)
		}
		if len(list) > maxRTL {
			return fmt.Errorf("more than %d files below %s: a bundle has no room for them", maxRTL, dir)
		}
		return err
	})
	return list, err
}

// common returns the innermost folder that contains all paths.
func common(paths []string) string {
	dir := filepath.Dir(paths[0])
	for _, path := range paths[1:] {
		for dir != string(os.PathSeparator) && !strings.HasPrefix(path, dir+string(os.PathSeparator)) {
			dir = filepath.Dir(dir)
		}
	}
	return dir
}
