// Package files reads and writes files whole.
//
// It is for files that a user names, which may be anything: it knows nothing of what they hold.
//
// Invariants:
//   - Reading ends, and takes no more memory than it was told. A folder, a pipe or a device is refused.
//   - A file that is written holds all of it or is as it was, and nothing is left beside it.
//   - Nothing is written through a link, and no file but the one that was named is changed.
package files

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"strconv"
	"syscall"
	"time"

	"nictwin/rtlbridge/lockfile"
)

// Read reads a regular file of at most limit bytes. The size that the system tells is not relied on: a file may grow
// meanwhile, and those of /proc have size 0. Errors: *fs.PathError.
func Read(path string, limit int64) ([]byte, error) {
	text, err := read(path, limit)
	var known *fs.PathError
	if err == nil || errors.As(err, &known) {
		return text, err
	}
	return nil, &fs.PathError{Op: "read", Path: path, Err: err}
}

func read(path string, limit int64) ([]byte, error) {
	info, err := os.Stat(path)
	switch {
	case err != nil:
		return nil, err
	case info.IsDir():
		return nil, errors.New("is a folder")
	case !info.Mode().IsRegular():
		return nil, errors.New("is a pipe or a device, which may never end; write it to a file first")
	case info.Size() > limit:
		return nil, tooLong(limit)
	}
	f, err := os.Open(path)
	if err != nil {
		return nil, err
	}
	defer f.Close()
	return readAll(f, limit)
}

// readAll reads an open file of at most limit bytes.
func readAll(f *os.File, limit int64) ([]byte, error) {
	info, err := f.Stat()
	if err != nil {
		return nil, err
	}
	text := bytes.NewBuffer(make([]byte, 0, min(info.Size(), limit)+bytes.MinRead))
	n, err := text.ReadFrom(io.LimitReader(f, limit+1))
	if err == nil && n > limit {
		err = tooLong(limit)
	}
	return text.Bytes(), err
}

func tooLong(limit int64) error {
	return fmt.Errorf("longer than %d bytes, which is the most that is read", limit)
}

// Probe tells early that nothing could be written in a folder, or that the folder could not be made. It leaves nothing.
// Errors: *fs.PathError.
func Probe(dir string) error {
	for {
		info, err := os.Stat(dir)
		above := filepath.Dir(dir)
		switch {
		case errors.Is(err, fs.ErrNotExist) && above != dir:
			dir = above
			continue
		case err != nil:
			return err
		case !info.IsDir():
			return &fs.PathError{Op: "write in", Path: dir, Err: syscall.ENOTDIR}
		}
		f, err := os.CreateTemp(dir, "probe-*"+Unfinished)
		if err != nil {
			return err
		}
		return errors.Join(f.Close(), os.Remove(f.Name()))
	}
}

// Unfinished is added to the name of a file that is being written.
const Unfinished = ".new"

// Write writes a file. A link is refused.
func Write(path string, text []byte) error {
	dir, err := OpenFolder(filepath.Dir(path))
	if err != nil {
		return err
	}
	return errors.Join(dir.Write(filepath.Base(path), text), dir.Close())
}

// Link tells early that a path is a link, which Write would refuse, or that of its lock, which Alone would.
func Link(path string) error {
	for _, p := range []string{path, path + lockExt} {
		// Any other fault is found by who reads or writes it.
		if info, err := os.Lstat(p); err == nil && info.Mode()&fs.ModeSymlink != 0 {
			return fmt.Errorf("%s is a link, and nothing is written through links", p)
		}
	}
	return nil
}

// lockExt is added to the name of a file for that of its lock.
const lockExt = ".lock"

// patience says how a lock is waited for.
type patience struct {
	poll  time.Duration // between two tries
	told  time.Duration // after which it is said what is waited for
	grace time.Duration // that is left when nobody wants to wait any more: who holds a lock is done in far less
	most  time.Duration
}

var usual = patience{poll: 5 * time.Millisecond, told: time.Second, grace: time.Second, most: time.Minute}

// LockedError tells that a file was not written, since another process has its lock.
type LockedError struct {
	Path, Holder string
	Why          error // for which it is not waited for any more
}

func (e *LockedError) Error() string {
	return fmt.Sprintf("write %s: %s has locked %s: %v", e.Path, e.Holder, e.Path+lockExt, e.Why)
}

// Unwrap returns why it is not waited for any more.
func (e *LockedError) Unwrap() error { return e.Why }

// Alone calls do, which reads and writes the file at path, while no other process does the same by Alone. A wait that takes
// long is said, and ends when the context is canceled. Errors: *LockedError, those of do.
func Alone(ctx context.Context, path string, say func(format string, a ...any), do func() error) error {
	return usual.alone(ctx, path, say, do)
}

func (p patience) alone(ctx context.Context, path string, say func(format string, a ...any), do func() error) error {
	ended, told := ctx.Done(), time.After(p.told)
	end, why := time.Now().Add(p.most), fmt.Errorf("for more than %v", p.most)
	for {
		f, err := openLock(path + lockExt)
		if err != nil {
			return err
		}
		err = syscall.Flock(int(f.Fd()), syscall.LOCK_EX|syscall.LOCK_NB)
		if err == nil && lockfile.IsAt(f, path+lockExt) {
			sign(f)
			// It is removed while it is still locked: who has opened it meanwhile sees that it is not there any more.
			return errors.Join(do(), os.Remove(f.Name()), f.Close())
		}
		who := holder(f)
		_ = f.Close() // nothing was written
		if err == nil {
			continue
		}
		if time.Now().After(end) {
			return &LockedError{path, who, why}
		}
		select {
		case <-ended:
			ended, why = nil, context.Cause(ctx)
			end = time.Now().Add(p.grace)
		case <-told:
			say("waiting for %s, which has locked %s", who, path+lockExt)
		case <-time.After(p.poll):
		}
	}
}

// openLock opens the file of a lock, or makes it. It is signed and removed later: a file that is no lock is refused.
func openLock(path string) (*os.File, error) {
	f, err := os.OpenFile(path, os.O_CREATE|os.O_RDWR|syscall.O_NOFOLLOW|syscall.O_NONBLOCK, 0o644)
	if errors.Is(err, syscall.ELOOP) {
		return nil, fmt.Errorf("%s is a link, and nothing is written through links", path)
	}
	if err != nil {
		return nil, err
	}
	info, err := f.Stat()
	text := make([]byte, len(signature))
	n, _ := f.ReadAt(text, 0) // what cannot be read is no lock
	if err == nil && (!info.Mode().IsRegular() || info.Size() > 0 && string(text[:n]) != signature) {
		err = fmt.Errorf("%s is there, and is no lock: remove it", path)
	}
	if err != nil {
		_ = f.Close() // nothing was written
		return nil, err
	}
	return f, nil
}

// signature is what the file of a lock begins with.
const signature = "process "

// sign leaves in a lock's file who holds it. One that is not told only makes a poorer message.
func sign(f *os.File) {
	_, _ = fmt.Fprintf(f, signature+"%d (%s)", os.Getpid(), filepath.Base(os.Args[0]))
}

// holder is who holds a lock, as far as its file says.
func holder(f *os.File) string {
	text := make([]byte, 100)
	n, _ := f.ReadAt(text, 0)
	who := string(text[:n])
	if plain := strconv.Quote(who); n == 0 || plain[1:len(plain)-1] != who {
		return "another process"
	}
	return who
}
