package capture

import (
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
)

// Stdin is the name of standard input.
const Stdin = "-"

// File is a capture that can be read any number of times.
type File struct {
	path   string
	name   string // name for messages
	ctx    context.Context
	info   fs.FileInfo // state of the file when it was opened
	base   int64       // position of Stdin when it was opened; 0 for other files
	pipe   *patient    // reader of the pipe; nil if the file is no pipe
	begun  bool        // reading of the pipe has begun
	spool  *os.File    // copy of the pipe's bytes read so far
	packed bool
}

// Open opens a file, a pipe, or Stdin, which may be either. Canceling the context ends reads. The caller must Close the
// file. It returns an *Error.
func Open(ctx context.Context, path string) (*File, error) { return OpenAs(ctx, path, path) }

// OpenAs is Open for a file that origins and errors call by another name than its path.
func OpenAs(ctx context.Context, path, name string) (*File, error) {
	f := &File{path: path, name: name, ctx: ctx}
	if err := f.open(); err != nil {
		return nil, f.fail(err)
	}
	return f, nil
}

func (f *File) open() (err error) {
	if f.path == Stdin {
		f.info, err = os.Stdin.Stat()
	} else {
		f.info, err = os.Stat(f.path)
	}
	switch {
	case err != nil:
		return err
	case f.info.IsDir():
		return errors.New("is a folder")
	case f.path == Stdin && f.info.Mode().IsRegular():
		f.base, err = os.Stdin.Seek(0, io.SeekCurrent)
		return err
	case f.info.Mode().IsRegular():
		return nil
	case f.info.Mode()&(fs.ModeNamedPipe|fs.ModeSocket) == 0:
		return errors.New("is a device: want a file or a pipe")
	}
	f.pipe = &patient{ctx: f.ctx, path: f.path, want: make(chan int, 1), have: make(chan chunk, 1)}
	return nil
}

// Path returns the name that the user gave.
func (f *File) Path() string { return f.name }

// Ends reports whether reading the file to its end is cheap: it is neither a pipe nor compressed. That it is compressed
// is known only once its packets have been read.
func (f *File) Ends() bool { return f.pipe == nil && !f.packed }

// Same reports whether two opened files are one and the same.
func (f *File) Same(o *File) bool { return os.SameFile(f.info, o.info) }

// IsPipe reports whether the file is a pipe. Only the bytes of a pipe that were read before can be read again.
func (f *File) IsPipe() bool { return f.pipe != nil }

// Packets returns a reader that starts at the first packet. The first reader of a pipe copies what it reads; later
// readers must not read farther. It returns an *Error.
func (f *File) Packets() (*Reader, error) {
	in, end, err := f.begin()
	if err != nil {
		return nil, f.fail(err)
	}
	r := &Reader{path: f.name, close: end}
	r.again = func() (io.Reader, error) {
		_, err := in.Seek(0, io.SeekStart)
		return &abiding{f.ctx, in}, err
	}
	var from io.Reader = &abiding{f.ctx, in}
	if f.pipe != nil && !f.begun {
		from, f.begun = io.TeeReader(f.pipe, keeper{f.spool}), true
	}
	if err := r.reset(from); err != nil {
		return nil, errors.Join(err, end())
	}
	f.packed = r.in != r.packed.Reader
	return r, nil
}

// begin returns a reader of the contents from their start, and a function that ends the reading.
func (f *File) begin() (in io.ReadSeeker, end func() error, err error) {
	none := func() error { return nil }
	switch {
	case f.pipe != nil:
		if f.spool == nil {
			f.spool, err = spool()
		}
		return io.NewSectionReader(f.spool, 0, longest), none, err
	case f.path == Stdin:
		return io.NewSectionReader(os.Stdin, f.base, longest-f.base), none, nil
	}
	file, err := os.Open(f.path)
	if err != nil {
		return nil, nil, err
	}
	info, err := file.Stat()
	if err == nil && !os.SameFile(info, f.info) {
		err = errors.New("is another file than when it was read first")
	}
	if err != nil {
		return nil, nil, errors.Join(err, file.Close())
	}
	return file, file.Close, nil
}

const longest = 1<<63 - 1

// spool creates a temporary file that nobody else can open and that disappears when it is closed.
func spool() (*os.File, error) {
	f, err := os.CreateTemp("", "nictwin-capture-*")
	if err != nil {
		return nil, fmt.Errorf("a copy of the pipe: %w", err)
	}
	if err := os.Remove(f.Name()); err != nil {
		return nil, errors.Join(err, f.Close())
	}
	return f, nil
}

// keeper writes to a spool file; its errors name the temporary folder.
type keeper struct{ to *os.File }

func (k keeper) Write(b []byte) (int, error) {
	n, err := k.to.Write(b)
	if err != nil {
		err = fmt.Errorf("a copy of the pipe (in %s, which TMPDIR sets): %w", os.TempDir(), err)
	}
	return n, err
}

// Close closes the file. Readers must be closed separately.
func (f *File) Close() error {
	if f.pipe != nil {
		close(f.pipe.want)
	}
	if f.spool == nil {
		return nil
	}
	return f.spool.Close()
}

func (f *File) fail(err error) error {
	var here *Error
	if errors.As(err, &here) {
		return err
	}
	var known *fs.PathError
	if errors.As(err, &known) && known.Path == f.path {
		err = known.Err // without the path, since Error names the file
	}
	return &Error{f.name, -1, 0, err}
}

// abiding reads a regular file until its context is canceled.
type abiding struct {
	ctx context.Context
	in  io.Reader
}

func (a *abiding) Read(b []byte) (int, error) {
	if err := a.ctx.Err(); err != nil {
		return 0, context.Cause(a.ctx)
	}
	return a.in.Read(b)
}

// patient reads a pipe, which may block: nobody has opened it for writing yet, or nobody writes. Read returns when the
// context is canceled. The goroutine that blocks in the system call ends when that call returns.
type patient struct {
	ctx     context.Context
	path    string
	started bool
	want    chan int   // numbers of bytes to read; closed at the end
	have    chan chunk // the bytes that were read, or an error
}

type chunk struct {
	data []byte
	err  error
}

func (p *patient) Read(b []byte) (int, error) {
	if !p.started {
		p.started = true
		go p.fetch()
	}
	if p.ctx.Err() == nil {
		p.want <- len(b)
		select {
		case c := <-p.have:
			return copy(b, c.data), c.err
		case <-p.ctx.Done():
		}
	}
	return 0, context.Cause(p.ctx)
}

func (p *patient) fetch() {
	in, err := os.Stdin, error(nil)
	if p.path != Stdin {
		if in, err = os.Open(p.path); err == nil {
			defer in.Close()
		}
	}
	var buf []byte
	for n := range p.want {
		if n > len(buf) {
			buf = make([]byte, n)
		}
		m := 0
		if err == nil {
			m, err = in.Read(buf[:n])
		}
		p.have <- chunk{buf[:m], err}
	}
}
