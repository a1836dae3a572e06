package result

import (
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"nictwin/scenarios/shell/files"
)

// earlier is appended to the names of an earlier run's files until the next run ends. If that run does not take place,
// the files get their names back.
const earlier = ".earlier"

// isOurs reports whether runs write files of this name.
func isOurs(name string) bool { return slices.Contains(ours, name) || reOurs.MatchString(name) }

// sweep sets aside the files of an earlier run in folder dir and in its marked subfolders, except the inputs of this
// run. `there` lists the names in dir; `at` is the path of dir in the folder of artifacts.
func (f *Folder) sweep(dir *files.Folder, at string, there, inputs []string) error {
	for _, name := range there { // first remove files that a killed run had renamed
		if old, ok := strings.CutSuffix(name, earlier); ok && isOurs(old) {
			if err := dir.Remove(name); err != nil {
				return err
			}
		}
	}
	if err := f.setAside(dir, at, there, inputs); err != nil {
		return err
	}
	for _, name := range there {
		info, err := os.Lstat(dir.Path(name))
		if err != nil || !info.IsDir() {
			continue
		}
		if err := f.sweepSub(dir, at, name, inputs); err != nil {
			return err
		}
	}
	return nil
}

// setAside renames those of the named files that nictwin writes.
func (f *Folder) setAside(dir *files.Folder, at string, names, inputs []string) error {
	for _, name := range names {
		if !isOurs(name) || name == Marker || isInput(dir.Path(name), inputs) {
			continue
		}
		if err := dir.Replaceable(name); err != nil {
			return &fs.PathError{Op: "write", Path: dir.Path(name), Err: err}
		}
		switch err := dir.Rename(name, name+earlier); {
		case err == nil:
			f.aside = append(f.aside, filepath.Join(at, name))
		case !errors.Is(err, fs.ErrNotExist):
			return err
		}
	}
	return nil
}

// ownRun reports whether a subfolder with files of these names holds the artifacts of another run, or a report. The
// subfolder of a case has neither a summary nor a report.
func ownRun(names []string) bool {
	return slices.ContainsFunc([]string{Summary, JUnit, PageFile, ReportFile},
		func(name string) bool { return slices.Contains(names, name) })
}

// sweepSub sweeps a marked subfolder, and removes it if only the marker is left. It leaves
// subfolders with artifacts of other runs alone.
func (f *Folder) sweepSub(dir *files.Folder, at, name string, inputs []string) error {
	sub, err := dir.Sub(name)
	if err != nil {
		return nil // not a folder, or unreadable: not one that nictwin marked
	}
	text, err := sub.Read(Marker, int64(len(markerText)))
	if err != nil || string(text) != markerText {
		return sub.Close()
	}
	there, err := sub.Names()
	if err == nil && ownRun(there) {
		return sub.Close()
	}
	if err == nil {
		err = f.sweep(sub, filepath.Join(at, name), there, inputs)
	}
	if left, errNames := sub.Names(); err == nil && errNames == nil && len(left) == 1 {
		err = dir.RemoveFolder(name, Marker)
	}
	return errors.Join(err, sub.Close())
}

// restore gives the files of an earlier run their names back.
func (f *Folder) restore() {
	for _, name := range f.aside {
		_ = f.Files.Rename(name+earlier, name) // the error for which the run did not take place is the one to report
	}
	f.aside = nil
}

// clear removes the files of an earlier run, and the folders that are then empty.
func (f *Folder) clear() {
	for _, name := range f.aside {
		_ = f.Files.Remove(name + earlier) // the next run tries again
	}
	for _, name := range f.aside {
		for at := filepath.Dir(name); at != "."; at = filepath.Dir(at) {
			f.removeEmpty(at)
		}
	}
	f.aside = nil
}

// removeEmpty removes a folder that holds only the marker.
func (f *Folder) removeEmpty(at string) {
	if info, err := os.Lstat(f.Files.Path(at)); err != nil || !info.IsDir() {
		return
	}
	left, err := os.ReadDir(f.Files.Path(at))
	if err == nil && (len(left) == 0 || len(left) == 1 && left[0].Name() == Marker) {
		_ = f.Files.RemoveFolder(at, Marker) // if this fails, the folder stays
	}
}

// isInput reports whether a file is one of the inputs.
func isInput(path string, inputs []string) bool {
	file, err := os.Stat(path)
	return err == nil && slices.ContainsFunc(inputs, func(x string) bool {
		in, err := os.Stat(x)
		return err == nil && os.SameFile(file, in)
	})
}
