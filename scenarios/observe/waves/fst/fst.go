// Package fst reads the times and the names of signals from an FST file, which a viewer's save file needs. It does not
// read values.
package fst

import (
	"encoding/binary"
	"errors"
	"fmt"
	"os"
	"strings"
)

// File describes a waveform.
type File struct {
	Start, End uint64 // in units of 10^Scale seconds
	Scale      int8
	Signals    []string // names with their scopes: TOP.clk, TOP.data[7:0]
}

// Types of blocks in an FST file.
const (
	blockHeader    = 0
	blockHierarchy = 6 // names of scopes and signals, compressed by LZ4
)

// Read reads a file.
func Read(path string) (*File, error) {
	b, err := os.ReadFile(path)
	if err != nil {
		return nil, err
	}
	f := &File{}
	for len(b) >= 9 {
		kind, n := b[0], binary.BigEndian.Uint64(b[1:])
		if n < 8 || n+1 > uint64(len(b)) {
			return nil, fmt.Errorf("%s: a block of %d bytes, %d are left", path, n, len(b))
		}
		body := b[9 : 1+n]
		switch kind {
		case blockHeader:
			f.Start, f.End, f.Scale = binary.BigEndian.Uint64(body), binary.BigEndian.Uint64(body[8:]), int8(body[64])
		case blockHierarchy:
			text, err := lz4(body[8:], binary.BigEndian.Uint64(body))
			if err != nil {
				return nil, fmt.Errorf("%s: %w", path, err)
			}
			f.signals(text)
		}
		b = b[1+n:]
	}
	if len(f.Signals) == 0 {
		return nil, fmt.Errorf("%s: no signals", path)
	}
	return f, nil
}

// lz4 decompresses a block.
func lz4(b []byte, size uint64) ([]byte, error) {
	var out []byte
	length := func(n int) int {
		for n >= 15 && len(b) > 0 {
			x := int(b[0])
			b, n = b[1:], n+x
			if x < 255 {
				break
			}
		}
		return n
	}
	for len(b) > 0 {
		token := int(b[0])
		b = b[1:]
		n := length(token >> 4)
		if n > len(b) {
			return nil, errors.New("LZ4: literals beyond the end")
		}
		out, b = append(out, b[:n]...), b[n:]
		if len(b) < 2 {
			break
		}
		back := int(b[0]) | int(b[1])<<8
		b = b[2:]
		n = length(token&15) + 4
		if back == 0 || back > len(out) {
			return nil, errors.New("LZ4: a match before the begin")
		}
		for range n {
			out = append(out, out[len(out)-back])
		}
	}
	if uint64(len(out)) != size {
		return nil, fmt.Errorf("LZ4: %d bytes, not %d", len(out), size)
	}
	return out, nil
}

// Tags of entries in the hierarchy block.
const (
	scopeBegin = 254
	scopeEnd   = 255
	attrBegin  = 252
	attrEnd    = 253
)

func (f *File) signals(b []byte) {
	var scopes []string
	word := func() string {
		s, rest, _ := strings.Cut(string(b), "\x00")
		b = []byte(rest)
		return s
	}
	number := func() {
		for len(b) > 0 && b[0]&0x80 != 0 {
			b = b[1:]
		}
		if len(b) > 0 {
			b = b[1:]
		}
	}
	for len(b) > 1 {
		kind := b[0]
		b = b[1:]
		switch kind {
		case scopeBegin:
			b = b[1:]
			scopes = append(scopes, word())
			word()
		case scopeEnd:
			scopes = scopes[:len(scopes)-1]
		case attrBegin:
			b = b[2:]
			word()
			number()
		case attrEnd:
		default:
			b = b[1:]
			name := strings.ReplaceAll(word(), " ", "")
			number()
			number()
			f.Signals = append(f.Signals, strings.Join(append(scopes[:len(scopes):len(scopes)], name), "."))
		}
	}
}
