package apps

import (
	"errors"
	"fmt"

	"nictwin/stack/verbs"
)

// recvBit marks the IDs of receive requests; others are numbers of messages.
const recvBit = 1 << 63

// An ID of a receive request has its ordinal, and below that the slot that it has memory in.
const slotBits = 24

// role is what an end of a flow does with what happens.
type role interface {
	sent(first, last int)               // requests of the send queue have ended well
	received(slot int, wc *verbs.WC)    // a message has come, or immediate data
	advance()                           // posts what can be posted
	done() bool                         // nothing more will happen
	areas(f func(a *area, filled bool)) // what it has memory in; filled: by others than itself
}

// end is one end of a flow.
type end struct {
	spec   *Spec
	side   *side
	index  int // among those of its side
	flow   int
	client bool
	role   role

	qp      verbs.QP
	peerQPN uint32
	way     *Way
	ah      verbs.AH
	recvs   *receives // nil: it takes none

	posted, acked int // requests of the send queue
	came          int // receive requests that ended
	messages      int // that came whole and right
	bytes         uint64

	had []bool // with AnyOrder: messages that came

	over []outcome // Solar: by request
	ring ringEnd   // nil: messages are requests

	stopped bool // by an error: it posts nothing more
	full    bool // the queue or its pipe had no room
	ready   bool // to be advanced at the end of this poll

	sends, takes []Completion
	wrong        *Wrong
	wrongs       int

	wrs    []verbs.SendWR // as many as are posted at a time
	sges   [][]verbs.SGE  // of each
	inline [][]byte       // likewise
}

// want and got are buffers for one message, shared by the ends of a side: software does one thing at a time.
func (e *end) want(n int) []byte { return e.side.want[:n] }
func (e *end) got(n int) []byte  { return e.side.got[:n] }

// fail notes the first thing that went wrong.
func (e *end) fail(w Wrong) {
	if e.wrongs++; e.wrong != nil {
		return
	}
	w.Server, w.Flow, w.Client = e.side.Name, e.flow, e.client
	e.wrong = &w
}

// check has an access to memory end the flow if it failed.
func (e *end) check(what string, err error) bool {
	if err != nil {
		e.stopped = true
		e.fail(Wrong{What: what, Message: -1, Text: err.Error()})
	}
	return err == nil
}

// post posts the first so many requests of wrs, and reports whether all were posted.
func (e *end) post(n int) bool {
	k, err := e.qp.PostSend(e.wrs[:n])
	e.posted += k
	switch {
	case err == nil && k == n:
		return true
	case err == nil:
		e.check("post_send", fmt.Errorf("post_send took %d of %d requests without an error", k, n))
	case errors.Is(err, verbs.ENOMEM):
		e.wait()
	default:
		e.check("post_send", err)
	}
	return false
}

// wait has the end try again later.
func (e *end) wait() {
	if !e.full {
		e.full = true
		e.side.full = append(e.side.full, e)
	}
}

// completed takes a completion of the end's queue pair.
func (e *end) completed(wc *verbs.WC) {
	if !e.ready {
		e.ready = true
		e.side.ready = append(e.side.ready, e)
	}
	if e.ring != nil {
		e.ringEnded(wc)
		return
	}
	if wc.Status != verbs.WCSuccess && !e.stopped {
		// What the completions before it allow is posted first, whether the error came in the same poll or in a later
		// one: otherwise the way in which completions fall into polls would decide how many requests there are. Of an
		// end that waits for room, time decides that all the same: whether a pipe had some before the error is up to
		// its stack.
		e.role.advance()
		e.stopped = true
	}
	if wc.ID&recvBit != 0 {
		e.recvEnded(wc)
	} else {
		e.sendEnded(wc)
	}
}

// sendEnded takes the end of a request, and with it of the earlier ones that had no completion of their own.
func (e *end) sendEnded(wc *verbs.WC) {
	if !e.spec.Transport.ordered() {
		e.endedAlone(wc)
		return
	}
	m := int(wc.ID)
	c := Completion{ID: wc.ID, Status: wc.Status, Message: m}
	if wc.Status == verbs.WCSuccess {
		c.Opcode, c.Flags = wc.Opcode, wc.Flags
	}
	e.sends = append(e.sends, c)
	if m < e.acked || m >= e.posted {
		e.fail(Wrong{What: "order", Message: m, Text: fmt.Sprintf("the completion of request %d (%v): expected one "+
			"of %d to %d", m, wc.Status, e.acked, e.posted-1)})
		return
	}
	if wc.Status != verbs.WCSuccess {
		e.acked = m + 1
		return
	}
	if next := e.spec.signalled(e.acked); m != next {
		e.fail(Wrong{What: "order", Message: m, Text: fmt.Sprintf("the completion of request %d: expected that of "+
			"request %d before", m, next)})
	}
	if want := e.spec.opcode(m).Completion(); wc.Opcode != want {
		e.fail(Wrong{What: "opcode", Message: m, Text: fmt.Sprintf("request %d ended as %v: expected %v", m, wc.Opcode,
			want)})
	}
	first := e.acked
	e.acked = m + 1
	e.role.sent(first, m)
}

