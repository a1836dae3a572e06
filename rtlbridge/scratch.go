package rtlbridge

import (
	"crypto/sha256"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"time"

	"nictwin/rtlbridge/lockfile"
)

// A build is made in a scratch folder in the cache, which becomes its entry when it is whole. A file in the folder is locked
// while its process lives: a folder whose lock is free was left by a process that was killed.
const (
	scratchPrefix = "build-"
	scratchLock   = "building.lock"
	unfinished    = ".new-" // a scratch folder that has no lock yet
)

// scratchAge is when a scratch folder without a lock goes. Earlier versions made such; no build takes as long.
const scratchAge = 24 * time.Hour

type scratch struct {
	dir  string
	lock *os.File
}

// newScratch makes a scratch folder. It gets its name when it is locked, so that no other process takes it for a left one.
func newScratch(cache string) (*scratch, error) {
	dir, err := os.MkdirTemp(cache, unfinished)
	if err != nil {
		return nil, fmt.Errorf("build cache: %w", err)
	}
	s := &scratch{dir: dir}
	s.lock, err = os.OpenFile(filepath.Join(dir, scratchLock), os.O_CREATE|os.O_RDWR, 0o644)
	if err == nil {
		err = syscall.Flock(int(s.lock.Fd()), syscall.LOCK_EX|syscall.LOCK_NB)
	}
	if err == nil {
		s.dir = filepath.Join(cache, scratchPrefix+strings.TrimPrefix(filepath.Base(dir), unfinished))
		err = os.Rename(dir, s.dir)
	}
	if err != nil {
		s.dir = dir
		s.remove()
		return nil, fmt.Errorf("build cache: %w", err)
	}
	return s, nil
}

// become moves the folder into its place as an entry of the cache.
func (s *scratch) become(entry string) error {
	err := os.Chmod(s.dir, 0o755)
	if err == nil {
		err = os.RemoveAll(entry) // a damaged one, else it would have been taken
	}
	if err == nil {
		err = os.Rename(s.dir, entry)
	}
	if err == nil {
		err = os.Remove(filepath.Join(entry, scratchLock))
	}
	if err != nil {
		return fmt.Errorf("build cache: %w", err)
	}
	return nil
}

// remove ends the use of the folder. One that has become an entry is not there any more.
func (s *scratch) remove() {
	_ = os.RemoveAll(s.dir) // what stays is found by its lock
	if s.lock != nil {
		_ = s.lock.Close()
	}
}

// isScratch reports whether a folder of the cache is one in which a build is made, by its name.
func isScratch(name string) bool {
	return strings.HasPrefix(name, scratchPrefix) || strings.HasPrefix(name, unfinished)
}

// errInUse says that a process works with a part of the cache.
var errInUse = errors.New("in use")

// abandoned locks a scratch folder that nobody works in any more. The error is nil or says why it may be in use.
func abandoned(dir string) (release func(), err error) {
	f, err := lockFree(filepath.Join(dir, scratchLock))
	if err == nil {
		return func() { _ = f.Close() }, nil
	}
	if !errors.Is(err, os.ErrNotExist) {
		return nil, err
	}
	info, err := os.Stat(dir)
	if err != nil {
		return nil, err
	}
	if time.Since(info.ModTime()) <= scratchAge {
		return nil, fmt.Errorf("%w, maybe: it has no lock and is younger than %v", errInUse, scratchAge)
	}
	return func() {}, nil
}

// lockFree locks a file that no process has locked.
func lockFree(path string) (*os.File, error) {
	f, err := os.OpenFile(path, os.O_RDWR, 0)
	if err != nil {
		return nil, err
	}
	if err := syscall.Flock(int(f.Fd()), syscall.LOCK_EX|syscall.LOCK_NB); err != nil {
		_ = f.Close() // nothing was written
		if errors.Is(err, syscall.EWOULDBLOCK) {
			err = errInUse
		}
		return nil, err
	}
	if !lockfile.IsAt(f, path) {
		_ = f.Close() // nothing was written
		return nil, fmt.Errorf("%s: %w", path, os.ErrNotExist)
	}
	return f, nil
}

// sweep removes the scratch folders that killed builds left.
func sweep(cache string) error {
	all, err := os.ReadDir(cache)
	if err != nil {
		return fmt.Errorf("build cache: %w", err)
	}
	for _, e := range all {
		if e.IsDir() && isScratch(e.Name()) {
			dir := filepath.Join(cache, e.Name())
			if release, err := abandoned(dir); err == nil {
				_ = dropScratch(dir) // it may be another user's; it is in nobody's way
				release()
			}
		}
	}
	return nil
}

// dropScratch removes an abandoned scratch folder, and the objects that its compilers have not finished. The lock goes last:
// a compiler that still runs may keep the rest from going.
func dropScratch(dir string) error {
	inside, err := os.ReadDir(dir)
	if err != nil {
		return err
	}
	var errs []error
	for _, e := range inside {
		if e.Name() != scratchLock {
			errs = append(errs, os.RemoveAll(filepath.Join(dir, e.Name())))
		}
	}
	parts, err := filepath.Glob(filepath.Join(filepath.Dir(dir), objectsPrefix+"*", "*"+unfinishedObject(dir)))
	errs = append(errs, err)
	for _, p := range parts {
		errs = append(errs, os.Remove(p))
	}
	if err := errors.Join(errs...); err != nil {
		return err
	}
	return os.RemoveAll(dir)
}

// unfinishedObject ends the names of objects that the compilers of a scratch folder are writing, wherever they lie.
func unfinishedObject(scratch string) string {
	return fmt.Sprintf(".%x.tmp", sha256.Sum256([]byte(scratch)))[:20]
}
