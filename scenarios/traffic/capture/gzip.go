package capture

import (
	"bufio"
	"bytes"
	"compress/gzip"
	"errors"
	"io"
)

// gzipMagic is the magic number of each member of a gzip file.
var gzipMagic = []byte{0x1f, 0x8b}

// unpacker unpacks a gzip file, member by member. If the bytes behind a member begin no other member, they are padding,
// as on tapes and disks, and end the file.
type unpacker struct {
	in      *bufio.Reader
	gzip    gzip.Reader
	garbage bool // other bytes follow the last member
}

// isGzip reports whether a member begins at the current position.
func isGzip(in *bufio.Reader) bool {
	magic, _ := in.Peek(len(gzipMagic)) // fewer bytes at the end of the file
	return bytes.Equal(magic, gzipMagic)
}

// reset begins to unpack a file.
func (u *unpacker) reset(in *bufio.Reader) error {
	u.in, u.garbage = in, false
	err := u.member()
	if atEnd(err) {
		return errors.New("gzip, cut off in its header")
	}
	return err
}

// member begins to unpack a member. A file that ends in a member's header is cut off.
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

// Read unpacks bytes. It returns io.EOF only at the end of a member, and io.ErrUnexpectedEOF if the file ends within
// one.
func (u *unpacker) Read(b []byte) (int, error) {
	for {
		n, err := u.gzip.Read(b)
		switch {
		case !errors.Is(err, io.EOF):
			return n, err
		case n > 0:
			return n, nil // return the error with the next call
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