// recvEnded takes the end of a receive request.
func (e *end) recvEnded(wc *verbs.WC) {
	slot := int(wc.ID & (1<<slotBits - 1))
	c := Completion{ID: wc.ID &^ recvBit >> slotBits, Recv: true, Status: wc.Status, Message: -1}
	if !e.spec.SharedReceive && !e.spec.LowLatency && int(c.ID) != e.came {
		e.fail(Wrong{What: "order", Message: e.came, Text: fmt.Sprintf("the completion of receive request %d: "+
			"expected that of %d", c.ID, e.came)})
	}
	e.came++
	if wc.Status != verbs.WCSuccess {
		e.takes = append(e.takes, c)
		return
	}
	c.Opcode, c.Flags, c.Bytes = wc.Opcode, wc.Flags, wc.ByteLen
	if wc.Flags&verbs.WCWithImm != 0 {
		c.Imm = wc.Imm
	}
	e.takes = append(e.takes, c)
	e.role.received(slot, wc)
}

// took notes which message the last receive request had.
func (e *end) took(message int) { e.takes[len(e.takes)-1].Message = message }

// arrived checks a message that came into a slot, and returns its number; ok is false if that is not known.
func (e *end) arrived(slot int, wc *verbs.WC, direction, next int) (m int, ok bool) {
	skip := e.spec.header()
	n, a := int(wc.ByteLen)-skip, &e.recvs.area
	if e.spec.Transport == UD && wc.SrcQP != e.peerQPN {
		e.fail(Wrong{What: "src_qp", Message: next, Text: fmt.Sprintf("a message from queue pair %#x: expected %#x",
			wc.SrcQP, e.peerQPN)})
	}
	if n < 0 || n > len(e.side.got) {
		e.fail(Wrong{What: "length", Message: next,
			Text: fmt.Sprintf("a message of %d B: expected %d", n, e.spec.size(next))})
		return next, false
	}
	if e.spec.Transport == Raw && !e.addressed(a, slot, next) {
		return next, false
	}
	if e.spec.Payload == Reused {
		e.took(next)
		if want := e.spec.size(next); n != want {
			e.length(next, n, want)
		} else {
			e.counted(n)
		}
		return next, true
	}
	got := e.got(n)
	if !e.check("load", a.load(e.side.Core, slot, skip, a.piece, got)) {
		return next, false
	}
	m = next
	if s := stamp(got); e.spec.AnyOrder && s >= 0 && s < e.spec.Count {
		if m = s; e.had[m] {
			e.fail(Wrong{What: "twice", Message: m, Text: fmt.Sprintf("message %d came again", m)})
			return m, false
		}
		e.had[m] = true
	} else if s >= 0 && e.spec.Transport != RC && s >= next && s < e.spec.Count {
		m = s // those between were lost
	}
	e.took(m)
	e.compare(got, m, direction, func(off int) uint64 { return a.where(slot, off+skip, a.piece) })
	return m, true
}

// compare holds the bytes of a message to what they must be.
func (e *end) compare(got []byte, m, direction int, where func(off int) uint64) {
	want := e.want(e.spec.size(m))
	pattern(want, e.spec.Seed, e.flow, direction, e.spec.source(m))
	e.match(got, want, m, where)
}

// match holds bytes that came to those that had to, and counts the message if they are the same.
func (e *end) match(got, want []byte, m int, where func(off int) uint64) {
	if e.same(got, want, m, where) {
		e.counted(len(want))
	}
}

// length notes a message that came with too few or too many bytes.
func (e *end) length(m, got, want int) {
	e.fail(Wrong{What: "length", Message: m, Text: fmt.Sprintf("message %d came with %d B: expected %d", m, got, want)})
}

// same reports whether bytes that came are those that had to.
func (e *end) same(got, want []byte, m int, where func(off int) uint64) bool {
	size := len(want)
	if len(got) != size {
		e.length(m, len(got), size)
		return false
	}
	if at := differ(got, want); at >= 0 {
		e.fail(Wrong{What: "byte", Message: m, Offset: at, Addr: where(at), Expected: want[at], Got: got[at],
			Text: fmt.Sprintf(
				"message %d (%d B): byte %d at %#x: expected %#02x, got %#02x", m, size, at, where(at), want[at],
				got[at])})
		return false
	}
	return true
}
