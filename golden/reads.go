package golden

import (
	"fmt"
	"math"

	"nictwin/golden/memory"
	"nictwin/golden/verdict"
	"nictwin/models/nicspec"
	"nictwin/models/tlp"
)

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

// readOut takes a read request of the device.
func (r *Referee) readOut() {
	h := &r.hdr
	d := &r.rd.tags[h.Tag]
	if d.open {
		r.close(d) // the PCIe monitor has reported the tag
	}
	if d.freeFrom > r.now {
		r.log.Saw(verdict.Device)
		r.log.Fail(verdict.Device, "P6", "Tag", fmt.Sprintf("not used before cycle %d, its request ended by %v", d.freeFrom, d.why),
			fmt.Sprintf("%#x", h.Tag), h.String())
	}
	off, n := h.Span()
	*d = readReq{
		dest: d.dest[:0], open: true, addr: h.Address + uint64(off), n: n, left: n, issued: r.now, tLo: r.rd.tLo, tHi: r.rd.tHi,
		freeFrom: never, stray: true,
	}
	d.next = d.addr
	r.rd.open++
	r.rd.next = min(r.rd.next, d.issued+d.tHi+timeoutSlack)
	if h.ZeroLength() {
		r.log.Saw(verdict.Device)
		r.log.Fail(verdict.Device, "P3", "FirstBE", "a byte enabled", "none", h.String())
		return
	}
	r.attribute(d)
	if !d.stray {
		r.follows(h, d.carries())
	}
	if !d.stray && d.kind != memory.Piece {
		d.buf = r.rd.buffer(n)
	}
}

// carries says what a read brings.
func (d *readReq) carries() dataKind {
	if d.kind == memory.RxRing || d.kind == memory.TxRing {
		return carriesOther
	}
	return carriesData
}

// reused ends a read whose tag is used again at a time at which it can have
// timed out.
func (r *Referee) reused(h *tlp.Header) {
	if d := &r.rd.tags[h.Tag]; h.Kind == tlp.MRd && d.open && r.now >= d.issued+d.tLo {
		r.timedOut(d)
	}
}

// completionIn takes a completion that the device was given.
func (r *Referee) completionIn() {
	h, data := &r.hdr, r.x.TLP.Data
	d := &r.rd.tags[h.Tag]
	if h.RequesterID != nicspec.RequesterNic || !d.open || r.tooEarly(h) {
		r.log.Saw(verdict.Device)
		r.cnt.Step(nicspec.CntCplUnexpected.Index(), 1, r.now)
		return
	}
	r.log.Saw(r.domainOf(d))
	r.flr.work = r.now
	late := r.now >= d.issued+d.tLo // it may have timed out already
	if late {
		r.cnt.May(nicspec.CntCplUnexpected.Index(), 1)
	}
	lead := int(d.next & (tlp.DWBytes - 1))
	if s := d.judge(h, data, lead); s != nicspec.StatusOk {
		r.failed(d, h, s, late)
		return
	}
	n := min(len(data)-lead, d.left)
	r.store(d, data[lead:lead+n])
	d.next += uint64(n)
	d.left -= n
	if d.left > 0 {
		return
	}
	if late {
		r.maybeTimedOut(d)
	} else {
		r.mustBeBusy(r.domainOf(d), "a read that is outstanding", d.issued, r.now)
	}
	r.came(d)
	r.mon.Abandon(tlp.FromDevice, nicspec.RequesterNic, h.Tag) // it refuses locked completions
	r.close(d)
}

// tooEarly reports whether a completion for the device began before the
// request that its tag stands for was accepted, or in the same cycle [P7].
func (r *Referee) tooEarly(h *tlp.Header) bool {
	d := &r.rd.tags[h.Tag]
	return h.RequesterID == nicspec.RequesterNic && d.open && r.x.First <= d.issued
}

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

