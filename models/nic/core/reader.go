package core

import (
	"math"
	"nictwin/models/sim/fifo"

	"nictwin/models/format/tlp"
	"nictwin/models/nic/nicspec"
)

// Read is one transfer from memory into Dst. It is split into requests that may be in flight
// together. The data is valid when the transfer is Done with StatusOk.
type Read struct {
	Addr   uint64
	Dst    []byte
	Status nicspec.Status // failure of the first request that failed, else Ok
	Align  tlp.Align      // how the read is split; Aligned: requests end at whole 64 B lines [D2]

	// Fields for the owner of the transfer; this package ignores them.
	Client uint8
	Owner  int32
	First  uint16
	Gen    uint32

	asked int // bytes of Dst requested
	open  int // requests that have not ended
}

// Begin starts a transfer of len(dst) bytes at addr. It keeps Align and the owner's fields.
func (r *Read) Begin(addr uint64, dst []byte) {
	r.Addr, r.Dst, r.Status = addr, dst, nicspec.StatusOk
	r.asked, r.open = 0, 0
}

// Wants reports whether a request remains to be issued.
func (r *Read) Wants() bool { return r.Status == nicspec.StatusOk && r.asked < len(r.Dst) }

// Done reports whether the transfer has ended, successfully or not.
func (r *Read) Done() bool { return r.open == 0 && !r.Wants() }

// GiveUp fails a transfer that still has requests to issue (Wants), with status s: they are not issued. It reports
// whether the transfer has ended thereby (Done).
func (r *Read) GiveUp(s nicspec.Status) bool {
	r.Status = s
	return r.open == 0
}

// Never is later than every cycle.
const Never = math.MaxInt64

// tag is the state of one read tag.
type tag struct {
	rd       *Read  // transfer of the outstanding request; nil if the tag is not in use
	addr     uint64 // address of the first missing byte
	off      int    // offset of the first missing byte in rd.Dst
	left     int    // bytes missing
	accepted int64  // cycle in which the request was accepted; not valid while field `deadline` is Never
	deadline int64  // cycle in which the request times out; Never until the request is accepted
	heldTo   int64  // first cycle in which the tag may be reused
}

// Reader is the read side of the PCIe interface [P5..P7]: it owns the tags, splits transfers into
// requests and checks completions. It has no time of its own: cycles are arguments.
type Reader struct {
	tags []tag
	free fifo.Queue[uint8]
	held fifo.Queue[uint8] // tags of failed requests whose completions may still come
	open int
	next int64 // lower bound of all deadlines
}

// NewReader returns a reader with n tags, 1..256.
func NewReader(n int) *Reader {
	r := &Reader{tags: make([]tag, n), next: Never}
	for i := range n {
		r.free.Push(uint8(i))
	}
	return r
}

// Outstanding returns the number of requests issued and not ended.
func (r *Reader) Outstanding() int { return r.open }

// Waits reports whether a request with that tag was issued and has not ended.
func (r *Reader) Waits(tag uint8) bool { return int(tag) < len(r.tags) && r.tags[tag].rd != nil }

// CanIssue reports whether a tag is free for a request.
func (r *Reader) CanIssue(cycle int64) bool {
	for r.held.Len() > 0 && r.tags[*r.held.Front()].heldTo <= cycle {
		r.free.Push(r.held.Pop())
	}
	return r.free.Len() > 0
}

// Held returns the cycle at which the next held tag becomes free, or Never.
func (r *Reader) Held() int64 {
	if r.held.Len() == 0 {
		return Never
	}
	return r.tags[*r.held.Front()].heldTo
}

// Issue takes a tag for the next request of a transfer that Wants one, and returns the request's
// header. CanIssue must hold.
func (r *Reader) Issue(rd *Read, mrrs int) tlp.Header {
	addr := rd.Addr + uint64(rd.asked)
	split := tlp.SplitRead(addr, len(rd.Dst)-rd.asked, mrrs, rd.Align)
	piece, _ := split.Next()
	id := r.free.Pop()
	r.tags[id] = tag{rd: rd, addr: addr, off: rd.asked, left: piece.Len, deadline: Never}
	rd.asked += piece.Len
	rd.open++
	r.open++
	h := tlp.Header{
		Kind: tlp.MRd, RequesterID: nicspec.RequesterNic, Tag: id,
		Address: addr &^ (tlp.DWBytes - 1), Addr64: addr>>32 != 0,
	}
	h.Length, h.FirstBE, h.LastBE = tlp.Enables(addr, piece.Len)
	return h
}

