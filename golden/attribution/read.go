package attribution

import (
	"math"

	"nictwin/golden/cycles"
	"nictwin/golden/memory"
	"nictwin/golden/rings"
	"nictwin/models/nicspec"
	"nictwin/models/tlp"
)

// BadAs is a read of a ring that failed, as is known now. A timeout may have come any time since it was due.
func (d *Read) BadAs(s nicspec.Status, sure bool, now int64) rings.Failed {
	b := rings.Failed{First: d.First, Status: s, Sure: sure, Cycle: now, From: now}
	if s == nicspec.StatusCplTimeout {
		b.From = min(now, d.Issued+d.TLo)
	}
	return b
}

// send lets bytes of a read go to a piece.
func (d *Read) send(t pieceDest) {
	d.Dest = append(d.Dest, t)
	t.Entry.reading++
}

// release lets bytes of a read no longer go to a range of a piece.
func (d *Read) release(e *Entry, piece, lo, hi int) {
	for k := len(d.Dest) - 1; k >= 0; k-- {
		t := d.Dest[k]
		a, b := max(lo, t.lo), min(hi, t.hi)
		if t.Entry != e || t.piece != piece || a >= b {
			continue
		}
		d.Dest = append(d.Dest[:k], d.Dest[k+1:]...)
		e.reading--
		if t.lo < a {
			d.send(pieceDest{e, piece, t.from, t.lo, a})
		}
		if b < t.hi {
			d.send(pieceDest{e, piece, t.from + b - t.lo, b, t.hi})
		}
	}
}

// readSide is the reads that the device has outstanding, by tag [P2, P5, P6].
type readSide struct {
	Tags     [256]Read
	bufs     [][]byte // free
	Open     int
	TLo, THi int64 // completion timeout: a change of CPL_TIMEOUT is seen by and by
	Next     int64 // nothing expires before
}

// Read is one read request of the device.
type Read struct {
	Open     bool
	Stray    bool // belongs nowhere; its data is not looked at
	Shared   bool // other pieces have bytes of it, too
	Tag      uint8
	Kind     memory.Kind
	Queue    uint16
	First    uint16 // entry of the ring, and how many
	Count    uint16
	Epoch    uint32
	Dest     []pieceDest // where its bytes go, in each reading of an entry
	Addr     uint64
	N        int
	Next     uint64 // address of the first byte missing
	Left     int
	Issued   int64
	TLo      int64 // the timeout is between these
	THi      int64
	FreeFrom int64 // the tag may be used again from this cycle on [P6]
	Why      nicspec.Status
	Buf      []byte // of ring entries
}

// pieceDest is where bytes of a read go: those from an offset on to a range of a
// piece.
type pieceDest struct {
	Entry  *Entry
	piece  int
	from   int // in the read
	lo, hi int // in the piece
}

// TimeoutSlack is how late a timeout may come [P6].
const TimeoutSlack = 1024

func (s *readSide) init(timeout int64) {
	s.TLo, s.THi, s.Next = timeout, timeout, math.MaxInt64
	for i := range s.Tags {
		s.Tags[i].FreeFrom = cycles.Never
	}
}

// SetTimeout notes a write of CPL_TIMEOUT. Reads outstanding may see either
// value, and so may those issued before the write has taken effect.
func (s *readSide) SetTimeout(timeout int64) {
	s.TLo, s.THi = min(s.TLo, timeout), max(s.THi, timeout)
	for i := range s.Tags {
		if d := &s.Tags[i]; d.Open {
			d.TLo, d.THi = min(d.TLo, timeout), max(d.THi, timeout)
			s.Next = min(s.Next, d.Issued+d.THi+TimeoutSlack)
		}
	}
}

// SettleTimeout ends the window of a write of CPL_TIMEOUT.
func (s *readSide) SettleTimeout(timeout int64) { s.TLo, s.THi = timeout, timeout }

// Judge says how a completion fails its request [P6], or StatusOk.
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
	case h.Kind != tlp.CplD, len(data) != int(h.Length)*tlp.DWBytes, // data against type
		int(h.ByteCount) != d.Left, uint64(h.LowerAddr) != d.Next&0x7f, // place
		want <= lead, len(data)-want >= tlp.DWBytes: // length
		return nicspec.StatusCplMalformed
	}
	return nicspec.StatusOk
}

func (es *Entries) Close(d *Read) {
	for i := range d.Dest {
		d.Dest[i].Entry.reading--
		d.Dest[i].Entry = nil
	}
	d.Dest = d.Dest[:0]
	if d.Buf != nil {
		es.Out.bufs = append(es.Out.bufs, d.Buf)
		d.Buf = nil
	}
	d.Open = false
	es.Out.Open--
}

// Buffer is room for n bytes of ring entries.
func (s *readSide) Buffer(n int) []byte {
	if k := len(s.bufs) - 1; k >= 0 && cap(s.bufs[k]) >= n {
		b := s.bufs[k][:n]
		s.bufs = s.bufs[:k]
		return b
	}
	const usual = 512
	return make([]byte, n, max(n, usual))
}

// Store keeps the bytes that a read brought.
func (es *Entries) Store(d *Read, b []byte) {
	switch {
	case d.Stray:
	case d.Kind != memory.Piece:
		copy(d.Buf[d.N-d.Left:], b)
	default:
		for i := range d.Dest {
			t, at := &d.Dest[i], d.N-d.Left
			if lo, hi := max(at, t.from), min(at+len(b), t.from+t.hi-t.lo); lo < hi {
				t.Entry.bring(t, lo-t.from+t.lo, b[lo-at:hi-at])
			}
		}
	}
}