// failed ends a read by a completion that fails it.
func (r *Referee) failed(d *readReq, h *tlp.Header, s nicspec.Status, late bool) {
	if late {
		r.cnt.May(nicspec.CntCplErr.Index(), 1)
		r.maybeTimedOut(d)
	} else {
		r.mustBeBusy(r.domainOf(d), "a read that is outstanding", d.issued, r.now)
		r.cnt.Step(nicspec.CntCplErr.Index(), 1, r.now)
	}
	r.bad(d, s, !late)
	r.mon.Abandon(tlp.FromDevice, nicspec.RequesterNic, h.Tag)
	if !late && (s == nicspec.StatusCplPoison || s == nicspec.StatusCplMalformed) {
		d.freeFrom, d.why = r.now+d.tLo, s
	}
	r.close(d)
}

// maybeTimedOut says that a read which just ended may have timed out before.
func (r *Referee) maybeTimedOut(d *readReq) {
	r.cnt.May(nicspec.CntCplTimeouts.Index(), 1)
	r.bad(d, nicspec.StatusCplTimeout, false)
}

// expireReads ends the reads that have timed out for certain.
func (r *Referee) expireReads() {
	r.rd.next = math.MaxInt64
	for i := range r.rd.tags {
		d := &r.rd.tags[i]
		if !d.open {
			continue
		}
		if at := d.issued + d.tHi + timeoutSlack; at < r.now {
			r.timedOut(d)
		} else {
			r.rd.next = min(r.rd.next, at)
		}
	}
}

func (r *Referee) timedOut(d *readReq) {
	r.flr.work = max(r.flr.work, min(r.now, d.issued+d.tHi+timeoutSlack))
	r.cnt.Step(nicspec.CntCplTimeouts.Index(), 1, r.now)
	r.bad(d, nicspec.StatusCplTimeout, true)
	if w := r.reportsBy(r.domainOf(d)); w != nil {
		w.ended = min(r.now, d.issued+d.tHi+timeoutSlack)
	}
	d.freeFrom, d.why = d.issued+2*d.tLo, nicspec.StatusCplTimeout
	r.mon.Abandon(tlp.FromDevice, nicspec.RequesterNic, r.tagOf(d))
	r.close(d)
}

// named ends the read of a ring of which an Event says that it has timed out: what still comes for it has no effect [P6].
func (r *Referee) named(dom verdict.Domain, first uint16, s nicspec.Status) {
	for i := range r.rd.tags {
		d := &r.rd.tags[i]
		if s == nicspec.StatusCplTimeout && d.open && !d.stray && d.kind != memory.Piece && d.first == first &&
			r.domainOf(d) == dom && r.now >= d.issued+d.tLo {
			r.timedOut(d)
			return
		}
	}
}

func (r *Referee) tagOf(d *readReq) uint8 {
	for i := range r.rd.tags {
		if &r.rd.tags[i] == d {
			return uint8(i)
		}
	}
	return 0
}

func (r *Referee) close(d *readReq) {
	for i := range d.dest {
		d.dest[i].entry.reading--
		d.dest[i].entry = nil
	}
	d.dest = d.dest[:0]
	if d.buf != nil {
		r.rd.bufs = append(r.rd.bufs, d.buf)
		d.buf = nil
	}
	d.open = false
	r.rd.open--
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
func (r *Referee) store(d *readReq, b []byte) {
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

// came is the end of a read that brought everything.
func (r *Referee) came(d *readReq) {
	switch {
	case d.stray:
	case d.kind == memory.Piece:
		r.pin.data = max(r.pin.data, r.now)
	case d.kind == memory.RxRing:
		if q := r.rx.queue(d.queue); d.epoch == q.epoch && q.open {
			r.descsIn(d)
		}
	default:
		if q := r.tx.queue(d.queue); d.epoch == q.epoch && q.open {
			r.wqesIn(d)
		}
	}
}

// bad is the end of a read that failed, or may have.
func (r *Referee) bad(d *readReq, s nicspec.Status, sure bool) {
	switch {
	case d.stray:
	case d.kind == memory.Piece:
		for i := range d.dest {
			d.dest[i].entry.failing(d, &d.dest[i], s, sure)
		}
		if !sure {
			r.mayHaveTimedOut(d)
		}
	case d.kind == memory.RxRing:
		if q := r.rx.queue(d.queue); d.epoch == q.epoch && q.open {
			r.descsBad(d, s, sure)
		}
	default:
		if q := r.tx.queue(d.queue); d.epoch == q.epoch && q.open {
			r.wqesBad(d, s, sure)
		}
	}
}
