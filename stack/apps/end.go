package apps

import (
	"errors"
	"fmt"

	"nictwin/stack/verbs"
)

// recvBit marks the IDs of receive requests; the other IDs are message numbers.
const recvBit = 1 << 63

// slotBits is the number of low bits of a receive request's ID that hold its memory slot. Its ordinal is above them.
const slotBits = 24

// role is the behavior of one end of a flow: client, server, or either end of a ring.
type role interface {
	sent(first, last int)               // send requests first to last completed successfully
	received(slot int, wc *verbs.WC)    // a message or immediate data arrived
	advance()                           // posts as many requests as the queue allows
	done() bool                         // the end has nothing left to send or receive
	areas(f func(a *area, filled bool)) // calls f for each area of memory; filled: written by others
}

// end is one end of a flow.
type end struct {
	spec   *Spec
	side   *side
	index  int // index among the ends of this side
	flow   int
	client bool
	role   role

	qp      verbs.QP
	peerQPN uint32
	port    int // index of the route
	route   *Route
	total   int // messages of the flow: Spec.Count, or fewer after Run.Stop
	ah      verbs.AH
	recvs   *receives // nil: the end receives no messages

	posted, acked int // number of send requests posted, and of those known to have ended
	recvsDone     int // number of receive requests that completed
	messages      int // messages that arrived complete and correct
	bytes         uint64

	seen []bool // AnyOrder: messages that have arrived

	outcomes []outcome // Solar: outcome of each request
	notice   *notice   // polls the bytes of messages; nil: waits for completions
	ring     ringEnd   // nil: each message is a verbs request of its own

	stopped   bool // an error occurred: the end posts nothing more
	full      bool // the queue or its pipe had no room
	toAdvance bool // the end had completions in this poll, after which it posts further requests

	sendDone, recvDone []Completion
	firstFault         *Finding
	faults             int

	wrs    []verbs.SendWR // scratch for one batch of requests
	sges   [][]verbs.SGE  // SGEs of each of wrs
	inline [][]byte       // inline bytes of each of wrs
}

// want and got return scratch buffers for one message. All ends of a side share them, because software does one thing
// at a time.
func (e *end) want(n int) []byte { return e.side.want[:n] }
func (e *end) got(n int) []byte  { return e.side.got[:n] }

// fail counts a fault and records the first one.
func (e *end) fail(w Finding) {
	if e.faults++; e.firstFault != nil {
		return
	}
	w.Server, w.Flow, w.Client = e.side.Name, e.flow, e.client
	e.firstFault = &w
}

// check ends the flow if a memory access or call failed, and reports whether it succeeded.
func (e *end) check(what string, err error) bool {
	if err != nil {
		e.stopped = true
		e.fail(Finding{What: what, Message: -1, Text: err.Error()})
	}
	return err == nil
}

// post posts the first n requests of wrs and reports whether the queue took them all.
func (e *end) post(n int) bool {
	k, err := e.qp.PostSend(e.wrs[:n])
	e.posted += k
	for i := range k {
		e.observed(Observer.Posted, e.posted-k+i)
	}
	if err == nil && k == n {
		return true
	}
	e.postFailed(k, n, err)
	return false
}

// postFailed handles a full queue or a refused request: only the first k of n requests were posted.
func (e *end) postFailed(k, n int, err error) {
	switch {
	case err == nil:
		e.check("post_send", fmt.Errorf("post_send took %d of %d requests without an error", k, n))
	case errors.Is(err, verbs.ENOMEM):
		e.waitForRoom()
	default:
		e.check("post_send", err)
	}
}

// waitForRoom marks the end as waiting for room; retry lets it post again.
func (e *end) waitForRoom() {
	if !e.full {
		e.full = true
		e.side.waiting = append(e.side.waiting, e)
	}
}

// completed handles a completion of the end's queue pair.
func (e *end) completed(wc *verbs.WC) {
	if !e.toAdvance {
		e.toAdvance = true
		e.side.toAdvance = append(e.side.toAdvance, e)
	}
	if e.ring != nil {
		e.ringEnded(wc)
		return
	}
	if wc.Status != verbs.WCSuccess && !e.stopped {
		// First post what the earlier completions allow, whether the error came in the same poll or a later
		// one. Otherwise the number of requests would depend on how completions fall into polls. For an end
		// that waits for room it still depends on timing: the stack decides whether a pipe had room before the
		// error.
		e.role.advance()
		e.stopped = true
	}
	if wc.ID&recvBit != 0 {
		e.endRecv(wc)
	} else {
		e.endSend(wc)
	}
}

// endSend handles the completion of a request, which also ends earlier unsignaled ones.
func (e *end) endSend(wc *verbs.WC) {
	if l, ok := e.role.(*lookup); ok {
		l.ended(wc)
		return
	}
	if !e.spec.ordered() {
		e.endedAlone(wc)
		return
	}
	m := int(wc.ID)
	c := Completion{ID: wc.ID, Status: wc.Status, Message: m}
	if wc.Status == verbs.WCSuccess {
		c.Opcode, c.Flags = wc.Opcode, wc.Flags
	}
	e.sendDone = append(e.sendDone, c)
	if m < e.acked || m >= e.posted {
		e.fail(Finding{What: "order", Message: m, Text: fmt.Sprintf("the completion of request %d (%v): expected one "+
			"of %d to %d", m, wc.Status, e.acked, e.posted-1)})
		return
	}
	if wc.Status != verbs.WCSuccess {
		e.acked = m + 1
		return
	}
	if next := e.spec.signalled(e.acked); m != next {
		e.fail(Finding{What: "order", Message: m, Text: fmt.Sprintf("the completion of request %d: expected that of "+
			"request %d before", m, next)})
	}
	if want := e.spec.opcode(m).Completion(); wc.Opcode != want {
		e.fail(Finding{What: "opcode", Message: m,
			Text: fmt.Sprintf("request %d ended as %v: expected %v", m, wc.Opcode, want)})
	}
	first := e.acked
	e.acked = m + 1
	for i := first; i <= m; i++ {
		e.observed(Observer.Completed, i)
	}
	e.role.sent(first, m)
}

