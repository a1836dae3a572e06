package cache

import (
	"fmt"
	"os"
	"path/filepath"
)

// cachePath returns the folder of builds: below $NICTWIN_CACHE or the user's cache folder.
func cachePath(dir string) (string, error) {
	if dir == "" {
		dir = os.Getenv("NICTWIN_CACHE")
	}
	if dir == "" {
		base, err := os.UserCacheDir()
		if err != nil {
			return "", fmt.Errorf("no cache folder: set NICTWIN_CACHE: %w", err)
		}
		dir = filepath.Join(base, "nictwin")
	}
	dir, err := filepath.Abs(filepath.Join(dir, "rtl")) // tools run elsewhere
	if err != nil {
		return "", fmt.Errorf("build cache: %w", err)
	}
	return dir, nil
}

// CacheRoot returns cachePath and creates it if necessary.
func CacheRoot(dir string) (string, error) {
	dir, err := cachePath(dir)
	if err != nil {
		return "", err
	}
	if err := os.MkdirAll(dir, 0o755); err != nil {
		return "", fmt.Errorf("build cache: %w", err)
	}
	return dir, nil
}

// Names in the cache: an entry is a folder with a record, its lock a file beside it; objects shared between
// builds have folders of their own.
const (
	RecordFile    = "device.json"
	ObjectsPrefix = "runtime-"
	LockExt       = ".lock"
)

func exists(path string) bool {
	_, err := os.Lstat(path)
	return err == nil
}
