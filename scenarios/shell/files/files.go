// Package files reads and writes files whole.
//
// It is for files that a user names, which may be anything. It does not interpret their contents.
//
// Invariants:
//   - Reading ends, and takes no more memory than the caller allows. A folder, a pipe or a device is refused.
//   - Writing replaces the whole file or leaves it unchanged, and leaves no other file.
//   - Nothing is written through a link, and only the named file is changed.
package files

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"syscall"
)

// Read reads a regular file of at most limit bytes. It does not rely on the size that the system reports: a file may
// grow meanwhile, and those in /proc have size 0. It returns a *fs.PathError.
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

// Probe checks, before a run, that files can be written in a folder, or that the folder can be created. It leaves
// nothing behind. It returns a *fs.PathError.
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

// Unfinished is appended to the name of a file while it is being written.
const Unfinished = ".new"

// Write writes a file, whole or not at all. It refuses a link.
func Write(path string, text []byte) error {
	dir, err := OpenFolder(filepath.Dir(path))
	if err != nil {
		return err
	}
	return errors.Join(dir.Write(filepath.Base(path), text), dir.Close())
}

// Link returns an error if a path is a link, which Write would refuse.
func Link(path string) error {
	// Other faults are found when the file is read or written.
	if info, err := os.Lstat(path); err == nil && info.Mode()&fs.ModeSymlink != 0 {
		return fmt.Errorf("%s is a link, and nothing is written through links", path)
	}
	return nil
}

// inLine escapes the characters that would break a line.
var inLine = strings.NewReplacer("\n", `\n`, "\t", `\t`)

// Shown returns a name with line breaks and tabs escaped, for messages of one line.
func Shown(name string) string { return inLine.Replace(name) }
