package cli

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"

	"nictwin/rtlbridge"
	"nictwin/scenarios/files"
)

// countable tells early that what is exercised of the RTL could not be added to a folder: devices add to it when they end.
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
		path := filepath.Join(dir, e.Name())
		if ext := filepath.Ext(path); ext != rtlbridge.HitsExt && ext != rtlbridge.PointsExt {
			continue
		}
		if info, err := os.Stat(path); err == nil && !info.Mode().IsRegular() {
			return fmt.Errorf("--rtl-coverage: %s is there, and is no file; choose another folder", path)
		}
		f, err := os.OpenFile(path, os.O_RDWR, 0)
		if err != nil {
			return fmt.Errorf("--rtl-coverage: %w", err)
		}
		if err := f.Close(); err != nil {
			return fmt.Errorf("--rtl-coverage: %w", err)
		}
	}
	return nil
}
