package nic

import (
	"nictwin/models/nic/core"
)

// startEntries starts one work entry: it is checked, and its pieces are requested. Entries that
// waited for room alternate with the others. None starts while completion entries pile up: a ring
// read brings several entries, each of whose completion entries leaves in a TLP of its own, so
// entries without frames would end further and further ahead of what their queue has shown.
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

// startNext starts the entry of the next queue that may start one.
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
			t.start.Clear(i) // until an earlier entry has ended
		case !t.plan.Copy && !t.hasRoom(i):
			t.line(i)
		default:
			c.startEntry(i)
			return true
		}
	}
	return false
}

// planOf identifies the entry that a plan was made from, and the number of requests that had taken
// effect: nothing else changes what an entry asks for.
type planOf struct {
	queue    int
	gen      uint32 // of the queue's window
	index    uint16
	requests uint64
}

// decode makes t.plan the plan of the next entry of a queue, which must be ready. An entry that
// waits for room is looked at every cycle, but decoded only once.
func (c *Comp) decode(queue int) {
	t := &c.tx
	w := &t.queues[queue].win
	of := planOf{queue, w.Gen, w.Use, c.in.taken}
	if t.planOf == of {
		return
	}
	t.planOf = of
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
		s.begin(id, c.frames)
	}
	if s.open == 0 {
		c.gathered(id)
		return
	}
	s.due = c.now + int64(c.spec.Timing.TxPlan)
	t.gather.Push(id)
}

// startWaiting starts the entry that has waited longest in a lane, lanes in turn, if there is a
// slot and room for it now.
func (c *Comp) startWaiting() bool {
	t := &c.tx
	if t.lane++; t.lane >= len(t.lanes) {
		t.lane = 0
	}
	if t.lined == 0 {
		return false
	}
	for n := range t.lanes {
		k := (t.lane + n) % len(t.lanes)
		for w := &t.lanes[k]; w.waits.Len() > 0 && w.free.Len() > 0; {
			i := int(*w.waits.Front())
			starts := c.startsOn(i, k)
			if starts && !t.fits(w) {
				break
			}
			t.lined--
			if w.waits.Pop(); starts {
				t.queues[i].waits = false
				c.startEntry(i)
				return true
			}
		}
	}
	return false
}

// startsOn reports whether the next entry of a queue that waits in a lane should still start there.
// If not, the queue stops waiting: the entry is gone, has to wait for something else, or belongs to
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

// startCopy passes an entry to its channel.
func (c *Comp) startCopy(queue int, id int32) {
	c.tx.channel(queue).Start(id, &c.tx.slots[id].plan.Dma)
	c.tx.copier++
	c.tx.copyAt.markActive(queue % len(c.tx.copies))
}

// leaveLine takes a queue out of its lane's line when its next entry sends nothing and the Sends
// before it have ended, so that a stopped port no longer delays the queue [T13].
func (c *Comp) leaveLine(q *txQueue, i int) {
	if !q.waits || q.sends > 0 || !q.win.Ready() {
		return
	}
	if c.decode(i); !c.tx.plan.Send {
		q.waits = false // the caller follows with c.markStartable
	}
}
