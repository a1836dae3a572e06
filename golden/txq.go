package golden

import (
	"fmt"

	"nictwin/golden/rings"
	"nictwin/models/nicspec"
	"nictwin/models/tlp"
)

// txSide is what is known of the transmit side.
type txSide struct {
	queues []txq
	copied *txEntry   // whose write was the latest
	msg    tlp.Packet // a message as it should be
	event  FrameEvent

	// Since when CTRL.tx_enable is 0 for certain; forever while it may be 1.
	offSince int64
}

// txq is what is known of one transmit queue.
type txq struct {
	entryQueue

	draining bool
	since    int64 // enabled
	shown    bool  // a read has shown that it is

	fetch uint16 // first entry that was not posted while the device could fetch [T1]
	emit  uint16 // first entry that may still send a frame

	doubtfulPI uint16 // producer index that a doubtful doorbell asked for
	doubtful   bool
	push       [nicspec.WqeBytes]byte // what came with it,
	mayPush    bool                   // if something did
	before     uint16                 // producer index before the doorbells of late, and the latest of them
	rungAt     int64
	bad        rings.Failures
	recent     rings.Recent
	eventSeen  bool
	reports

	silent uint64 // entries that end without a trace, not known to have ended
}

func (s *txSide) init(build *nicspec.Build) {
	s.queues = make([]txq, build.NumTxq)
	s.offSince = never
	for i := range s.queues {
		s.queues[i].id = i
	}
}

// enableTx starts a transmit queue [T11].
func (r *Referee) enableTx(i int) {
	q := r.tx.queue(uint16(i))
	if q.open {
		r.closeTx(q)
	}
	q.ctx = *r.regs.Txq(i)
	q.epoch++
	q.open, q.draining, q.doubtful, q.eventSeen, q.bad = true, false, false, false, q.bad[:0]
	q.recent.Reset()
	q.reports.reset()
	q.oldest, q.emit, q.whole, q.since, q.shown, q.silent = 0, 0, 0, r.now, false, 0
	q.sends, q.copies = false, false
	q.fetch, q.before, q.rungAt = 0, 0, never
	if want := 2 * int(q.ctx.Size()); len(q.slots) != want {
		q.slots = make([]txSlot, want)
	}
	clear(q.slots)
	r.ringRanges(&q.ctx, i, false, true)
}

// rung notes an accepted doorbell.
func (q *txq) rung(pi uint16, cycle int64) {
	q.before = q.leastPI(cycle)
	q.ctx.PI, q.doubtful, q.rungAt = pi, false, cycle
}

// leastPI is the least that the producer index may show: doorbells of late may not have taken effect [G4].
func (q *txq) leastPI(cycle int64) uint16 {
	if q.rungAt != never && cycle <= q.rungAt+nicspec.VisibleCycles {
		return q.before
	}
	return q.ctx.PI
}

// fetchable notes which entries the device may fetch: those posted while
// CTRL.tx_enable may be 1.
func (r *Referee) fetchable(q *txq) {
	if r.tx.offSince > r.now {
		q.fetch = q.ctx.PI
	}
}

// fetching checks that entries which are being read may be [T1].
func (r *Referee) fetching(q *txq, first, count uint16) {
	if last := first + count - 1; r.tx.offSince <= r.now && int16(last-q.fetch) >= 0 {
		r.log.Fail(q.domain(), "T1", "tx_enable", "1 when an entry is fetched", "0", fmt.Sprintf("entries %d..%d", first, last), r.hdr.String())
	}
}

// drainTx begins the disabling of a transmit queue.
func (r *Referee) drainTx(i int) {
	q := r.tx.queue(uint16(i))
	q.draining = true
	r.closeReports(&q.reports)
}

// closeTx ends the disabling: entries that were started have ended.
func (r *Referee) closeTx(q *txq) {
	r.quietReads(q.domain(), false, q.id, q.epoch)
	r.endEvent(q.domain(), "T2", q.bad, q.eventSeen, r.bar.drainAt)
	r.closedReports(&q.reports, q.domain())
	r.forgetTx(q, "T11", "busy")
}

// forgetTx ends what is known of a queue that was closed; no entry is at work,
// as the field of a register that was read says.
func (r *Referee) forgetTx(q *txq, rule, field string) {
	for i := q.oldest; i != q.ctx.PI; i = q.after(i) {
		s := q.slot(i)
		if e := s.entry; e != nil {
			if e.started() && !e.mayBeOver() && !r.ent.shared(e) {
				r.failEntry(e, q.domain(), rule, field, "1 while an entry is at work", "0")
			}
			r.uncertainEnd(e)
			q.forget(e)
			r.ent.release(e)
		}
	}
	r.ringRanges(&q.ctx, q.id, false, false)
	r.ent.freeBlocks(&q.entryQueue)
	q.oldest, q.emit, q.whole = q.ctx.PI, q.ctx.PI, q.ctx.PI
	q.open, q.draining = false, false
}

