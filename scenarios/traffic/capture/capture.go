package capture

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"time"
)

// Origin identifies where a frame was captured.
type Origin struct {
	File   string    // path or name, as the user gave it
	Packet int       // number in the file, from 1
	Time   time.Time // zero if the file has no time
}

// Packet is one captured frame.
type Packet struct {
	Origin
	Data     []byte // the captured bytes, from the destination address on
	WireLen  int    // length on the wire according to the file; Data may be shorter
	Offset   int64  // offset of its record or block in the unpacked file
	Interval int64  // picoseconds since the previous packet; 0 for the first one, or if this one has an earlier time
}

// CutOff reports that a file ends in the middle of a packet or block.
type CutOff struct {
	File    string `json:"file"`
	Offset  int64  `json:"offset"`        // of the incomplete packet or block
	After   int    `json:"after_packet"`  // ordinal of the last complete packet; 0: no packet is complete
	Present int64  `json:"bytes_present"` // of the incomplete packet or block
	Missing int64  `json:"bytes_missing"` // at least; further data may be missing as well
}

func (c *CutOff) String() string {
	return fmt.Sprintf("%s: cut off at offset %d, after packet %d: %d bytes of what begins there are missing, %d are "+
		"there",
		c.File, c.Offset, c.After, c.Missing, c.Present)
}

// Error reports a fault in a capture file, with its position.
type Error struct {
	Path   string
	Offset int64 // byte offset in the file; -1: unknown
	Packet int   // number of the packet, from 1; 0: the fault is in no packet
	Err    error
}

func (e *Error) Error() string {
	s := cmp.Or(e.Path, `""`)
	if e.Packet > 0 {
		s += fmt.Sprintf(": packet %d", e.Packet)
	}
	if e.Offset >= 0 {
		s += fmt.Sprintf(": offset %d", e.Offset)
	}
	return s + ": " + e.Err.Error()
}

func (e *Error) Unwrap() error { return e.Err }

// Content is a capture in memory.
type Content struct {
	Packets []Packet
	Empty   int     // packets without a byte, which no stream can carry
	CutOff  *CutOff // nil: the file is complete

	SkippedSections int // pcapng sections of an unknown version, which the format requires readers to skip
}

// Read reads a small capture file completely. It returns an *Error.
func Read(path string) (_ *Content, err error) {
	f, err := Open(context.Background(), path)
	if err != nil {
		return nil, err
	}
	defer func() { err = errors.Join(err, f.Close()) }()
	r, err := f.Packets()
	if err != nil {
		return nil, err
	}
	return collect(r)
}

// Parse parses a small capture from the bytes of its file; path is only used in errors. It returns an *Error.
func Parse(path string, raw []byte) (*Content, error) {
	r, err := parse(path, raw)
	if err != nil {
		return nil, err
	}
	return collect(r)
}

func collect(r *Reader) (_ *Content, err error) {
	defer func() { err = errors.Join(err, r.Close()) }()
	c := &Content{Packets: []Packet{}}
	for {
		p, err := r.Next()
		if errors.Is(err, io.EOF) {
			c.Empty, c.CutOff, c.SkippedSections = r.Empty(), r.CutOff(), r.SkippedSections()
			return c, nil
		}
		if err != nil {
			return nil, err
		}
		p.Data = append([]byte(nil), p.Data...)
		c.Packets = append(c.Packets, *p)
	}
}

// interval returns the time between two packets in picoseconds; it saturates.
func interval(from, to time.Time) int64 {
	if from.IsZero() || to.IsZero() || !to.After(from) {
		return 0
	}
	const most = int64(1) << 62
	d := to.Sub(from)
	if int64(d) > most/1000 {
		return most
	}
	return int64(d) * 1000
}
