package golden

import (
	"fmt"

	"nictwin/golden/arrivals"
	"nictwin/golden/attribution"
	"nictwin/golden/buffers"
	"nictwin/golden/memory"
	"nictwin/golden/msix"
	"nictwin/golden/rings"
	"nictwin/models/nic/core"
	"nictwin/models/nic/nicspec"
)

// rxq tracks one receive queue.
type rxq struct {
	buffers.Queue
	was   core.Queue // context of the queue before it was last enabled
	epoch uint32     // number of enablings

	open     bool  // enabled, or being disabled
	draining bool  // being disabled
	since    int64 // cycle of the latest enabling
	shown    bool  // a read has shown that the queue is enabled

	// Last cycle in which the queue may have been off, or in the error state, for the purpose of dropping frames
	// [R12]: never if it was not, forever if it still may be.
	offTo, errTo int64

	doubtfulPI uint16 // producer index in a doubtful doorbell
	doubtful   bool
	doorbells  rings.Doorbells
	bad        rings.Failures
	recent     rings.Recent
	eventSeen  bool
	msgs       *msix.Queue

	frames  []arrivals.List
	pending int             // number of undecided frames that may go to this queue and have only one possible verdict
	seen    []deliveredLast // latest delivered frame, by port
}

// deliveredLast is the number of the latest delivered frame.
type deliveredLast struct {
	any bool
	seq uint32
}

func (q *rxq) init(id, ports int) {
	*q = rxq{Queue: buffers.Queue{ID: id}, offTo: forever, errTo: never, frames: make([]arrivals.List, ports),
		seen: make([]deliveredLast, ports)}
}

// ringRanges adds the memory of a queue's rings to the ranges that the device may read and write, or removes it.
func (r *Referee) ringRanges(ctx *core.Queue, id int, rx, enter bool) {
	n, entry := int(ctx.Size()), nicspec.WqeBytes
	ring, cq := attribution.Owner{Kind: memory.TxRing, Queue: uint16(id)},
		attribution.Owner{Kind: memory.TxCq, Queue: uint16(id)}
	if rx {
		entry, ring.Kind, cq.Kind = nicspec.RxDescBytes, memory.RxRing, memory.RxCq
	}
	if enter {
		r.ent.Readable.Add(ctx.RingBase, n*entry, ring)
		r.ent.Writable.Add(ctx.CqBase, n*nicspec.CqeBytes, cq)
		return
	}
	r.ent.Readable.Remove(ctx.RingBase, n*entry, ring)
	r.ent.Writable.Remove(ctx.CqBase, n*nicspec.CqeBytes, cq)
}

// enableRx starts a receive queue [Q5].
func (r *Referee) enableRx(i int) {
	q := r.rx.queue(uint16(i))
	if q.open {
		r.closeRx(q)
	}
	r.keepCauses(q)
	q.was = q.Ctx
	q.Ctx = *r.regs.Rxq(i)
	q.epoch++
	q.open, q.draining, q.since, q.shown = true, false, r.now, false
	q.offTo = r.now + nicspec.VisibleCycles
	if q.errTo == forever {
		q.errTo = q.offTo
	}
	q.doubtful, q.eventSeen, q.bad = false, false, q.bad[:0]
	q.doorbells.Reset()
	q.recent.Reset()
	q.msgs.Enable(&q.Ctx.Vector)
	if want := 2 * int(q.Ctx.Size()); len(q.Slots) != want {
		q.Slots = make([]buffers.Slot, want)
	}
	for k := range q.Slots {
		q.Slots[k] = buffers.Slot{Q: &q.Queue}
	}
	r.ringRanges(&q.Ctx, i, true, true)
}

// keepCauses records the causes for which undecided frames may have been dropped under q.was, an earlier context of
// the queue that is about to be overwritten.
func (r *Referee) keepCauses(q *rxq) {
	for i := range r.rx.ports {
		p := &r.rx.ports[i]
		for k := range p.Undecided.Len() {
			f := *p.Undecided.At(k)
			if f == nil || f.Place == arrivals.ToDrop {
				continue
			}
			if _, same := underPresentContext(f, q); same {
				continue
			}
			if f.Place != arrivals.Unsure && canReach(&f.Verdict, q.ID) {
				f.Earlier |= r.runCauses(&q.was, &f.Verdict, f.N, true)
			}
			for a := range f.Alts {
				if v := &f.Alts[a]; f.Place == arrivals.Unsure && canReach(v, q.ID) {
					f.Earlier |= r.runCauses(&q.was, v, f.N, true)
				}
			}
		}
	}
}

// drainRx begins the disabling of a receive queue.
func (r *Referee) drainRx(i int) {
	q := r.rx.queue(uint16(i))
	q.draining, q.offTo = true, forever
	q.msgs.Close(r.now)
}

// closeRx ends the disabling: from now on the device must do nothing for the queue.
func (r *Referee) closeRx(q *rxq) {
	r.checkNoReads(q.Domain(), true, q.ID, q.epoch)
	r.endEvent(q.Domain(), "Q4", q.bad, q.eventSeen, r.bar.drainAt)
	q.msgs.Disabled()
	r.forgetRx(q, "Q5", "busy")
}

// forgetRx clears the state of a closed queue. It checks that no frame is being delivered: the register field that
// `field` names (busy or flr) has just been read as 0, which says so.
func (r *Referee) forgetRx(q *rxq, rule, field string) {
	for k := range q.Slots {
		s := &q.Slots[k]
		if s.State == rings.Fetched {
			for part := range s.Parts {
				if sh := s.Parts[part]; sh != nil {
					r.log.Fail(q.Domain(), rule, field, "1 while a frame is being delivered", "0",
						buffers.Text(q.ID, s.Index, part, sh.Have.End()))
				}
			}
			r.buf.Forget(s)
		}
		*s = buffers.Slot{Q: &q.Queue}
	}
	r.buf.Unclaimed(func(addr uint64, n int) {
		r.log.Fail(q.Domain(), rule, field, "1 while a frame is being delivered", "0",
			fmt.Sprintf("%d B at %#x, in buffers that overlap", n, addr))
	})
	r.ringRanges(&q.Ctx, q.ID, true, false)
	q.open, q.draining = false, false
	if q.errTo == forever {
		q.errTo = r.now
	}
	r.buf.Last = nil
}

// rung records an accepted doorbell.
func (q *rxq) rung(pi uint16, cycle int64) {
	q.Ctx.PI = pi
	q.doubtful = false
	q.doorbells.Rung(pi, cycle)
}

// postedBefore returns the producer index set by the doorbells accepted before a cycle.
func (q *rxq) postedBefore(cycle int64) uint16 { return q.doorbells.Before(cycle, q.Ctx.CI) }

// descsIn records the descriptors that a read brought.
func (r *Referee) descsIn(d *attribution.Read) {
	q := r.rx.queue(d.Queue)
	for i := range int(d.Count) {
		r.buf.Enter(q.Slot(d.First+uint16(i)), d.Buf[i*nicspec.RxDescBytes:], r.now)
	}
}

// descsBad records a read of descriptors that failed, or may have [Q4].
func (r *Referee) descsBad(d *attribution.Read, s nicspec.Status, sure bool) {
	q := r.rx.queue(d.Queue)
	if sure {
		for i := range d.Count {
			q.Slot(d.First + i).State = rings.Bad
		}
	}
	q.bad = append(q.bad, d.BadAs(s, sure, r.now))
	r.cnt.May(nicspec.CntDbBad.Index(), q.recent.Take(r.now))
	q.errTo = forever
}
