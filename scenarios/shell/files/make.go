package files

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"syscall"
)

// Make creates a folder, and those above it that do not exist. It returns those that did not exist, innermost first.
// A path may lead through links, but nothing is created through a link that leads nowhere.
func Make(dir string) (made []string, err error) {
	for at := filepath.Clean(dir); ; at = filepath.Dir(at) {
		info, err := os.Stat(at)
		switch {
		case err == nil && !info.IsDir():
			return nil, fmt.Errorf("%s is a file: want a folder, or a name that is free", at)
		case err == nil:
			if err := create(dir); err != nil {
				for _, d := range made {
					_ = os.Remove(d) // the error above is the one to report
				}
				return nil, err
			}
			return made, nil
		case !errors.Is(err, fs.ErrNotExist):
			return nil, unusable(at, err)
		}
		if to, err := os.Readlink(at); err == nil {
			return nil, fmt.Errorf("%s is a link to %s, which does not exist: create that folder, or choose another "+
				"name", at, to)
		}
		made = append(made, at)
	}
}

// create creates a folder that may exist meanwhile.
func create(dir string) error {
	var of *fs.PathError
	err := os.MkdirAll(dir, 0o755)
	if errors.As(err, &of) {
		return unusable(of.Path, err)
	}
	return err
}

// unusable explains an error of the system about a folder.
func unusable(at string, err error) error {
	switch {
	case errors.Is(err, syscall.ELOOP):
		return fmt.Errorf("%s: a link leads to itself: choose another name", at)
	case errors.Is(err, syscall.ENOTDIR):
		return fmt.Errorf("%s: a part of the path is a file: want folders", at)
	}
	return fmt.Errorf("%s cannot be created: %w; choose another folder", at, cause(err))
}

// cause returns an error of the system without operation and path.
func cause(err error) error {
	var known *fs.PathError
	if errors.As(err, &known) {
		return known.Err
	}
	return err
}
