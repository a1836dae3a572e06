package attribution

import (
	"math"

	"nictwin/golden/cycles"
	"nictwin/golden/memory"
	"nictwin/golden/rings"
	"nictwin/models/format/tlp"
	"nictwin/models/nic/nicspec"
)

// BadAs returns a failed ring read as a record for package rings. A timeout may have happened at any time since it
// was due.
func (d *Read) BadAs(s nicspec.Status, sure bool, now int64) rings.Failed {
	b := rings.Failed{First: d.First, Status: s, Sure: sure, Cycle: now, From: now}
	if s == nicspec.StatusCplTimeout {
		b.From = min(now, d.Issued+d.TLo)
	}
	return b
}

// Outstanding holds the device's outstanding reads by tag [P2, P5, P6].
type Outstanding struct {
	Tags     [256]Read
	bufs     [][]byte // free buffers
	Open     int
	TLo, THi int64 // bounds of CPL_TIMEOUT in cycles, which differ while a register write of it takes effect
	Next     int64 // no read times out before this cycle
}

// Read is one read request of the device.
type Read struct {
	Open     bool
	Stray    bool // the read is attributed to no ring and no piece: its data is ignored
	Shared   bool // several pieces name some of the read's bytes
	Tag      uint8
	Kind     memory.Kind
	Queue    uint16
	First    uint16 // index of the first ring entry read
	Count    uint16 // number of ring entries read
	Epoch    uint32
	dest     []dest // destinations of the read's bytes, in each reading (Entry.Alt) of an entry
	Addr     uint64
	N        int
	Next     uint64 // address of the first missing byte
	Left     int
	Issued   int64
	TLo      int64 // bounds of the read's timeout in cycles
	THi      int64
	Ended    int64 // earliest cycle in which the read can have ended
	FreeFrom int64 // the tag may be used again from this cycle on [P6]
	Why      nicspec.Status
	Buf      []byte // bytes of ring entries
}

// TimeoutSlack is the longest time, in cycles, by which the device may notice a timeout late [P6].
const TimeoutSlack = 1024

func (s *Outstanding) init(timeout int64) {
	s.TLo, s.THi, s.Next = timeout, timeout, math.MaxInt64
	for i := range s.Tags {
		s.Tags[i].FreeFrom = cycles.Never
	}
}

// SetTimeout records a write of CPL_TIMEOUT. Old and new value may apply to outstanding reads, to tags that may not
// be used again yet, and to reads issued before the write has taken effect.
func (s *Outstanding) SetTimeout(timeout int64) {
	s.TLo, s.THi = min(s.TLo, timeout), max(s.THi, timeout)
	for i := range s.Tags {
		d := &s.Tags[i]
		switch {
		case d.Open:
			d.TLo, d.THi = min(d.TLo, timeout), max(d.THi, timeout)
			s.Next = min(s.Next, d.Issued+d.THi+TimeoutSlack)
		case d.FreeFrom != cycles.Never:
			d.FreeFrom = min(d.FreeFrom, d.Ended+timeout)
		}
	}
}

// Rest bars a tag from being used again until the timeout has passed [P6]; ended is the earliest cycle in which its
// read can have ended.
func (d *Read) Rest(ended int64, why nicspec.Status) {
	d.Ended, d.FreeFrom, d.Why = ended, ended+d.TLo, why
}

// SettleTimeout ends the window of a write of CPL_TIMEOUT.
func (s *Outstanding) SettleTimeout(timeout int64) { s.TLo, s.THi = timeout, timeout }

// Begin records a request of n bytes with a free tag. The read is a stray until it is attributed.
func (s *Outstanding) Begin(tag uint8, addr uint64, n int, now int64) *Read {
	d := &s.Tags[tag]
	*d = Read{
		dest: d.dest[:0], Open: true, Addr: addr, N: n, Next: addr, Left: n, Issued: now, TLo: s.TLo, THi: s.THi,
		Tag:      tag,
		FreeFrom: cycles.Never, Stray: true,
	}
	s.Open++
	s.Next = min(s.Next, d.Issued+d.THi+TimeoutSlack)
	return d
}

// Judge returns the status by which a completion makes its read fail [P6], or StatusOk.
func (d *Read) Judge(h *tlp.Header, data []byte, lead int) nicspec.Status {
	switch h.Status {
	case tlp.StatusSC:
	case tlp.StatusUR:
		return nicspec.StatusCplUnsupported
	default:
		return nicspec.StatusCplAbort
	}
	want := min(lead+d.Left, len(data))
	switch {
	case h.EP:
		return nicspec.StatusCplPoison
	case h.Kind != tlp.CplD, len(data) != int(h.Length)*tlp.DWBytes, // no data, or not as much as the header says
		int(h.ByteCount) != d.Left, uint64(h.LowerAddr) != d.Next&0x7f, // not the next bytes of the request
		want <= lead, len(data)-want >= tlp.DWBytes: // no byte of the request, or a DW too much
		return nicspec.StatusCplMalformed
	}
	return nicspec.StatusOk
}

// Close ends a read and detaches it from its destinations.
func (es *Entries) Close(d *Read) {
	for i := range d.dest {
		d.dest[i].Entry.reading--
		d.dest[i].Entry = nil
	}
	d.dest = d.dest[:0]
	if d.Buf != nil {
		es.Out.bufs = append(es.Out.bufs, d.Buf)
		d.Buf = nil
	}
	d.Open = false
	es.Out.Open--
}

