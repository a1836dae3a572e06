package golden

import (
	"fmt"

	"nictwin/golden/attribution"
	"nictwin/golden/msix"
	"nictwin/golden/rings"
	"nictwin/models/format/tlp"
	"nictwin/models/nic/nicspec"
)

// txSide tracks the transmit side of the device.
type txSide struct {
	queues []txq
	copied *attribution.Entry // copy that made the latest write
	msg    tlp.Packet         // scratch memory for an expected message
	event  FrameEvent

	// Cycle since which CTRL.tx_enable is certainly 0; forever while it may be 1.
	offSince int64
}

// txq tracks one transmit queue.
type txq struct {
	attribution.Queue

	draining bool
	since    int64 // cycle of the latest enabling
	shown    bool  // a read has shown that the queue is enabled

	fetch uint16 // index of the first entry that was not posted when CTRL.tx_enable was last 1 [T1]
	emit  uint16 // index of the first entry that may still send a frame

	doubtfulPI uint16 // producer index in a doubtful doorbell
	doubtful   bool
	push       [nicspec.WqeBytes]byte // entry that came with the doubtful doorbell
	mayPush    bool                   // `push` holds an entry
	// before is the producer index without the doorbells that may not have taken effect; rungAt is the cycle of the
	// latest of these.
	before    uint16
	rungAt    int64
	bad       rings.Failures
	recent    rings.Recent
	eventSeen bool
	msgs      *msix.Queue

	silent uint64 // entries that gave no output and may not have ended yet
}

func (s *txSide) init(build *nicspec.Build) {
	s.queues = make([]txq, build.NumTxq)
	s.offSince = never
	for i := range s.queues {
		s.queues[i].ID = i
	}
}

// enableTx starts a transmit queue [T11].
func (r *Referee) enableTx(i int) {
	q := r.tx.queue(uint16(i))
	if q.Open {
		r.closeTx(q)
	}
	q.Ctx = *r.regs.Txq(i)
	q.Epoch++
	q.Open, q.draining, q.doubtful, q.eventSeen, q.bad = true, false, false, false, q.bad[:0]
	q.recent.Reset()
	q.msgs.Enable(&q.Ctx.Vector)
	q.Oldest, q.emit, q.Whole, q.since, q.shown, q.silent = 0, 0, 0, r.now, false, 0
	q.Sends, q.Copies = false, false
	q.fetch, q.before, q.rungAt = 0, 0, never
	if want := 2 * int(q.Ctx.Size()); len(q.Slots) != want {
		q.Slots = make([]attribution.Slot, want)
	}
	clear(q.Slots)
	r.ringRanges(&q.Ctx, i, false, true)
}

// rung records an accepted doorbell.
func (q *txq) rung(pi uint16, cycle int64) {
	q.before = q.leastPI(cycle)
	q.Ctx.PI, q.doubtful, q.rungAt = pi, false, cycle
}

// leastPI returns the lowest producer index that the queue's table entry may show: recent doorbells may not have
// taken effect [G4].
func (q *txq) leastPI(cycle int64) uint16 {
	if q.rungAt != never && cycle <= q.rungAt+nicspec.VisibleCycles {
		return q.before
	}
	return q.Ctx.PI
}

// fetchable records that the device may fetch the posted entries, if CTRL.tx_enable may be 1.
func (r *Referee) fetchable(q *txq) {
	if r.tx.offSince > r.now {
		q.fetch = q.Ctx.PI
	}
}

// checkFetch checks that the device may fetch the entries being read [T1].
func (r *Referee) checkFetch(q *txq, first, count uint16) {
	if last := first + count - 1; r.tx.offSince <= r.now && int16(last-q.fetch) >= 0 {
		r.log.Fail(q.Domain(), "T1", "tx_enable", "1 when an entry is fetched", "0",
			fmt.Sprintf("entries %d..%d", first, last), r.hdr.String())
	}
}

// drainTx begins the disabling of a transmit queue.
func (r *Referee) drainTx(i int) {
	q := r.tx.queue(uint16(i))
	q.draining = true
	q.msgs.Close(r.now)
}

