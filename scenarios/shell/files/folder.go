package files

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
)

// Folder is an open folder that files are written into. It is held by its descriptor: whatever its path leads to
// later, files go where they were meant to. No file is ever written through a link, and none that is there is written
// into: it is replaced by a new one, so that other names of the old file keep what it holds.
type Folder struct {
	path string
	root *os.Root
}

// OpenFolder opens a folder; of a link, the folder that it leads to.
func OpenFolder(path string) (*Folder, error) {
	root, err := os.OpenRoot(path)
	if err != nil {
		return nil, err
	}
	return &Folder{path, root}, nil
}

// Sub opens a folder in the folder, and makes it if it is not there. A link is refused.
func (f *Folder) Sub(name string) (*Folder, error) {
	switch info, err := f.root.Lstat(name); {
	case errors.Is(err, fs.ErrNotExist):
		if err := f.root.Mkdir(name, 0o755); err != nil {
			return nil, f.name(name, err)
		}
	case err != nil:
		return nil, f.name(name, err)
	case info.Mode()&fs.ModeSymlink != 0:
		return nil, fmt.Errorf("%s is a link, and nothing is written through links", f.Path(name))
	}
	root, err := f.root.OpenRoot(name)
	if err != nil {
		return nil, f.name(name, err)
	}
	return &Folder{f.Path(name), root}, nil
}

// Path is that of a file in the folder.
func (f *Folder) Path(name string) string { return filepath.Join(f.path, name) }

// Self opens the folder itself, to be locked.
func (f *Folder) Self() (*os.File, error) { return f.root.Open(".") }

// Names are those of what is in the folder, sorted.
func (f *Folder) Names() ([]string, error) {
	entries, err := fs.ReadDir(f.root.FS(), ".")
	names := make([]string, len(entries))
	for i, e := range entries {
		names[i] = e.Name()
	}
	return names, err
}

// Replaceable reports why a file of this name could not be written: there is a link, or something that is no file.
func (f *Folder) Replaceable(name string) error {
	info, err := f.root.Lstat(name)
	switch {
	case errors.Is(err, fs.ErrNotExist):
		return nil
	case err != nil:
		return err
	case info.Mode()&fs.ModeSymlink != 0:
		return fmt.Errorf("%s is a link, and nothing is written through links", name)
	case !info.Mode().IsRegular():
		return fmt.Errorf("%s is there, and is no file", name)
	}
	return nil
}

// Create makes a new, empty file in place of the one that may be there.
func (f *Folder) Create(name string) (*os.File, error) {
	if err := f.Remove(name); err != nil {
		return nil, err
	}
	return f.fresh(name)
}

// fresh makes a file that must not be there: with O_EXCL the system follows no link.
func (f *Folder) fresh(name string) (*os.File, error) {
	file, err := f.root.OpenFile(name, os.O_CREATE|os.O_EXCL|os.O_RDWR, 0o644)
	if err != nil {
		return nil, f.name(name, err)
	}
	return file, nil
}

// Open opens a file to be read, which is no link.
func (f *Folder) Open(name string) (*os.File, error) {
	if err := f.Replaceable(name); err != nil {
		return nil, &fs.PathError{Op: "read", Path: f.Path(name), Err: err}
	}
	file, err := f.root.Open(name)
	if err != nil {
		return nil, f.name(name, err)
	}
	return file, nil
}

// Rename gives a file the name of another, which it replaces.
func (f *Folder) Rename(from, to string) error {
	if err := f.Replaceable(to); err != nil {
		return &fs.PathError{Op: "write", Path: f.Path(to), Err: err}
	}
	return f.name(from, f.root.Rename(from, to))
}

// Remove removes a file, if there is one.
func (f *Folder) Remove(name string) error {
	if err := f.Replaceable(name); err != nil {
		return &fs.PathError{Op: "write", Path: f.Path(name), Err: err}
	}
	if err := f.root.Remove(name); err != nil && !errors.Is(err, fs.ErrNotExist) {
		return f.name(name, err)
	}
	return nil
}

// RemoveFolder removes files of a folder in the folder, and that folder if nothing else is in it.
func (f *Folder) RemoveFolder(name string, files ...string) error {
	sub, err := f.Sub(name)
	if err != nil {
		return err
	}
	var errs []error
	for _, file := range files {
		errs = append(errs, sub.Remove(file))
	}
	left, err := sub.Names()
	errs = append(errs, err, sub.Close())
	if err == nil && len(left) == 0 {
		errs = append(errs, f.name(name, f.root.Remove(name)))
	}
	return errors.Join(errs...)
}

// Write writes a file, whole or not at all.
func (f *Folder) Write(name string, text []byte) error {
	if err := f.Replaceable(name); err != nil {
		return &fs.PathError{Op: "write", Path: f.Path(name), Err: err}
	}
	unfinished := fmt.Sprintf("%s.%d%s", name, os.Getpid(), Unfinished)
	file, err := f.fresh(unfinished)
	if err != nil {
		return err
	}
	_, err = file.Write(text)
	if err = errors.Join(err, file.Close()); err == nil {
		err = f.name(name, f.root.Rename(unfinished, name))
	}
	if err != nil {
		_ = f.root.Remove(unfinished) // the error tells more
	}
	return err
}

// Read reads a regular file of at most limit bytes that is no link.
func (f *Folder) Read(name string, limit int64) ([]byte, error) {
	if err := f.Replaceable(name); err != nil {
		return nil, &fs.PathError{Op: "read", Path: f.Path(name), Err: err}
	}
	file, err := f.root.Open(name)
	if err != nil {
		return nil, f.name(name, err)
	}
	defer file.Close()
	return readAll(file, limit)
}

// name has an error name the file by its path, not by its name in the folder.
func (f *Folder) name(name string, err error) error {
	var of *fs.PathError
	var link *os.LinkError
	switch {
	case errors.As(err, &of):
		return &fs.PathError{Op: "open", Path: f.Path(name), Err: of.Err}
	case errors.As(err, &link):
		return &fs.PathError{Op: "write", Path: f.Path(name), Err: link.Err}
	}
	return err
}

// Close lets go of the folder.
func (f *Folder) Close() error { return f.root.Close() }
