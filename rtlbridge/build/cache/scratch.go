package cache

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

// A build is made in a scratch folder in the cache, which becomes its entry when it is complete. A file in the
// folder is locked while its process lives: a folder whose lock is free was left by a process that was killed.
const (
	scratchPrefix = "build-"
	scratchLock   = "building.lock"
	unfinished    = ".new-" // a scratch folder without a lock yet
)

// scratchAge is the age at which a scratch folder without a lock is removed. Earlier versions made such folders;
// no build takes as long.
const scratchAge = 24 * time.Hour

type Scratch struct {
	Dir  string
	lock *os.File
}

// NewScratch makes a scratch folder. The folder gets its name after it has been locked, so that no other process
// takes it for an abandoned one.
func NewScratch(cache string) (*Scratch, error) {
	dir, err := os.MkdirTemp(cache, unfinished)
	if err != nil {
		return nil, fmt.Errorf("build cache: %w", err)
	}
	s := &Scratch{Dir: dir}
	s.lock, err = os.OpenFile(filepath.Join(dir, scratchLock), os.O_CREATE|os.O_RDWR, 0o644)
	if err == nil {
		err = syscall.Flock(int(s.lock.Fd()), syscall.LOCK_EX|syscall.LOCK_NB)
	}
	if err == nil {
		s.Dir = filepath.Join(cache, scratchPrefix+strings.TrimPrefix(filepath.Base(dir), unfinished))
		err = os.Rename(dir, s.Dir)
	}
	if err != nil {
		s.Dir = dir
		s.Remove()
		return nil, fmt.Errorf("build cache: %w", err)
	}
	return s, nil
}

// Publish moves the complete folder into its place as an entry of the cache.
func (s *Scratch) Publish(entry string) error {
	err := os.Chmod(s.Dir, 0o755)
	if err == nil {
		err = os.RemoveAll(entry) // a damaged entry, otherwise it would have been used
	}
	if err == nil {
		err = os.Rename(s.Dir, entry)
	}
	if err == nil {
		err = os.Remove(filepath.Join(entry, scratchLock))
	}
	if err != nil {
		return fmt.Errorf("build cache: %w", err)
	}
	return nil
}

// Remove ends the use of the folder. A folder that has become an entry of the cache is no longer at this path.
func (s *Scratch) Remove() {
	_ = os.RemoveAll(s.Dir) // on an error, Sweep removes the folder later: its lock shows that it is abandoned
	if s.lock != nil {
		_ = s.lock.Close()
	}
}

// isScratch reports whether a name in the cache is that of a scratch folder.
func isScratch(name string) bool {
	return strings.HasPrefix(name, scratchPrefix) || strings.HasPrefix(name, unfinished)
}

// ErrInUse reports that a process uses a part of the cache.
var ErrInUse = errors.New("in use")

// abandoned locks a scratch folder that no process uses any more. Otherwise the error says why it may be in use.
func abandoned(dir string) (release func(), err error) {
	f, err := TryLock(filepath.Join(dir, scratchLock))
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
		return nil, fmt.Errorf("%w, maybe: it has no lock and is younger than %v", ErrInUse, scratchAge)
	}
	return func() {}, nil
}

// TryLock locks a file that no process has locked.
func TryLock(path string) (*os.File, error) {
	f, err := os.OpenFile(path, os.O_RDWR, 0)
	if err != nil {
		return nil, err
	}
	if err := syscall.Flock(int(f.Fd()), syscall.LOCK_EX|syscall.LOCK_NB); err != nil {
		_ = f.Close() // nothing was written
		if errors.Is(err, syscall.EWOULDBLOCK) {
			err = ErrInUse
		}
		return nil, err
	}
	if !lockfile.IsAt(f, path) {
		_ = f.Close() // nothing was written
		return nil, fmt.Errorf("%s: %w", path, os.ErrNotExist)
	}
	return f, nil
}

// Sweep removes the scratch folders that killed builds left.
func Sweep(cache string) error {
	all, err := os.ReadDir(cache)
	if err != nil {
		return fmt.Errorf("build cache: %w", err)
	}
	for _, e := range all {
		if e.IsDir() && isScratch(e.Name()) {
			dir := filepath.Join(cache, e.Name())
			if release, err := abandoned(dir); err == nil {
				_ = dropScratch(dir) // a failure does no harm: the directory may belong to another user
				release()
			}
		}
	}
	return nil
}

// dropScratch removes an abandoned scratch folder, and the objects that its compilers have not finished. The
// lock is removed last: a compiler that is still running may prevent the removal of the rest.
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
	parts, err := filepath.Glob(filepath.Join(filepath.Dir(dir), ObjectsPrefix+"*", "*"+UnfinishedObject(dir)))
	errs = append(errs, err)
	for _, p := range parts {
		errs = append(errs, os.Remove(p))
	}
	if err := errors.Join(errs...); err != nil {
		return err
	}
	return os.RemoveAll(dir)
}

// UnfinishedObject returns the ending of the names of objects that the compilers of a scratch folder are
// writing, wherever they are.
func UnfinishedObject(scratch string) string {
	return fmt.Sprintf(".%x.tmp", sha256.Sum256([]byte(scratch)))[:20]
}
