package pipe

import (
	"encoding/binary"
	"fmt"
)

// RecvEntry is a piece of a receive request in an RQ pipe: 16 B, four to a line.
//
//	 0..5   address
//	 6..9   bytes
//	10..12  queue pair, or shared receive queue
//	13      bit 0: an entry; bit 1: more pieces of the request follow
//	14      0
//	15      0; in the last entry of a line, the line's tag
//
// A request has no ID in the pipe: both ends count the requests of a queue pair, and the completion returns the number.
type RecvEntry struct {
	Addr  uint64 // Arm address, below 2^48
	Bytes uint32
	QPN   uint32 // queue pair or shared receive queue, below 2^24
	More  bool
}

const (
	entryBytes  = 16
	lineEntries = LineBytes / entryBytes
	entryIs     = 1
	entryMore   = 2
	addrBits    = 48
	qpnBits     = 24
)

// Encode writes the entry to the first 16 bytes of b.
func (e *RecvEntry) Encode(b []byte) error {
	if e.Addr>>addrBits != 0 || e.QPN>>qpnBits != 0 {
		return fmt.Errorf("pipe: a receive entry at %#x of queue pair %#x: want addresses below 2^%d and numbers "+
			"below 2^%d", e.Addr, e.QPN, addrBits, qpnBits)
	}
	b = b[:entryBytes]
	le := binary.LittleEndian
	le.PutUint64(b, e.Addr)
	le.PutUint32(b[6:], e.Bytes)
	le.PutUint32(b[10:], e.QPN|entryIs<<qpnBits)
	if e.More {
		b[13] |= entryMore
	}
	b[14], b[15] = 0, 0
	return nil
}

// decode reads the entry of 16 bytes; ok is false for an empty place.
func (e *RecvEntry) decode(b []byte) (ok bool, err error) {
	b = b[:entryBytes]
	le := binary.LittleEndian
	*e = RecvEntry{
		Addr: le.Uint64(b) & (1<<addrBits - 1), Bytes: le.Uint32(b[6:]), QPN: le.Uint32(b[10:]) & (1<<qpnBits - 1),
		More: b[13]&entryMore != 0,
	}
	ok = b[13]&entryIs != 0
	if b[13]&^(entryIs|entryMore) != 0 || b[14] != 0 || !ok && *e != (RecvEntry{}) {
		return false, fmt.Errorf("pipe: a receive entry with flags %#x, %+v: want 1 or 3, or 16 B of 0",
			binary.LittleEndian.Uint16(b[13:]), *e)
	}
	return ok, nil
}

// DecodeRecv appends the entries of an RQ element to `list`. It accepts any bytes, and returns an error for an element
// that no Packer writes.
func DecodeRecv(list []RecvEntry, b []byte) ([]RecvEntry, error) {
	if len(b) != LineBytes {
		return list, fmt.Errorf("pipe: a receive element of %d B: want %d", len(b), LineBytes)
	}
	before := len(list)
	for i := range lineEntries {
		at := b[i*entryBytes:]
		var e RecvEntry
		ok, err := e.decode(at)
		switch {
		case err != nil:
			return list, err
		case i < lineEntries-1 && at[entryBytes-1] != 0:
			return list, fmt.Errorf("pipe: entry %d of a receive element has %#x behind it: want 0", i,
				at[entryBytes-1])
		case ok && len(list)-before < i, !ok && i == 0:
			return list, fmt.Errorf("pipe: entry %d of a receive element is empty: want empty ones behind "+
				"the others only", len(list)-before)
		case ok:
			list = append(list, e)
		}
	}
	return list, nil
}

// Packer packs the entries of receive requests into lines of an RQ pipe, four in each. A request is taken whole or not
// at all.
type Packer struct {
	to   Sender
	line [LineBytes]byte
	n    int // number of entries that `line` contains
}

// NewPacker returns a packer for a pipe into which nothing else is pushed.
func NewPacker(to Sender) *Packer { return &Packer{to: to} }

// Push takes the pieces of one request of a queue pair; a request without memory has none.
func (p *Packer) Push(qpn uint32, pieces []Span) error {
	n := max(1, len(pieces))
	if lines := (p.n + n + lineEntries - 1) / lineEntries; lines > p.to.Room() {
		return p.full()
	}
	for _, s := range pieces { // check all pieces before adding any
		if e := (RecvEntry{Addr: s.Addr, QPN: qpn}); e.Addr>>addrBits != 0 || qpn>>qpnBits != 0 {
			return e.Encode(nil)
		}
	}
	for i := range n {
		e := RecvEntry{QPN: qpn, More: i+1 < n}
		if i < len(pieces) {
			e.Addr, e.Bytes = pieces[i].Addr, pieces[i].Bytes
		}
		if err := e.Encode(p.line[p.n*entryBytes:]); err != nil {
			return err
		}
		if p.n++; p.n == lineEntries {
			if err := p.send(); err != nil {
				return err
			}
		}
	}
	return nil
}

// full flushes the pipe, has its counter read, and returns ErrFull. Entries in the unfinished line stay.
func (p *Packer) full() error {
	if err := p.to.Flush(); err != nil {
		return err
	}
	p.to.Refresh()
	return ErrFull
}

func (p *Packer) send() error {
	if err := p.to.Push(p.line[:]); err != nil {
		return err
	}
	p.n = 0
	clear(p.line[:])
	return nil
}

// Flush sends the one to three entries of an unfinished line, and flushes the pipe. In FN 3.4 a poll does this.
func (p *Packer) Flush() error {
	if p.n > 0 {
		if err := p.send(); err != nil {
			return err
		}
	}
	return p.to.Flush()
}

// Waiting returns the number of entries in the unfinished line.
func (p *Packer) Waiting() int { return p.n }
