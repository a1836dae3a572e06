package golden

import (
	"encoding/binary"
	"fmt"

	"nictwin/golden/attribution"
	"nictwin/golden/memory"
	"nictwin/golden/verdict"
	"nictwin/models/nic/core"
	"nictwin/models/nicspec"
)

// msgSide is the messages of all queues.
type msgSide struct {
	shared []sharedVector
}

// sharedVector is a message of several queues, of which more must come than
// can be said of a single queue.
type sharedVector struct {
	addr uint64
	data uint32
	owed int
}

// messageSlack is the longest time from a message's falling due to its leaving,
// while nothing else leaves and nothing holds it back [M3].
const messageSlack = 1024

// entryLeft notes that a completion entry of a queue left.
func (r *Referee) entryLeft(w *reports, ctx *core.Queue, event bool) {
	if ctx.Addr == 0 {
		return
	}
	if w.least.Unreported() == 0 {
		w.leftAt = r.now
	}
	w.most.Wrote(&ctx.Vector, event, r.now)
	w.least.Wrote(&ctx.Vector, event, r.now)
}

func (w *reports) told() { w.least.Sent() }

// reportsOf is a queue's reports and context.
func (r *Referee) reportsOf(o *attribution.Owner) (*reports, *core.Queue, verdict.Domain) {
	if o.Part == partRx {
		q := r.rx.queue(o.Queue)
		return &q.reports, &q.ctx, q.domain()
	}
	q := r.tx.queue(o.Queue)
	return &q.reports, &q.Ctx, q.Domain()
}

// reportsBy is those of the queue that a domain is, if it is one.
func (r *Referee) reportsBy(d verdict.Domain) *reports {
	switch d.Kind {
	case verdict.DomainRxq:
		return &r.rx.queue(uint16(d.Index)).reports
	case verdict.DomainTxq:
		return &r.tx.queue(uint16(d.Index)).reports
	}
	return nil
}

// The parts of an owner of kind memory.Msg.
const (
	partTx = iota
	partRx
)

// messageChoice is the queues that may have sent a message.
type messageChoice struct {
	named *attribution.Owner // one whose address it is
	match bool               // of one the data is right, too
	best  *attribution.Owner // may have sent it, and had to before the others
	may   int                // queues that may have
	must  int                // of which a message is surely due
}

// messageOf finds the queues whose message a write can be.
func (r *Referee) messageOf(addr uint64, data uint32) (c messageChoice) {
	first := int64(forever)
	for node := r.ent.Writable.First(addr); node != nil; node = r.ent.Writable.Next(node) {
		if node.Owner.Kind != memory.Msg || node.Lo != addr {
			continue
		}
		w, ctx, _ := r.reportsOf(&node.Owner)
		if c.named == nil || !c.match && ctx.Data == data {
			c.named = &node.Owner
		}
		if ctx.Data != data {
			continue
		}
		c.match = true
		if w.most.DueAt() > r.now {
			continue
		}
		c.may++
		due := w.least.DueAt()
		if due <= r.now {
			c.must++
		}
		if c.best == nil || due < first {
			c.best, first = &node.Owner, due
		}
	}
	return c
}

// message takes a write that may be a message, and reports whether it is one.
func (r *Referee) message(addr uint64, data []byte) bool {
	value := binary.LittleEndian.Uint32(data)
	c := r.messageOf(addr, value)
	if c.named == nil || c.may == 0 && r.ent.Writable.Within(addr, len(data), ofPayload) {
		return false
	}
	r.stats.Compared++
	r.cnt.Step(nicspec.CntMsix.Index(), 1, r.now)
	if c.may == 0 {
		r.failMessage(&c, value)
		return true
	}
	w, _, d := r.reportsOf(c.best)
	before := r.log.Latest(d)
	r.log.Saw(d)
	r.timely(w, c.best, before)
	if paid := r.pay(addr, value, c.must); c.may == 1 && !paid {
		w.most.Sent()
		w.told()
		return true
	}
	r.share(addr, value, c.must)
	return true
}

// share notes a message that several queues may have sent: of each, all entries
// may have been reported by it, or none.
func (r *Referee) share(addr uint64, data uint32, must int) {
	for node := r.ent.Writable.First(addr); node != nil; node = r.ent.Writable.Next(node) {
		if node.Owner.Kind != memory.Msg || node.Lo != addr {
			continue
		}
		if w, ctx, _ := r.reportsOf(&node.Owner); ctx.Data == data && w.most.DueAt() <= r.now {
			w.told()
		}
	}
	if must <= 1 {
		return
	}
	for i := range r.msg.shared {
		if s := &r.msg.shared[i]; s.addr == addr && s.data == data {
			s.owed = max(s.owed, must-1)
			return
		}
	}
	r.msg.shared = append(r.msg.shared, sharedVector{addr, data, must - 1})
}

