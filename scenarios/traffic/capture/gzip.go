package capture

import (
	"bufio"
	"bytes"
	"compress/gzip"
	"errors"
	"io"
)

// gzipMagic begins a member of a gzip file.
var gzipMagic = []byte{0x1f, 0x8b}

// unpacker reads what a gzip file holds, member by member. What stands behind a member and is none ends the file:
// tapes and disks leave such bytes.
type unpacker struct {
	in      *bufio.Reader
	gzip    gzip.Reader
	garbage bool // behind the last member
}

// isGzip reports whether a member begins.
func isGzip(in *bufio.Reader) bool {
	magic, _ := in.Peek(len(gzipMagic)) // shorter at the end
	return bytes.Equal(magic, gzipMagic)
}

// reset begins to read a file.
func (u *unpacker) reset(in *bufio.Reader) error {
	u.in, u.garbage = in, false
	err := u.member()
	if atEnd(err) {
		return errors.New("gzip, cut off in its header")
	}
	return err
}

// member begins with a member. A file that ends in its header is cut off.
func (u *unpacker) member() error {
	err := u.gzip.Reset(u.in)
	if errors.Is(err, io.EOF) {
		err = io.ErrUnexpectedEOF
	}
	if err == nil {
		u.gzip.Multistream(false)
	}
	return err
}

// Read ends with io.EOF behind a member alone; within one the end of the file is io.ErrUnexpectedEOF.
func (u *unpacker) Read(b []byte) (int, error) {
	for {
		n, err := u.gzip.Read(b)
		switch {
		case !errors.Is(err, io.EOF):
			return n, err
		case n > 0:
			return n, nil // the end will be said again
		case !isGzip(u.in):
			_, err := u.in.Peek(1)
			if u.garbage = err == nil; u.garbage {
				err = io.EOF
			}
			return 0, err
		}
		if err := u.member(); err != nil {
			return 0, err
		}
	}
}
