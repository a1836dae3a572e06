package bundle

import (
	"archive/zip"
	"encoding/binary"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"maps"
	"os"
	"slices"
	"strings"
)

// Bundle is a bundle in memory.
type Bundle struct {
	Info    Info
	Files   map[string][]byte // every entry except bundle.json, by name
	Remarks []string          // each names an entry that is damaged, but not needed to play
}

// Is reports whether a file begins like a zip archive, as no other input of a command does. Pipes are not read.
func Is(path string) bool {
	info, err := os.Stat(path)
	if err != nil || !info.Mode().IsRegular() {
		return false
	}
	f, err := os.Open(path)
	if err != nil {
		return false
	}
	defer f.Close()
	var magic [4]byte
	_, err = io.ReadFull(f, magic[:])
	return err == nil && (string(magic[:]) == "PK\x03\x04" || string(magic[:]) == "PK\x05\x06")
}

// Read reads and checks a bundle. Errors: *Error.
func Read(path string) (*Bundle, error) {
	f, err := os.Open(path)
	if err != nil {
		return nil, &Error{Path: path, Err: cause(err)}
	}
	defer f.Close()
	info, err := f.Stat()
	switch {
	case err != nil:
		return nil, &Error{Path: path, Err: cause(err)}
	case info.IsDir():
		return nil, &Error{Path: path, Err: errors.New("is a folder: want the zip archive that a run left")}
	case !info.Mode().IsRegular():
		return nil, &Error{Path: path, Err: errors.New("is no regular file: want the zip archive that a run left")}
	}
	return Parse(path, f, info.Size())
}

// cause returns an error of the system without the path, which Error names.
func cause(err error) error {
	var known *fs.PathError
	if errors.As(err, &known) {
		return known.Err
	}
	return err
}

// Parse reads and checks a bundle of size bytes; `path` names the bundle in messages. Errors: *Error.
func Parse(path string, in io.ReaderAt, size int64) (*Bundle, error) {
	if size > MaxBytes {
		return nil, &Error{Path: path, Err: fmt.Errorf("%d bytes: want at most %d", size, MaxBytes)}
	}
	archive, err := directory(in, size)
	if err != nil {
		return nil, &Error{Path: path, Err: err}
	}
	if entry, err := check(archive); err != nil {
		return nil, &Error{path, entry, err}
	}
	b := &Bundle{Files: map[string][]byte{}}
	room := int64(MaxBytes)
	for _, f := range archive.File {
		text, err := unpack(f, room)
		room -= int64(len(text))
		switch damage := (*damageError)(nil); {
		case err == nil && f.Name == InfoFile:
			var i *Info
			if i, err = parseInfo(text); err == nil {
				b.Info = *i
			}
		case err == nil:
			b.Files[f.Name] = text
		case errors.As(err, &damage) && !played(f.Name):
			b.remark(f.Name, err)
			err = nil
		}
		if err != nil {
			return nil, &Error{path, f.Name, err}
		}
	}
	if entry, err := b.whole(); err != nil {
		return nil, &Error{path, entry, err}
	}
	b.inspect()
	return b, nil
}

// directory reads the list of entries. zip.NewReader would read a list of any length; the reader of type limited
// makes it fail if the list is too long.
func directory(in io.ReaderAt, size int64) (*zip.Reader, error) {
	const most = 4 << 20 // bytes of headers: far more than the entries of a bundle need
	x := &limited{in: in, left: most}
	r, err := zip.NewReader(x, size)
	switch {
	case errors.Is(err, errTooLong):
		return nil, errTooLong
	case errors.Is(err, zip.ErrFormat) || errors.Is(err, io.ErrUnexpectedEOF) || errors.Is(err, io.EOF):
		return nil, errors.New("is cut off, or no zip archive")
	case err != nil:
		return nil, err
	}
	if err := alone(in, size, r); err != nil {
		return nil, err
	}
	x.done = true
	return r, nil
}

// Parts of a zip archive.
const (
	zipBegin = "PK\x03\x04" // begins the header of each file in the archive
	zipEnd   = "PK\x05\x06" // begins the record that ends the archive, which has zipEndSize bytes and a comment

	zipHeadSize = 30 // size of an entry's header, without its name and extra field
	zipLengths  = 26 // offset in the header of the lengths of name and extra field
	zipEndSize  = 22
	zipList     = 12 // offset, in the end of the archive, of the list's size and offset
)