// Buffer returns a buffer for n bytes of ring entries.
func (s *Outstanding) Buffer(n int) []byte {
	if k := len(s.bufs) - 1; k >= 0 && cap(s.bufs[k]) >= n {
		b := s.bufs[k][:n]
		s.bufs = s.bufs[:k]
		return b
	}
	const usual = 512
	return make([]byte, n, max(n, usual))
}

// Store stores the bytes that a completion brought.
func (es *Entries) Store(d *Read, b []byte) {
	switch {
	case d.Stray:
	case d.Kind != memory.Piece:
		copy(d.Buf[d.N-d.Left:], b)
	default:
		for i := range d.dest {
			t, at := &d.dest[i], d.N-d.Left
			if lo, hi := max(at, t.from), min(at+len(b), t.from+t.hi-t.lo); lo < hi {
				t.Entry.storeBytes(t, lo-t.from+t.lo, b[lo-at:hi-at])
			}
		}
	}
}

// ReadsAfterFailure is the largest number of reads that a copy may still issue after one of its reads has failed
// [D3].
const ReadsAfterFailure = 64

// lateRead is a read of shared memory that completed at a time when it may have timed out.
type lateRead struct {
	addr   uint64
	n      int
	issued int64
}

// maxLate is the number of late reads kept; the oldest is forgotten first.
const maxLate = 16

// Failed records, in the entry of each destination of a read of pieces, that the read failed, or may have (not sure).
func (es *Entries) Failed(d *Read, s nicspec.Status, sure bool) {
	for i := range d.dest {
		d.dest[i].Entry.recordFailure(d, &d.dest[i], s, sure)
	}
	if !sure {
		es.mayHaveTimedOut(d)
	}
}

// mayHaveTimedOut records a read of shared memory that completed when it may have timed out.
func (es *Entries) mayHaveTimedOut(d *Read) {
	if !d.Shared {
		return
	}
	if len(es.late) == maxLate {
		es.late = append(es.late[:0], es.late[1:]...)
	}
	es.late = append(es.late, lateRead{d.Addr, d.N, d.Issued})
}

// forget detaches a read from all places that it was attributed to.
func (d *Read) forget(es *Entries) {
	for len(d.dest) > 0 {
		t := d.dest[0]
		es.clearShare(t.Entry, t.piece, t.lo, t.hi, d.Issued)
		d.release(t.Entry, t.piece, t.lo, t.hi)
	}
	d.Kind = 0
}

// PieceChoice holds the piece that a read most likely belongs to, so far, where several entries name the same
// memory.
type PieceChoice struct {
	Entry *Entry
	Piece int
	score int
}

// Consider scores one piece, and keeps it if it is the best so far: a request usually continues where the previous
// one ended, and ends at the end of the piece or where a split is due.
func (c *PieceChoice) Consider(es *Entries, node *memory.Range[Entry], d *Read, mrrs int) {
	e, i := node.Owner.Entry, int(node.Owner.Part)
	p := &e.Pieces[i]
	off := int(d.Addr - p.bus)
	if !e.reads(i) || !p.asked.Free(off, off+d.N) {
		return
	}
	score := 1
	if off == p.asked.End() {
		score += 20
	}
	if off > 0 { // a piece usually is read to its end before another begins
		score++
	}
	if e.askedBefore(i) {
		score += 2
	}
	page := tlp.PageBytes - int(d.Addr&(tlp.PageBytes-1))
	if off+d.N == p.len || d.N == page || d.N > mrrs-tlp.DWBytes {
		score += 2
	}
	if e.Works() { // a failing entry may be read too, but need not be
		score += 16
	}
	if es.Before(e) == nil { // no earlier entry keeps it from starting
		score += 64
	}
	q := e.Queue
	if q.Slot(e.Index).Entry == e { // e is at the head of the readings (Entry.Alt) of its entry
		score += 8
	}
	// e is the queue's oldest entry, or both the oldest entry and the one just before e have been read
	if e.Index == q.Oldest || q.Slot(q.Oldest).Entry != nil && q.Slot(e.Index-1).OwnerOf() != nil {
		score += 32
	}
	sooner := c.Entry != nil && c.Entry.Queue == q && score == c.score && int16(e.Index-c.Entry.Index) < 0
	if score > c.score || sooner {
		c.Entry, c.Piece, c.score = e, i, score
	}
}

// askAlso attributes a DMA read to another reading (Entry.Alt) of its entry, if a piece of that reading has
// room for it.
func (es *Entries) askAlso(e *Entry, d *Read) {
	for i := range e.Count {
		p := &e.Pieces[i]
		off := int(d.Addr - p.bus)
		if d.Addr >= p.bus && off+d.N <= p.len && p.asked.Free(off, off+d.N) {
			es.ask(e, i, d)
			return
		}
	}
}

// Ask attributes a DMA read to a piece of an entry, and to the entry's other readings (Entry.Alt).
func (es *Entries) Ask(e *Entry, piece int, d *Read) {
	d.Stray, d.Kind, d.Queue, d.Epoch = false, memory.Piece, uint16(e.Queue.ID), e.Queue.Epoch
	es.ask(e, piece, d)
	first := e.Queue.Slot(e.Index).Entry
	if first == e && e.Alt == nil {
		return
	}
	for other := first; other != nil; other = other.Alt {
		if other != e {
			es.askAlso(other, d)
		}
	}
}

// ask records that bytes of a piece were requested by a read.
func (es *Entries) ask(e *Entry, piece int, d *Read) {
	p := &e.Pieces[piece]
	off := int(d.Addr - p.bus)
	p.asked.Add(off, off+d.N)
	if d.Shared {
		p.share(off, off+d.N, d.Issued, d.Tag)
	}
	d.send(dest{e, piece, 0, off, off + d.N})
	e.Asked = true
}