// pay counts a message against those that several queues owe. It reports
// whether there were any.
func (r *Referee) pay(addr uint64, data uint32, must int) bool {
	for i := range r.msg.shared {
		if s := &r.msg.shared[i]; s.addr == addr && s.data == data && s.owed > 0 {
			s.owed = max(s.owed, must) - 1
			return true
		}
	}
	return false
}

// timely checks that a message did not come too late [M3]; before is the cycle
// of its queue's latest crossing but for it.
func (r *Referee) timely(w *reports, o *attribution.Owner, before int64) {
	due := w.least.DueAt()
	if due > r.now {
		return
	}
	_, _, d := r.reportsOf(o)
	r.owed(w, o, due)
	if w.closing && due >= w.closed { // then it falls due when the queue has drained [M4]
		if r.draining(o, d) {
			return
		}
		due = max(due, before, w.ended)
	}
	if waited := r.waited(due); waited > messageSlack {
		r.log.Fail(d, "M3", "message", fmt.Sprintf("within %d cycles of cycle %d, when it fell due", messageSlack, due),
			fmt.Sprintf("%d cycles later, not counting those of other TLPs and those in which the stream was held back", waited), r.hdr.String())
	}
}

// owed says that the device was busy with a message since it fell due, or was to
// fall due by time [M5].
func (r *Referee) owed(w *reports, o *attribution.Owner, due int64) {
	_, ctx, d := r.reportsOf(o)
	switch {
	case w.closing:
	case ctx.Cycles != 0:
		r.mustBeBusy(d, "a message that is due by time", w.leftAt, r.now)
	default:
		r.mustBeBusy(d, "a message that is due", due, r.now)
	}
}

// draining reports whether a queue that is being disabled may have something
// under way: a read, an entry.
func (r *Referee) draining(o *attribution.Owner, d verdict.Domain) bool {
	for i := range r.ent.Out.Tags {
		if t := &r.ent.Out.Tags[i]; t.Open && r.domainOf(t) == d {
			return true
		}
	}
	if o.Part == partRx {
		return false
	}
	q := r.tx.queue(o.Queue)
	for i := q.Oldest; i != q.Ctx.PI; i = q.After(i) {
		if q.Slot(i).Entry != nil {
			return true
		}
	}
	return false
}

// failMessage reports a message that no queue can have sent.
func (r *Referee) failMessage(c *messageChoice, data uint32) {
	w, ctx, d := r.reportsOf(c.named)
	r.log.Saw(d)
	if !c.match {
		r.log.Fail(d, "M1", "msix_data", fmt.Sprintf("%#x", ctx.Data), fmt.Sprintf("%#x", data), r.hdr.String())
		return
	}
	want := "none: all entries have been reported"
	if n := w.most.Unreported(); n > 0 {
		want = fmt.Sprintf("none yet: %d unreported, mod_count %d, mod_cycles %d", n, ctx.Count, ctx.Cycles)
		if at := w.most.DueAt(); at != core.Never {
			want += fmt.Sprintf(", due at cycle %d", at)
		}
	}
	r.log.Fail(d, "M3", "message", want, fmt.Sprintf("one in cycle %d", r.now), r.hdr.String())
}

// endMessages checks that all messages came [M3, M5].
func (r *Referee) endMessages() {
	for i := range r.rx.queues {
		q := &r.rx.queues[i]
		r.endMessage(&q.reports, q.domain())
	}
	for i := range r.tx.queues {
		q := &r.tx.queues[i]
		r.endMessage(&q.reports, q.Domain())
	}
	for _, s := range r.msg.shared {
		if s.owed > 0 {
			r.log.Fail(verdict.Device, "M3", "message", fmt.Sprintf("%d more of %#x to %#x, which several queues share", s.owed, s.data, s.addr), "none")
		}
	}
}

func (r *Referee) endMessage(w *reports, d verdict.Domain) {
	if at := w.least.DueAt(); at != core.Never {
		r.log.Fail(d, "M3", "message", fmt.Sprintf("one, due in cycle %d: %d entries are unreported", at, w.least.Unreported()), "none")
	}
}

// messagesDue is how far the counter of messages may be ahead.
func (r *Referee) messagesDue() (n uint64) {
	for i := range r.rx.queues {
		if r.rx.queues[i].most.DueAt() <= r.now {
			n++
		}
	}
	for i := range r.tx.queues {
		if r.tx.queues[i].most.DueAt() <= r.now {
			n++
		}
	}
	return n
}
