package cli

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"

	"nictwin/rtlbridge/build"

	"nictwin/scenarios/shell/files"
)

// countable tells early that what is exercised of the RTL could not be added to a folder: devices add to it when they
// end.
func countable(dir string) error {
	if dir == "" {
		return nil
	}
	if err := files.Probe(dir); err != nil {
		return fmt.Errorf("--rtl-coverage: %w", err)
	}
	entries, err := os.ReadDir(dir)
	if err != nil && !errors.Is(err, os.ErrNotExist) {
		return fmt.Errorf("--rtl-coverage: %w", err)
	}
	for _, e := range entries {
		if err := addable(filepath.Join(dir, e.Name())); err != nil {
			return fmt.Errorf("--rtl-coverage: %w; choose another folder", err)
		}
	}
	return nil
}

// addable tells whether a file in a folder of coverage can be added to, if it is such a file.
func addable(path string) error {
	ext := filepath.Ext(path)
	if ext != build.HitsExt && ext != build.PointsExt {
		return nil
	}
	if err := files.Link(path); err != nil {
		return err
	}
	info, err := os.Stat(path)
	if err == nil && !info.Mode().IsRegular() {
		return fmt.Errorf("%s is there, and is no file", path)
	}
	if err != nil {
		return err
	}
	f, err := os.OpenFile(path, os.O_RDWR, 0)
	if err == nil {
		err = f.Close()
	}
	switch {
	case err != nil || info.Size() == 0: // a device that has just begun it
	case ext == build.HitsExt:
		_, err = build.ReadHits(path)
	default:
		_, err = build.ReadCoverPoints(path)
	}
	return err
}
