package golden

import (
	"encoding/binary"
	"fmt"

	"nictwin/golden/msix"
	"nictwin/golden/verdict"
	"nictwin/models/nic/nicspec"
)

// messageSlack is the largest number of cycles between a message's falling due and its leaving, not counting those
// in which other TLPs left or the stream was held back [M3].
const messageSlack = 1024

// messagesOf returns the tracker of the messages of a queue's domain, nil for other domains.
func (r *Referee) messagesOf(d verdict.Domain) *msix.Queue {
	switch d.Kind {
	case verdict.DomainRxq:
		return r.rx.queue(uint16(d.Index)).msgs
	case verdict.DomainTxq:
		return r.tx.queue(uint16(d.Index)).msgs
	}
	return nil
}

// message handles a write of one word that may be a message, and reports whether it is one.
func (r *Referee) message(addr uint64, data []byte) bool {
	c := r.msg.Of(addr, binary.LittleEndian.Uint32(data), r.now)
	q := c.Best()
	if !c.Known() || q == nil && r.ent.Writable.Within(addr, len(data), ofPayload) {
		return false
	}
	r.stats.Compared++
	r.cnt.Step(nicspec.CntMsix.Index(), 1, r.now)
	if q == nil {
		r.msg.Refuse(&c, r.now, r.hdr.String())
		return true
	}
	before := r.log.Latest(q.Domain())
	r.log.AddCrossing(q.Domain())
	r.checkTimely(q, before)
	r.msg.Take(&c, r.now)
	return true
}

// checkTimely checks that a message did not leave too late [M3]; before is the cycle of the latest other crossing
// of its queue.
func (r *Referee) checkTimely(q *msix.Queue, before int64) {
	due := q.DueAt()
	if due > r.now {
		return
	}
	d := q.Domain()
	r.checkBusySinceDue(q, due)
	if q.ClosedBy(due) { // while its queue is being disabled, a message falls due only when the queue has drained [M4]
		if r.draining(d) {
			return
		}
		due = max(due, before, q.Drained())
	}
	if waited := r.waited(due); waited > messageSlack {
		r.log.Fail(d, "M3", "message", fmt.Sprintf("within %d cycles of cycle %d, when it fell due", messageSlack, due),
			fmt.Sprintf("%d cycles later, not counting those of other TLPs and those in which the stream was held back",
				waited), r.hdr.String())
	}
}

// checkBusySinceDue checks that the device was busy since a message fell due. If the message falls due by its
// vector's time, the device must have been busy since it wrote the oldest completion entry that the message reports
// [M5].
func (r *Referee) checkBusySinceDue(q *msix.Queue, due int64) {
	switch {
	case q.Closing():
	case q.ByTime():
		r.mustBeBusy(q.Domain(), "a message that is due by time", q.LeftAt(), r.now)
	default:
		r.mustBeBusy(q.Domain(), "a message that is due", due, r.now)
	}
}

// draining reports whether a queue being disabled may still have a read or an entry under way.
func (r *Referee) draining(d verdict.Domain) bool {
	for i := range r.ent.Out.Tags {
		if t := &r.ent.Out.Tags[i]; t.Open && r.domainOf(t) == d {
			return true
		}
	}
	if d.Kind == verdict.DomainRxq {
		return false
	}
	q := r.tx.queue(uint16(d.Index))
	for i := q.Oldest; i != q.Ctx.PI; i = q.After(i) {
		if q.Slot(i).Entry != nil {
			return true
		}
	}
	return false
}
