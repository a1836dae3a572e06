// Package lockfile excludes other processes by files that are locked by flock and signed by the owner of the lock.
//
// Take is for locks beside files of the user, where other files may have the same name: a lock's file exists only while
// the lock is taken. Callers with a folder of their own keep their files, and use only Sign and Holder.
//
// Invariants of Take:
//   - A file is never seen before it is locked and signed, so one without a complete signature is not ours.
//   - No such file is written to or removed.
package lockfile

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"sync"
	"syscall"

	"golang.org/x/sys/unix"
)

// signature matches the whole content of a lock's file.
var signature = sync.OnceValue(func() *regexp.Regexp {
	return regexp.MustCompile(`\Anictwin lock of (process [1-9][0-9]{0,9} \([^()\x00-\x1f\x7f]{1,255}\))\n\z`)
})

// Me returns this process's signature.
func Me() string {
	name := strings.Map(func(r rune) rune {
		if r < ' ' || r == 0x7f || r == '(' || r == ')' {
			return '_'
		}
		return r
	}, filepath.Base(os.Args[0]))
	return fmt.Sprintf("process %d (%s)", os.Getpid(), name)
}

// Sign writes this process's signature as the whole content of a file.
func Sign(f *os.File) error {
	if err := f.Truncate(0); err != nil {
		return err
	}
	_, err := f.WriteAt([]byte("nictwin lock of "+Me()+"\n"), 0)
	return err
}

// Holder returns who has signed a file; signed reports whether anybody has.
func Holder(f *os.File) (who string, signed bool) {
	text, err := io.ReadAll(io.NewSectionReader(f, 0, 1<<10))
	if m := signature().FindSubmatch(text); err == nil && m != nil {
		return string(bytes.ToValidUTF8(m[1], []byte("?"))), true
	}
	return "another process", false
}

// IsAt reports whether an open file is the one at path.
func IsAt(f *os.File, path string) bool {
	open, err := f.Stat()
	if err != nil {
		return false
	}
	there, err := os.Stat(path)
	return err == nil && os.SameFile(open, there)
}

// HeldError reports that another process has a lock.
type HeldError struct{ Path, Holder string }

func (e *HeldError) Error() string { return fmt.Sprintf("%s has locked %s", e.Holder, e.Path) }

// Check reports early that path is not a lock, so that Take would refuse it. It changes nothing.
func Check(path string) error {
	f, err := open(path, os.O_RDONLY)
	if errors.Is(err, fs.ErrNotExist) {
		return nil
	}
	if err != nil {
		return err
	}
	return f.Close()
}

// Lock is a lock that this process has.
type Lock struct {
	f    *os.File
	path string
}

// Take takes the lock at path. It takes over one that a killed process left. Errors: *HeldError, those of files.
func Take(path string) (*Lock, error) {
	for {
		err := removeLeft(path)
		if err != nil && !errors.Is(err, fs.ErrNotExist) {
			return nil, err
		}
		l, err := create(path)
		if !errors.Is(err, fs.ErrExist) { // otherwise another process was faster
			return l, err
		}
	}
}

// Release removes the lock. The file is removed while it is still locked, so that another process that has
// opened it meanwhile sees that it is gone.
func (l *Lock) Release() error {
	var err error
	if IsAt(l.f, l.path) {
		err = os.Remove(l.path)
	}
	return errors.Join(err, l.f.Close())
}

// open opens the file of a lock, and refuses any other file.
func open(path string, flag int) (*os.File, error) {
	info, err := os.Lstat(path)
	switch {
	case err != nil:
		return nil, err
	case info.Mode()&fs.ModeSymlink != 0:
		return nil, fmt.Errorf("%s is a link, and nothing is written through links", path)
	case !info.Mode().IsRegular():
		return nil, foreign(path)
	}
	f, err := os.OpenFile(path, flag|syscall.O_NOFOLLOW|syscall.O_NONBLOCK, 0)
	if err != nil {
		return nil, err
	}
	if _, signed := Holder(f); !signed {
		_ = f.Close() // nothing was written
		return nil, foreign(path)
	}
	return f, nil
}

func foreign(path string) error {
	return fmt.Errorf("%s is there, and is no lock of nictwin, which needs that name: move it away", path)
}

// removeLeft removes a lock that no process has.
func removeLeft(path string) error {
	f, err := open(path, os.O_RDWR)
	if err != nil {
		return err
	}
	defer f.Close()
	if err := syscall.Flock(int(f.Fd()), syscall.LOCK_EX|syscall.LOCK_NB); errors.Is(err, syscall.EWOULDBLOCK) {
		who, _ := Holder(f)
		return &HeldError{path, who}
	} else if err != nil {
		return &fs.PathError{Op: "lock", Path: path, Err: err}
	}
	if !IsAt(f, path) {
		return nil // the owner has already removed the file
	}
	return os.Remove(path)
}

// create makes a lock under another name and renames it once it is locked and signed.
func create(path string) (*Lock, error) {
	f, err := os.CreateTemp(filepath.Dir(path), filepath.Base(path)+".*.new")
	if err != nil {
		return nil, err
	}
	if err = syscall.Flock(int(f.Fd()), syscall.LOCK_EX|syscall.LOCK_NB); err == nil {
		err = Sign(f)
	}
	if err == nil {
		err = place(f.Name(), path)
	}
	if err != nil {
		_, _ = os.Remove(f.Name()), f.Close() // err says more than errors of these
		return nil, err
	}
	return &Lock{f, path}, nil
}

// place renames a file to a name that does not exist.
func place(from, to string) error {
	err := os.Link(from, to)
	if err == nil {
		return os.Remove(from)
	}
	if errors.Is(err, fs.ErrExist) {
		return err
	}
	// This file system has no hard links.
	if err := unix.Renameat2(unix.AT_FDCWD, from, unix.AT_FDCWD, to, unix.RENAME_NOREPLACE); err != nil {
		return &os.LinkError{Op: "rename", Old: from, New: to, Err: err}
	}
	return nil
}