// closeTx ends the disabling: every started entry must have ended.
func (r *Referee) closeTx(q *txq) {
	r.checkNoReads(q.Domain(), false, q.ID, q.Epoch)
	r.endEvent(q.Domain(), "T2", q.bad, q.eventSeen, r.bar.drainAt)
	q.msgs.Disabled()
	r.forgetTx(q, "T11", "busy")
}

// forgetTx clears the state of a closed queue. It checks that no entry is at work, because a read has just returned 0
// for the register field that the parameter names ("busy" or "flr").
func (r *Referee) forgetTx(q *txq, rule, field string) {
	for i := q.Oldest; i != q.Ctx.PI; i = q.After(i) {
		s := q.Slot(i)
		if e := s.Entry; e != nil {
			if e.Started() && !e.MayBeOver() && !r.ent.Shared(e) {
				r.failEntry(e, q.Domain(), rule, field, "1 while an entry is at work", "0")
			}
			r.uncertainEnd(e)
			q.Forget(e)
			r.ent.Release(e)
		}
	}
	r.ringRanges(&q.Ctx, q.ID, false, false)
	r.ent.FreeBlocks(&q.Queue)
	q.Oldest, q.emit, q.Whole = q.Ctx.PI, q.Ctx.PI, q.Ctx.PI
	q.Open, q.draining = false, false
}

// uncertainEnd counts an entry that may or may not have ended.
func (r *Referee) uncertainEnd(e *attribution.Entry) {
	r.cnt.May(nicspec.CntTxWqe.Index(), 1)
	r.cnt.May(nicspec.CntTxErr.Index(), 1)
}

// wqesIn records the work entries that a read brought.
func (r *Referee) wqesIn(d *attribution.Read) {
	q := r.tx.queue(d.Queue)
	for i := range d.Count {
		s := q.Slot(d.First + i)
		if s.State != rings.Asked {
			continue
		}
		r.ent.BlockIn(&q.Queue, d.First+i, rings.Fetched, d.Buf[int(i)*nicspec.WqeBytes:])
	}
	r.wholeEntries(q)
}

// wholeEntries starts work on the entries that have arrived with all their blocks, in ring order [T14].
func (r *Referee) wholeEntries(q *txq) {
	for e := r.ent.NextWhole(&q.Queue); e != nil; e = r.ent.NextWhole(&q.Queue) {
		r.beginEntry(e)
	}
	r.settleEntries(q)
}

// beginEntry starts work on an entry that the device has.
func (r *Referee) beginEntry(e *attribution.Entry) {
	r.ent.Begin(e, r.regs.Keys())
	if r.tx.of(e).bad.Reach(e.Last()) {
		r.ent.Unreachable(e)
	} else if !r.bar.keys.Sure(r.now) {
		r.ent.Alternate(e, r.bar.keys.Before(r.now))
	}
}

// wqesBad records a read of work entries that failed, or may have [T2].
func (r *Referee) wqesBad(d *attribution.Read, s nicspec.Status, sure bool) {
	q := r.tx.queue(d.Queue)
	if sure {
		for i := range d.Count {
			q.Slot(d.First + i).State = rings.Bad
		}
		for i := d.First; i-q.Oldest < q.Ctx.PI-q.Oldest; i++ {
			if e := q.Slot(i).Entry; e != nil {
				r.ent.Unreachable(e)
			}
		}
	}
	q.bad = append(q.bad, d.BadAs(s, sure, r.now))
	r.cnt.May(nicspec.CntDbBad.Index(), q.recent.Take(r.now))
}

// settleEntries ends the oldest entries that owe no further output.
func (r *Referee) settleEntries(q *txq) {
	for q.Oldest != q.Ctx.PI {
		s := q.Slot(q.Oldest)
		e := s.Entry
		switch {
		case e == nil, e.Plan.Complete, e.Plan.Status != nicspec.StatusOk, e.Alt != nil,
			!e.Left && (e.Works() || !q.bad.AllBehind(e.Last())), // e ends only if no read of its blocks has failed
			!e.Left && s.State == rings.Pushed && int16(q.Ctx.CI-q.Oldest) <= 0,
			e.Doubtful && q.Ctx.PI-q.Oldest <= q.Ctx.Size():
			return
		}
		if q.emit == q.Oldest {
			q.emit += e.Blocks
		}
		r.entryOver(q, s)
	}
}

