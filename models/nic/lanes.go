package nic

import (
	"nictwin/models/sim/fifo"
)

// txLane is the pool of slots and gather buffer for the entries in flight to one
// port, or for those that send nothing. Lanes never borrow from each other, so a
// port under back-pressure or pause does not delay the others [T13].
type txLane struct {
	free  fifo.Queue[int32] // free slots
	room  int               // free bytes of the gather buffer
	queue fifo.Queue[int32] // queues whose next entry waits for a slot or room, in order of arrival
}

// initLanes makes one lane for each port, and one for entries that send nothing.
func (t *txPath) initLanes(s *Spec) {
	n := s.Timing.TxInFlight
	t.lanes = make([]txLane, s.Ports+1)
	t.slots = make([]txSlot, n*len(t.lanes))
	for i := range t.lanes {
		lane := &t.lanes[i]
		lane.room = s.Timing.TxBufBytes
		for slot := range n {
			lane.free.Push(int32(i*n + slot))
		}
	}
}

// laneOf returns the lane for the next entry of a queue, which t.plan describes. An entry that
// sends nothing uses the lane of the Sends before it, since it has to wait for their end.
func (t *txPath) laneOf(queue int) int {
	switch q := &t.queues[queue]; {
	case t.plan.Send:
		return t.plan.Port
	case q.sends > 0:
		return q.lane
	}
	return len(t.lanes) - 1
}

// hasRoom reports whether the entry's lane has a slot and room for it, and no earlier entry waits
// for them.
func (t *txPath) hasRoom(queue int) bool {
	lane := &t.lanes[t.laneOf(queue)]
	return lane.queue.Len() == 0 && t.fits(lane)
}

// fits reports whether a lane has a slot and room for the entry described by t.plan.
func (t *txPath) fits(lane *txLane) bool {
	return lane.free.Len() > 0 && (!t.plan.Send || t.plan.Room() <= lane.room)
}

// waitInLane makes a queue wait for a slot and room in the lane of its next entry.
func (t *txPath) waitInLane(queue int) {
	t.start.Clear(queue)
	t.queues[queue].waits = true
	t.lanes[t.laneOf(queue)].queue.Push(int32(queue))
	t.waiters++
}

// waiting reports whether any queue waits in a lane.
func (t *txPath) waiting() bool { return t.waiters != 0 }

// takeLane takes a slot and room for the entry described by t.plan.
func (t *txPath) takeLane(queue int) int32 {
	q, index := &t.queues[queue], t.laneOf(queue)
	lane := &t.lanes[index]
	id := lane.free.Pop()
	t.slots[id].lane = index
	if t.plan.Send {
		lane.room -= t.plan.Room()
		q.sends++
		q.lane = index
	}
	return id
}

// leaveLane frees the slot and room of an entry that has ended.
func (c *Comp) leaveLane(q *txQueue, s *txSlot, id int32) {
	lane := &c.tx.lanes[s.lane]
	lane.free.Push(id)
	if s.plan.Send {
		lane.room += s.plan.Room()
		q.sends--
	}
}
