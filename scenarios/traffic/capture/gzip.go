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

// unpacker unpacks a gzip file, member by member. Bytes behind a member that begin no further member end the
// file: tapes and disks leave such bytes.
type unpacker struct {
	in      *bufio.Reader
	gzip    gzip.Reader
	garbage bool // there are other bytes behind the last member
}

// isGzip reports whether a member begins here.
func isGzip(in *bufio.Reader) bool {
	magic, _ := in.Peek(len(gzipMagic)) // shorter at the end
	return bytes.Equal(magic, gzipMagic)
}

// reset starts a file.
func (u *unpacker) reset(in *bufio.Reader) error {
	u.in, u.garbage = in, false
	err := u.member()
	if atEnd(err) {
		return errors.New("gzip, cut off in its header")
	}
	return err
}

// member starts a member. A file that ends in its header is cut off.
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

// Read returns io.EOF only behind a member; the end of the file within a member is io.ErrUnexpectedEOF.
func (u *unpacker) Read(b []byte) (int, error) {
	for {
		n, err := u.gzip.Read(b)
		switch {
		case !errors.Is(err, io.EOF):
			return n, err
		case n > 0:
			return n, nil // the next call returns the error again
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