// entryOver counts the oldest entry as ended and forgets it.
func (r *Referee) entryOver(q *txq, s *attribution.Slot) {
	if s.Entry.Left {
		r.silentEnded(q)
		r.cnt.Step(nicspec.CntTxWqe.Index(), 1, r.now)
	} else {
		r.cnt.May(nicspec.CntTxWqe.Index(), 1) // no output shows when it ended, or whether it did before the disabling
		q.silent++
	}
	e := s.Entry
	q.Forget(e)
	r.ent.Release(e)
}

// silentEnded records that the entries that gave no output (txq.silent) have ended by now.
func (r *Referee) silentEnded(q *txq) {
	r.cnt.Confirm(nicspec.CntTxWqe.Index(), q.silent)
	q.silent = 0
}

// ended records that the device has ended the entries before an index.
func (r *Referee) ended(q *txq, index uint16) {
	if d := index - q.Ctx.CI; d == 0 || d > 1<<nicspec.LogSizeMax {
		return
	}
	q.Ctx.CI = index
	if !q.draining {
		r.regs.Txq(q.ID).CI = index
	}
}

// roomFor records that an accepted doorbell shows entries to have ended: those more than a ring's size before its
// index [Q2].
func (r *Referee) roomFor(q *txq, pi uint16) {
	if size := q.Ctx.Size(); pi-q.Ctx.CI > size {
		r.ended(q, pi-size)
	}
}

// pushed records a work entry that came with a doorbell: the device may use it, or read its slot [W1, W2].
func (r *Referee) pushed(q *txq, index uint16, raw []byte) {
	r.ent.BlockIn(&q.Queue, index, rings.Pushed, raw)
	r.wholeEntries(q)
}

// maybePushed keeps a work entry that came with a doubtful doorbell.
func (q *txq) maybePushed(raw []byte) {
	if q.mayPush = raw != nil; q.mayPush {
		copy(q.push[:], raw)
	}
}

// acceptPush takes a doubtful push as accepted, because the device acts on it. It reports whether there was one.
func (r *Referee) acceptPush(q *txq) bool {
	if !q.doubtful || !q.mayPush {
		return false
	}
	r.accept(q)
	r.pushed(q, q.Ctx.PI-1, q.push[:])
	return true
}

// acceptPushes is acceptPush for all queues.
func (r *Referee) acceptPushes() (any bool) {
	for i := range r.tx.queues {
		any = r.acceptPush(&r.tx.queues[i]) || any
	}
	return any
}

// unread reports whether the device may still read the slot of a pushed entry. Once it has used the pushed bytes, it
// must not [W2].
func (r *Referee) unread(s *attribution.Slot) bool {
	e := s.OwnerOf()
	return s.State == rings.Pushed && (e == nil || !e.Asked && !e.Left || r.ent.Shared(e))
}

// checkPushedEarly checks that an entry pushed while CTRL.tx_enable was 0 does nothing before it is 1
// [W2].
func (r *Referee) checkPushedEarly(e *attribution.Entry, what string) {
	if e.Pushed && r.tx.offSince <= r.now && int16(e.Index-r.tx.of(e).fetch) >= 0 {
		r.failEntry(e, e.Queue.Domain(), "W2", "tx_enable", "1 when a pushed entry starts",
			fmt.Sprintf("0, and %s of entry %d", what, e.Index))
	}
}

// endSilent counts an entry that has ended at the end of the run without a completion entry.
func (r *Referee) endSilent(e *attribution.Entry) {
	if e.Plan.Complete {
		return
	}
	r.cnt.May(nicspec.CntTxWqe.Index(), 1)
	if e.Left || !r.tx.of(e).draining && r.tx.offSince == forever {
		r.cnt.Confirm(nicspec.CntTxWqe.Index(), 1)
	}
}

// accept takes the doubtful doorbell of a transmit queue as accepted.
func (r *Referee) accept(q *txq) {
	q.rung(q.doubtfulPI, r.now)
	r.fetchable(q)
	if !q.draining {
		r.regs.Txq(q.ID).PI = q.Ctx.PI
	}
	r.roomFor(q, q.Ctx.PI)
}
