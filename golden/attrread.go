package golden

import (
	"math"

	"nictwin/golden/memory"
	"nictwin/golden/rings"
	"nictwin/models/nicspec"
	"nictwin/models/tlp"
)

// badAs is a read of a ring that failed, as is known now. A timeout may have come any time since it was due.
func (d *readReq) badAs(s nicspec.Status, sure bool, now int64) rings.Failed {
	b := rings.Failed{First: d.first, Status: s, Sure: sure, Cycle: now, From: now}
	if s == nicspec.StatusCplTimeout {
		b.From = min(now, d.issued+d.tLo)
	}
	return b
}

// send lets bytes of a read go to a piece.
func (d *readReq) send(t pieceDest) {
	d.dest = append(d.dest, t)
	t.entry.reading++
}

// release lets bytes of a read no longer go to a range of a piece.
func (d *readReq) release(e *txEntry, piece, lo, hi int) {
	for k := len(d.dest) - 1; k >= 0; k-- {
		t := d.dest[k]
		a, b := max(lo, t.lo), min(hi, t.hi)
		if t.entry != e || t.piece != piece || a >= b {
			continue
		}
		d.dest = append(d.dest[:k], d.dest[k+1:]...)
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
	tags     [256]readReq
	bufs     [][]byte // free
	open     int
	tLo, tHi int64 // completion timeout: a change of CPL_TIMEOUT is seen by and by
	next     int64 // nothing expires before
}

// readReq is one read request of the device.
type readReq struct {
	open     bool
	stray    bool // belongs nowhere; its data is not looked at
	shared   bool // other pieces have bytes of it, too
	tag      uint8
	kind     memory.Kind
	queue    uint16
	first    uint16 // entry of the ring, and how many
	count    uint16
	epoch    uint32
	dest     []pieceDest // where its bytes go, in each reading of an entry
	addr     uint64
	n        int
	next     uint64 // address of the first byte missing
	left     int
	issued   int64
	tLo      int64 // the timeout is between these
	tHi      int64
	freeFrom int64 // the tag may be used again from this cycle on [P6]
	why      nicspec.Status
	buf      []byte // of ring entries
}

// pieceDest is where bytes of a read go: those from an offset on to a range of a
// piece.
type pieceDest struct {
	entry  *txEntry
	piece  int
	from   int // in the read
	lo, hi int // in the piece
}

// timeoutSlack is how late a timeout may come [P6].
const timeoutSlack = 1024

func (s *readSide) init(timeout int64) {
	s.tLo, s.tHi, s.next = timeout, timeout, math.MaxInt64
	for i := range s.tags {
		s.tags[i].freeFrom = never
	}
}

// setTimeout notes a write of CPL_TIMEOUT. Reads outstanding may see either
// value, and so may those issued before the write has taken effect.
func (s *readSide) setTimeout(timeout int64) {
	s.tLo, s.tHi = min(s.tLo, timeout), max(s.tHi, timeout)
	for i := range s.tags {
		if d := &s.tags[i]; d.open {
			d.tLo, d.tHi = min(d.tLo, timeout), max(d.tHi, timeout)
			s.next = min(s.next, d.issued+d.tHi+timeoutSlack)
		}
	}
}

// settleTimeout ends the window of a write of CPL_TIMEOUT.
func (s *readSide) settleTimeout(timeout int64) { s.tLo, s.tHi = timeout, timeout }

// judge says how a completion fails its request [P6], or StatusOk.
func (d *readReq) judge(h *tlp.Header, data []byte, lead int) nicspec.Status {
	switch h.Status {
	case tlp.StatusSC:
	case tlp.StatusUR:
		return nicspec.StatusCplUnsupported
	default:
		return nicspec.StatusCplAbort
	}
	want := min(lead+d.left, len(data))
	switch {
	case h.EP:
		return nicspec.StatusCplPoison
	case h.Kind != tlp.CplD, len(data) != int(h.Length)*tlp.DWBytes, // data against type
		int(h.ByteCount) != d.left, uint64(h.LowerAddr) != d.next&0x7f, // place
		want <= lead, len(data)-want >= tlp.DWBytes: // length
		return nicspec.StatusCplMalformed
	}
	return nicspec.StatusOk
}

func (es *Entries) close(d *readReq) {
	for i := range d.dest {
		d.dest[i].entry.reading--
		d.dest[i].entry = nil
	}
	d.dest = d.dest[:0]
	if d.buf != nil {
		es.rd.bufs = append(es.rd.bufs, d.buf)
		d.buf = nil
	}
	d.open = false
	es.rd.open--
}

// buffer is room for n bytes of ring entries.
func (s *readSide) buffer(n int) []byte {
	if k := len(s.bufs) - 1; k >= 0 && cap(s.bufs[k]) >= n {
		b := s.bufs[k][:n]
		s.bufs = s.bufs[:k]
		return b
	}
	const usual = 512
	return make([]byte, n, max(n, usual))
}

// store keeps the bytes that a read brought.
func (es *Entries) store(d *readReq, b []byte) {
	switch {
	case d.stray:
	case d.kind != memory.Piece:
		copy(d.buf[d.n-d.left:], b)
	default:
		for i := range d.dest {
			t, at := &d.dest[i], d.n-d.left
			if lo, hi := max(at, t.from), min(at+len(b), t.from+t.hi-t.lo); lo < hi {
				t.entry.bring(t, lo-t.from+t.lo, b[lo-at:hi-at])
			}
		}
	}
}
