// Package lockfile helps to lock by files that are removed with their locks.
//
// Who locks a file that was removed meanwhile has locked nothing: another process makes a new one of the same name.
//
// Invariants:
//   - It changes nothing: opening, locking and removing are left to its callers.
package lockfile

import "os"

// IsAt reports whether an open file is the one at path.
func IsAt(f *os.File, path string) bool {
	open, err := f.Stat()
	if err != nil {
		return false
	}
	there, err := os.Stat(path)
	return err == nil && os.SameFile(open, there)
}
