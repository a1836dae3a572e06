package files

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
)

// Folder is an open folder for files. It holds the folder's descriptor, so files go into that folder even if its path
// leads elsewhere later. It writes nothing through a link, and replaces an existing file instead of overwriting it, so
// that the file's other names (hard links) keep the old contents.
type Folder struct {
	path string
	root *os.Root
}

// OpenFolder opens a folder; if path is a link, the folder that it points to.
func OpenFolder(path string) (*Folder, error) {
	root, err := os.OpenRoot(path)
	if err != nil {
		return nil, err
	}
	return &Folder{path, root}, nil
}

// Sub opens a subfolder and creates it if it does not exist. A link is refused.
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

// Path returns the path of a file in the folder.
func (f *Folder) Path(name string) string { return filepath.Join(f.path, name) }

// Self opens the folder itself, for locking it.
func (f *Folder) Self() (*os.File, error) { return f.root.Open(".") }

// Names returns the sorted names of the folder's entries.
func (f *Folder) Names() ([]string, error) {
	entries, err := fs.ReadDir(f.root.FS(), ".")
	names := make([]string, len(entries))
	for i, e := range entries {
		names[i] = e.Name()
	}
	return names, err
}

// Replaceable returns an error if a file of this name cannot be written because the name belongs to a link, a folder or
// something else that is no regular file.
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
		return fmt.Errorf("%s exists and is not a file", name)
	}
	return nil
}

// Create creates an empty file in place of any existing one.
func (f *Folder) Create(name string) (*os.File, error) {
	if err := f.Remove(name); err != nil {
		return nil, err
	}
	return f.fresh(name)
}

// fresh creates a file that must not exist. With O_EXCL the system follows no link.
func (f *Folder) fresh(name string) (*os.File, error) {
	file, err := f.root.OpenFile(name, os.O_CREATE|os.O_EXCL|os.O_RDWR, 0o644)
	if err != nil {
		return nil, f.name(name, err)
	}
	return file, nil
}

// Open opens a file for reading. A link is refused.
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

// Rename renames a file, in place of any existing file of the new name.
func (f *Folder) Rename(from, to string) error {
	if err := f.Replaceable(to); err != nil {
		return &fs.PathError{Op: "write", Path: f.Path(to), Err: err}
	}
	return f.name(from, f.root.Rename(from, to))
}

// Remove removes a file if it exists.
func (f *Folder) Remove(name string) error {
	if err := f.Replaceable(name); err != nil {
		return &fs.PathError{Op: "write", Path: f.Path(name), Err: err}
	}
	if err := f.root.Remove(name); err != nil && !errors.Is(err, fs.ErrNotExist) {
		return f.name(name, err)
	}
	return nil
}

// RemoveFolder removes the given files from a subfolder, and then the subfolder if nothing else is in it.
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
		_ = f.root.Remove(unfinished) // the error above is the one to report
	}
	return err
}

// Read reads a regular file of at most limit bytes. A link is refused.
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

// name replaces a file's name in an error by the file's path.
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

// Close closes the folder.
func (f *Folder) Close() error { return f.root.Close() }