// alone returns an error if a file has bytes before or after its archive, such as another archive.
func alone(in io.ReaderAt, size int64, r *zip.Reader) error {
	if n := len(r.File); n == 0 || n > maxEntries+maxRTL {
		return nil // refused by check
	}
	head, end := make([]byte, zipHeadSize), make([]byte, zipEndSize)
	_, err := in.ReadAt(head, 0)
	ends := max(0, size-zipEndSize-int64(len(r.Comment)))
	_, errEnd := in.ReadAt(end, ends)
	at, errAt := r.File[0].DataOffset()
	if err := errors.Join(err, errEnd, errAt); err != nil {
		return err
	}
	if string(end[:len(zipEnd)]) != zipEnd {
		return errors.New("has bytes after its end: want the archive alone")
	}
	length := func(b []byte) int64 { return int64(binary.LittleEndian.Uint16(b)) }
	list := int64(binary.LittleEndian.Uint32(end[zipList:])) + int64(binary.LittleEndian.Uint32(end[zipList+4:]))
	if string(head[:len(zipBegin)]) != zipBegin || list != ends ||
		at != zipHeadSize+length(head[zipLengths:])+length(head[zipLengths+2:]) {
		return errors.New("has bytes before its first entry: want the archive alone")
	}
	return nil
}

var errTooLong = fmt.Errorf("has too many entries: want at most %d, and %d of %s", maxEntries, maxRTL, rtlDir)

// limited passes on reads, and fails them once they exceed `left` bytes in total, unless done is set.
type limited struct {
	in   io.ReaderAt
	left int64
	done bool
}

// ReadAt implements io.ReaderAt.
func (l *limited) ReadAt(p []byte, at int64) (int, error) {
	if !l.done {
		if l.left -= int64(len(p)); l.left < 0 {
			return 0, errTooLong
		}
	}
	return l.in.ReadAt(p, at)
}

// check checks the headers of all entries. It returns the entry at fault.
func check(r *zip.Reader) (entry string, err error) {
	if len(r.File) == 0 || r.File[0].Name != InfoFile {
		return "", fmt.Errorf("is a zip archive but no bundle: its first entry is not %s", InfoFile)
	}
	seen := map[string]bool{}
	plain, rtl := 0, 0
	for _, f := range r.File {
		if strings.HasPrefix(f.Name, rtlDir) {
			rtl++
		} else {
			plain++
		}
		if plain > maxEntries || rtl > maxRTL {
			return "", errTooLong
		}
		if err := checkHeader(f, seen); err != nil {
			return f.Name, err
		}
		seen[f.Name] = true
	}
	return "", nil
}

// checkHeader checks the header of an entry.
func checkHeader(f *zip.File, seen map[string]bool) error {
	const encrypted = 1<<0 | 1<<6 | 1<<13
	if err := checkName(f.Name); err != nil {
		return err
	}
	switch {
	case seen[f.Name]:
		return errors.New("is there twice")
	case !f.Mode().IsRegular():
		return fmt.Errorf("is a link or no file (mode %v): want regular files", f.Mode())
	case f.Flags&encrypted != 0:
		return errors.New("is encrypted")
	case f.Method != zip.Store && f.Method != zip.Deflate:
		return fmt.Errorf("compression method %d: want stored or deflated", f.Method)
	}
	return nil
}

// damageError reports an entry whose bytes are not those that were packed.
type damageError struct{ err error }

func (e *damageError) Error() string { return "is damaged: " + e.err.Error() }

// Unwrap returns the cause.
func (e *damageError) Unwrap() error { return e.err }

var _ error = (*damageError)(nil)

// unpack returns the bytes of a file in the archive, which may have `room` bytes at most; with a *damageError those
// that could be read. The sizes in the headers are not relied on.
func unpack(f *zip.File, room int64) ([]byte, error) {
	most := room
	switch {
	case f.Name == InfoFile:
		most = maxInfo
	case waveForm().MatchString(f.Name):
		most = min(room, MaxWave)
	}
	in, err := f.Open()
	if err != nil {
		return nil, &damageError{err}
	}
	text, err := io.ReadAll(io.LimitReader(in, most+1))
	err = errors.Join(err, in.Close())
	switch {
	case int64(len(text)) > most:
		return nil, fmt.Errorf("more than %d bytes, unpacked: a bundle has at most %d, %s %d, a waveform %d", most,
			MaxBytes, InfoFile, maxInfo, MaxWave)
	case err != nil:
		return text, &damageError{err}
	}
	return text, nil
}

// whole checks that bundle.json names the inputs that are there. It returns the entry at fault.
func (b *Bundle) whole() (entry string, err error) {
	for _, x := range b.Info.Inputs {
		if _, there := b.Files[x.Name]; !there {
			return x.Name, fmt.Errorf("is missing: %s names it", InfoFile)
		}
	}
	for _, name := range slices.Sorted(maps.Keys(b.Files)) {
		named := slices.ContainsFunc(b.Info.Inputs, func(x Input) bool { return x.Name == name })
		if strings.HasPrefix(name, inputsDir) && !named {
			return name, fmt.Errorf("%s does not name it", InfoFile)
		}
	}
	return "", nil
}