// Accepted records that the other side took a request, which starts its timeout.
func (r *Reader) Accepted(id uint8, cycle, timeout int64) {
	t := &r.tags[id]
	t.accepted, t.deadline = cycle, cycle+timeout
	r.next = min(r.next, t.deadline)
}

// CplResult is the outcome of a completion.
type CplResult uint8

// The outcomes of a completion.
const (
	CplUnexpected CplResult = iota // matches no request: counts CPL_UNEXPECTED
	CplProgress                    // the completion's request still lacks data
	CplEnded                       // the completion's request has all its data
	CplFailed                      // the completion fails its request: counts CPL_ERR
)

// Complete takes a completion [P6, P7] whose first beat was accepted in cycle `first`. A completion
// that began before the request with its tag was accepted does not belong to it. For CplEnded and
// CplFailed it returns the transfer, which may be Done now.
func (r *Reader) Complete(h *tlp.Header, data []byte, first, cycle, timeout int64) (*Read, CplResult) {
	if h.RequesterID != nicspec.RequesterNic || int(h.Tag) >= len(r.tags) {
		return nil, CplUnexpected
	}
	t := &r.tags[h.Tag]
	if t.rd == nil || t.deadline == Never || first <= t.accepted {
		return nil, CplUnexpected
	}
	rd := t.rd
	lead := int(t.addr & (tlp.DWBytes - 1))
	if s := t.judge(h, data, lead); s != nicspec.StatusOk {
		// After a failing status no further completion comes, so the tag can be reused at once.
		quiet := s == nicspec.StatusCplUnsupported || s == nicspec.StatusCplAbort
		r.fail(h.Tag, s, quiet, cycle+timeout)
		return rd, CplFailed
	}
	n := min(len(data)-lead, t.left)
	copy(rd.Dst[t.off:t.off+n], data[lead:])
	t.addr += uint64(n)
	t.off += n
	t.left -= n
	if t.left > 0 {
		return nil, CplProgress
	}
	r.end(t)
	r.free.Push(h.Tag)
	return rd, CplEnded
}

// judge returns the status with which a completion fails its request, or StatusOk [P6].
func (t *tag) judge(h *tlp.Header, data []byte, lead int) nicspec.Status {
	switch {
	case h.Status == tlp.StatusUR:
		return nicspec.StatusCplUnsupported
	case h.Status != tlp.StatusSC:
		return nicspec.StatusCplAbort
	case h.EP:
		return nicspec.StatusCplPoison
	case h.Kind != tlp.CplD, len(data) != int(h.Length)*tlp.DWBytes,
		int(h.ByteCount) != t.left, h.LowerAddr != uint8(t.addr)&0x7f,
		int(h.Length) > (lead+t.left+tlp.DWBytes-1)/tlp.DWBytes:
		return nicspec.StatusCplMalformed
	}
	return nicspec.StatusOk
}

// Expire ends an overdue request and returns its transfer, or nil. Call it until it returns nil.
// Each request ended counts CPL_TIMEOUTS.
func (r *Reader) Expire(cycle, timeout int64) *Read {
	if cycle < r.next {
		return nil
	}
	r.next = Never
	for i := range r.tags {
		t := &r.tags[i]
		switch {
		case t.rd == nil:
		case t.deadline <= cycle:
			r.next = cycle // other reads may have timed out as well: look again in this cycle
			rd := t.rd
			r.fail(uint8(i), nicspec.StatusCplTimeout, false, cycle+timeout)
			return rd
		default:
			r.next = min(r.next, t.deadline)
		}
	}
	return nil
}

// Deadline returns a cycle before which no request times out.
func (r *Reader) Deadline() int64 {
	if r.open == 0 {
		return Never
	}
	return r.next
}

func (r *Reader) fail(id uint8, s nicspec.Status, quiet bool, heldTo int64) {
	t := &r.tags[id]
	if t.rd.Status == nicspec.StatusOk {
		t.rd.Status = s
	}
	r.end(t)
	if quiet {
		r.free.Push(id)
		return
	}
	t.heldTo = heldTo
	r.held.Push(id)
}

func (r *Reader) end(t *tag) {
	t.rd.open--
	t.rd = nil
	r.open--
}