// endRecv handles the completion of a receive request.
func (e *end) endRecv(wc *verbs.WC) {
	slot := int(wc.ID & (1<<slotBits - 1))
	c := Completion{ID: wc.ID &^ recvBit >> slotBits, Recv: true, Status: wc.Status, Message: -1}
	if !e.spec.SharedReceive && !e.spec.LowLatency && int(c.ID) != e.recvsDone {
		e.fail(Finding{What: "order", Message: e.recvsDone, Text: fmt.Sprintf("the completion of receive request %d: "+
			"expected that of %d", c.ID, e.recvsDone)})
	}
	e.recvsDone++
	if wc.Status != verbs.WCSuccess {
		e.recvDone = append(e.recvDone, c)
		return
	}
	c.Opcode, c.Flags, c.Bytes = wc.Opcode, wc.Flags, wc.ByteLen
	if wc.Flags&verbs.WCWithImm != 0 {
		c.Imm = wc.Imm
	}
	e.recvDone = append(e.recvDone, c)
	if e.notice != nil {
		e.notice.completed(slot, wc)
		return
	}
	e.role.received(slot, wc)
}

// noteMessage records which message took the last completed receive request.
func (e *end) noteMessage(message int) { e.recvDone[len(e.recvDone)-1].Message = message }

// arrived checks a message received into a slot and returns its number; ok is false if the number is unknown. next is
// the number expected.
func (e *end) arrived(slot int, wc *verbs.WC, direction, next int) (m int, ok bool) {
	skip := e.spec.header()
	n, a := int(wc.ByteLen)-skip, &e.recvs.area
	if e.spec.Transport == UD && wc.SrcQP != e.peerQPN {
		e.fail(Finding{What: "src_qp", Message: next, Text: fmt.Sprintf("a message from queue pair %#x: expected %#x",
			wc.SrcQP, e.peerQPN)})
	}
	if n < 0 || n > len(e.side.got) {
		e.fail(Finding{What: "length", Message: next,
			Text: fmt.Sprintf("a message of %d B: expected %d", n, e.expects(next))})
		return next, false
	}
	if e.spec.Transport == Raw && !e.checkHeader(a, slot, next) {
		return next, false
	}
	if e.spec.Payload == Reused {
		e.noteMessage(next)
		if want := e.spec.size(next); n != want {
			e.badLength(next, n, want)
		} else {
			e.countMessage(n)
		}
		return next, true
	}
	got, head := e.got(n), min(e.spec.Head, n)
	if !e.check("load", errors.Join(a.load(e.side.Core, slot, skip, a.piece, got[:head]),
		a.load(e.side.Core, slot, skip+head, a.piece, got[head:]))) {
		return next, false
	}
	m = next
	if s := stamp(got); e.spec.AnyOrder && s >= 0 && s < e.spec.Count {
		if m = s; e.seen[m] {
			e.fail(Finding{What: "twice", Message: m, Text: fmt.Sprintf("message %d came again", m)})
			return m, false
		}
		e.seen[m] = true
	} else if s >= 0 && e.spec.Transport != RC && s >= next && s < e.spec.Count {
		m = s // the messages in between were lost
	}
	e.noteMessage(m)
	e.compare(got, m, direction, func(off int) uint64 { return a.byteAddr(slot, off+skip, a.piece) })
	return m, true
}

// compare checks the received bytes of message m against its pattern, and counts the message if they are correct.
func (e *end) compare(got []byte, m, direction int, where func(off int) uint64) {
	want := e.want(e.expects(m))
	e.message(want, direction, m)
	e.compareBytes(got, want, m, where)
}

// expects returns the length of message m, or of its answer, that the end receives.
func (e *end) expects(m int) int {
	if e.client {
		return e.spec.answerSize(m)
	}
	return e.spec.size(m)
}

// message writes the bytes of message m.
func (e *end) message(b []byte, direction, m int) {
	pattern(b, e.spec.Seed, e.flow, direction, e.spec.patternOf(m))
	if e.spec.Notice == NoticeBytes {
		seal(b, m)
	}
}

// compareBytes compares received bytes with the expected ones, and counts the message if they are equal.
func (e *end) compareBytes(got, want []byte, m int, where func(off int) uint64) {
	if e.equal(got, want, m, where) {
		e.countMessage(len(want))
	}
}

// badLength records a message of the wrong length.
func (e *end) badLength(m, got, want int) {
	e.fail(Finding{What: "length", Message: m,
		Text: fmt.Sprintf("message %d came with %d B: expected %d", m, got, want)})
}

// equal reports whether the received bytes are the expected ones, and records the first difference.
func (e *end) equal(got, want []byte, m int, where func(off int) uint64) bool {
	size := len(want)
	if len(got) != size {
		e.badLength(m, len(got), size)
		return false
	}
	if at := differ(got, want); at >= 0 {
		e.fail(Finding{What: "byte", Message: m, Offset: at, Addr: where(at), Expected: want[at], Got: got[at],
			Text: fmt.Sprintf(
				"message %d (%d B): byte %d at %#x: expected %#02x, got %#02x", m, size, at, where(at), want[at],
				got[at])})
		return false
	}
	return true
}
