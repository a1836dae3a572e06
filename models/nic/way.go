package nic

import "nictwin/models/fifo"

// txWay is what the entries at work that go one way have to share: those that
// send on a port, or those that send nothing. No way takes from another, so that
// a port that is held back or stopped holds up no other [T13].
type txWay struct {
	free  fifo.Queue[int32] // slots
	room  int               // bytes of the gather buffer not in use
	waits fifo.Queue[int32] // queues whose next entry waits for a slot or room, in line
}

// initWays makes the ways: those of the ports, then that of what sends nothing.
func (t *txPath) initWays(s *Spec) {
	n := s.Timing.TxInFlight
	t.ways = make([]txWay, s.Ports+1)
	t.slots = make([]txSlot, n*len(t.ways))
	for i := range t.ways {
		w := &t.ways[i]
		w.room = s.Timing.TxBufBytes
		for k := range n {
			w.free.Push(int32(i*n + k))
		}
	}
}

// wayOf is the way that the next entry of a queue, which t.plan is of, is to
// go. One that sends nothing goes with the Sends before it, whose end it has to
// wait for.
func (t *txPath) wayOf(queue int) int {
	switch q := &t.queues[queue]; {
	case t.plan.Send:
		return t.plan.Port
	case q.sends > 0:
		return q.way
	}
	return len(t.ways) - 1
}

// hasRoom reports whether that entry finds a slot and room on its way, and none
// that came before it waits for them.
func (t *txPath) hasRoom(queue int) bool {
	w := &t.ways[t.wayOf(queue)]
	return w.waits.Len() == 0 && t.fits(w)
}

// fits reports whether a way has a slot and room for the entry that t.plan is of.
func (t *txPath) fits(w *txWay) bool {
	return w.free.Len() > 0 && (!t.plan.Send || t.plan.Room() <= w.room)
}

// line puts a queue in line for a slot and room for that entry.
func (t *txPath) line(queue int) {
	t.start.clear(queue)
	t.queues[queue].waits = true
	t.ways[t.wayOf(queue)].waits.Push(int32(queue))
}

// waiting reports whether any queue stands in line.
func (t *txPath) waiting() bool {
	for i := range t.ways {
		if t.ways[i].waits.Len() > 0 {
			return true
		}
	}
	return false
}

// startWaiting starts the first entry in the line of a way, ways in turn, if
// there is a slot and room for it now.
func (c *Comp) startWaiting() bool {
	t := &c.tx
	if t.way++; t.way >= len(t.ways) {
		t.way = 0
	}
	for n := range t.ways {
		k := (t.way + n) % len(t.ways)
		for w := &t.ways[k]; w.waits.Len() > 0 && w.free.Len() > 0; {
			i := int(*w.waits.Front())
			starts := c.startsOn(i, k)
			if starts && !t.fits(w) {
				break
			}
			if w.waits.Pop(); starts {
				t.queues[i].waits = false
				c.startEntry(i)
				return true
			}
		}
	}
	return false
}

// startsOn reports whether the entry of a queue that stands in the line of a way
// is to start there, when there is room. If not, it leaves the line: it is gone,
// has to wait for something else, or goes another way by now.
func (c *Comp) startsOn(queue, way int) bool {
	t := &c.tx
	q := &t.queues[queue]
	if !q.waits {
		return false
	}
	if q.win.ready() && !c.classStopped(queue) {
		c.decode(queue)
		if !t.plan.Copy && c.mayStart(queue, &t.plan) && t.wayOf(queue) == way {
			return true
		}
	}
	q.waits = false
	c.offer(queue)
	return false
}

// takeWay takes a slot and room for that entry.
func (t *txPath) takeWay(queue int) int32 {
	q, k := &t.queues[queue], t.wayOf(queue)
	w := &t.ways[k]
	id := w.free.Pop()
	t.slots[id].way = k
	if t.plan.Send {
		w.room -= t.plan.Room()
		q.sends++
		q.way = k
	}
	return id
}

// leaveWay gives them back when the entry has ended.
func (c *Comp) leaveWay(q *txQueue, s *txSlot, id int32) {
	w := &c.tx.ways[s.way]
	w.free.Push(id)
	if s.plan.Send {
		w.room += s.plan.Room()
		q.sends--
	}
}