// uncertainEnd counts an entry of which it is not known whether it ended.
func (r *Referee) uncertainEnd(e *txEntry) {
	r.cnt.May(nicspec.CntTxWqe.Index(), 1)
	r.cnt.May(nicspec.CntTxErr.Index(), 1)
}

// wqesIn takes the work entries that a read brought.
func (r *Referee) wqesIn(d *readReq) {
	q := r.tx.queue(d.queue)
	for i := range d.count {
		s := q.slot(d.first + i)
		if s.state != rings.Asked {
			continue
		}
		r.ent.blockIn(&q.entryQueue, d.first+i, rings.There, d.buf[int(i)*nicspec.WqeBytes:])
	}
	r.wholeEntries(q)
}

// wholeEntries begins with the entries of which all blocks are there, in the
// order of the ring [T14].
func (r *Referee) wholeEntries(q *txq) {
	for e := r.ent.nextWhole(&q.entryQueue); e != nil; e = r.ent.nextWhole(&q.entryQueue) {
		r.there(e)
	}
	r.settleEntries(q)
}

// there begins with an entry that the device has.
func (r *Referee) there(e *txEntry) {
	r.ent.at++
	r.ent.begin(e, r.regs.Keys())
	if r.tx.of(e).bad.Reach(e.last()) {
		r.ent.unreachable(e)
	} else if !r.bar.keys.Sure(r.now) {
		r.ent.alternate(e, r.bar.keys.Before(r.now))
	}
}

// wqesBad notes a read of work entries that failed, or may have [T2].
func (r *Referee) wqesBad(d *readReq, s nicspec.Status, sure bool) {
	q := r.tx.queue(d.queue)
	if sure {
		for i := range d.count {
			q.slot(d.first + i).state = rings.Bad
		}
		for i := d.first; i-q.oldest < q.ctx.PI-q.oldest; i++ {
			if e := q.slot(i).entry; e != nil {
				r.ent.unreachable(e)
			}
		}
	}
	q.bad = append(q.bad, d.badAs(s, sure, r.now))
	r.cnt.May(nicspec.CntDbBad.Index(), q.recent.Take(r.now))
}

// settleEntries lets go of the oldest entries as far as nothing of them is to
// come any more.
func (r *Referee) settleEntries(q *txq) {
	for q.oldest != q.ctx.PI {
		s := q.slot(q.oldest)
		e := s.entry
		switch {
		case e == nil, e.plan.Complete, e.plan.Status != nicspec.StatusOk, e.alt != nil,
			!e.left && (e.works() || !q.bad.AllBehind(e.last())), // it ends only if no read of its blocks has failed
			!e.left && s.state == rings.Pushed && int16(q.ctx.CI-q.oldest) <= 0:
			return
		}
		if q.emit == q.oldest {
			q.emit += e.blocks
		}
		r.entryOver(q, s)
	}
}

// entryOver counts the oldest entry as ended and forgets it.
func (r *Referee) entryOver(q *txq, s *txSlot) {
	if s.entry.left {
		r.silentEnded(q)
		r.cnt.Step(nicspec.CntTxWqe.Index(), 1, r.now)
	} else {
		r.cnt.May(nicspec.CntTxWqe.Index(), 1) // no output tells when, or whether before the queue is disabled
		q.silent++
	}
	e := s.entry
	q.forget(e)
	r.ent.release(e)
}

// silentEnded says that the entries that end without a trace have ended.
func (r *Referee) silentEnded(q *txq) {
	r.cnt.Confirm(nicspec.CntTxWqe.Index(), q.silent)
	q.silent = 0
}

// ended notes that the device has ended the entries before an index.
func (r *Referee) ended(q *txq, index uint16) {
	if d := index - q.ctx.CI; d == 0 || d > 1<<nicspec.LogSizeMax {
		return
	}
	q.ctx.CI = index
	if !q.draining {
		r.regs.Txq(q.id).CI = index
	}
}

// roomFor notes what an accepted doorbell shows: whatever is more than the ring
// holds behind its index has ended [Q2].
func (r *Referee) roomFor(q *txq, pi uint16) {
	if size := q.ctx.Size(); pi-q.ctx.CI > size {
		r.ended(q, pi-size)
	}
}
