package nic

import (
	"nictwin/models/nic/core"
)

// startEntries starts at most one work entry: it checks the entry and sets up the reads of its
// pieces. Queues that wait in a lane take turns with the others.
// No entry starts while maxTxCqes completion entries are pending. One ring read brings several
// entries, but each completion entry leaves in a TLP of its own, so entries without frames would
// end ever further ahead of their completion entries.
func (c *Comp) startEntries() {
	t := &c.tx
	if !c.regs.TxEnable() || c.out.cqes.Len() >= maxTxCqes {
		return
	}
	if t.turn = !t.turn; t.turn {
		if !c.startWaiting() {
			c.startNext()
		}
	} else if !c.startNext() {
		c.startWaiting()
	}
}

// startNext starts the entry of the next queue that may start one, and reports whether it did.
func (c *Comp) startNext() bool {
	t := &c.tx
	for !t.start.Empty() {
		i := t.start.Next()
		if c.park(i) {
			continue
		}
		c.decode(i)
		switch {
		case !c.mayStart(i, &t.plan):
			t.start.Clear(i) // set again when an earlier entry has ended
		case !t.plan.Copy && !t.hasRoom(i):
			t.waitInLane(i)
		default:
			c.startEntry(i)
			return true
		}
	}
	return false
}

// planKey identifies the entry that t.plan was made from, and how many register requests had been
// carried out then: nothing else changes the plan of an entry.
type planKey struct {
	queue    int
	gen      uint32 // generation of the queue's window
	index    uint16
	requests uint64
}

// decode makes t.plan the plan of the next entry of a queue, which must be ready. An entry that
// waits for room is considered every cycle, but decoded again only after a register request.
func (c *Comp) decode(queue int) {
	t := &c.tx
	w := &t.queues[queue].win
	key := planKey{queue, w.Gen, w.Use, c.in.taken}
	if t.planKey == key {
		return
	}
	t.planKey = key
	core.DecodeWqe(w.Peek(), c.regs.Keys(), c.limitsTx, &t.plan)
	t.plan.ECN = c.regs.Txq(queue).EcnMode
}

// startEntry starts the next work entry of a queue, described by t.plan.
func (c *Comp) startEntry(i int) {
	t := &c.tx
	tq := &t.queues[i]
	id := t.takeSlot(i)
	s := &t.slots[id]
	s.plan = t.plan
	s.queue, s.index, s.next = int32(i), tq.win.Use, none
	s.status, s.ready, s.open, s.frame = s.plan.Status, false, 0, nil
	tq.win.Take()
	c.markStartable(i)
	t.want.Set(i)
	tq.append(t.slots, id)
	t.active++
	c.moved = true
	switch {
	case s.plan.Copy:
		c.startCopy(i, id)
		return
	case s.plan.Send:
		s.beginGather(id, c.frames)
	}
	if s.open == 0 {
		c.gathered(id)
		return
	}
	s.due = c.now + int64(c.spec.Timing.TxPlan)
	t.gather.Push(id)
}

// startWaiting starts the entry that has waited longest in a lane, if there is a slot and room for
// it now, and reports whether it did. Lanes take turns.
func (c *Comp) startWaiting() bool {
	t := &c.tx
	if t.lane++; t.lane >= len(t.lanes) {
		t.lane = 0
	}
	if t.waiters == 0 {
		return false
	}
	for n := range t.lanes {
		k := (t.lane + n) % len(t.lanes)
		for lane := &t.lanes[k]; lane.queue.Len() > 0 && lane.free.Len() > 0; {
			i := int(*lane.queue.Front())
			starts := c.startsOn(i, k)
			if starts && !t.fits(lane) {
				break
			}
			t.waiters--
			if lane.queue.Pop(); starts {
				t.queues[i].waits = false
				c.startEntry(i)
				return true
			}
		}
	}
	return false
}

// startsOn reports whether the next entry of a queue that waits in a lane should still start there.
// If not, the queue stops waiting: the entry is gone, must wait for something else, or belongs to
// another lane by now.
func (c *Comp) startsOn(queue, lane int) bool {
	t := &c.tx
	q := &t.queues[queue]
	if !q.waits {
		return false
	}
	if q.win.Ready() && !c.classStopped(queue) {
		c.decode(queue)
		if !t.plan.Copy && c.mayStart(queue, &t.plan) && t.laneOf(queue) == lane {
			return true
		}
	}
	q.waits = false
	c.markStartable(queue)
	return false
}

// startCopy passes the copy in slot id to its channel.
func (c *Comp) startCopy(queue int, id int32) {
	c.tx.channel(queue).Start(id, &c.tx.slots[id].plan.Dma)
	c.tx.copying++
	c.tx.copyAt.markActive(queue % len(c.tx.copies))
}

// stopWaiting makes a queue stop waiting in its lane if its next entry sends nothing and its
// earlier Sends have ended. A stopped port then no longer delays the queue [T13].
func (c *Comp) stopWaiting(q *txQueue, i int) {
	if !q.waits || q.sends > 0 || !q.win.Ready() {
		return
	}
	if c.decode(i); !c.tx.plan.Send {
		q.waits = false // the caller then calls c.markStartable
	}
}
