package cli

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"

	"nictwin/rtlbridge/build"

	"nictwin/scenarios/shell/files"
)

// checkCoverageFolder checks that RTL coverage can be written to a folder, before the run: devices write it only when
// they end.
func checkCoverageFolder(dir string) error {
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
		if err := checkCoverageFile(filepath.Join(dir, e.Name())); err != nil {
			return fmt.Errorf("--rtl-coverage: %w; choose another folder", err)
		}
	}
	return nil
}

// checkCoverageFile checks that hits can be added to a file, if it is a coverage file.
func checkCoverageFile(path string) error {
	ext := filepath.Ext(path)
	if ext != build.HitsExt && ext != build.PointsExt {
		return nil
	}
	if err := files.Link(path); err != nil {
		return err
	}
	info, err := os.Stat(path)
	if err == nil && !info.Mode().IsRegular() {
		return fmt.Errorf("%s exists and is not a file", path)
	}
	if err != nil {
		return err
	}
	f, err := os.OpenFile(path, os.O_RDWR, 0)
	if err == nil {
		err = f.Close()
	}
	switch {
	case err != nil || info.Size() == 0: // empty: a device has just created it
	case ext == build.HitsExt:
		_, err = build.ReadHits(path)
	default:
		_, err = build.ReadCoverPoints(path)
	}
	return err
}
