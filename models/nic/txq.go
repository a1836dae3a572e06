package nic

import (
	"nictwin/models/nic/core"
	"nictwin/models/nic/nicspec"
	"nictwin/models/nic/ring"
)

// none means no slot.
const none = -1

// txQueue is the timed state of a transmit queue.
type txQueue struct {
	win  ring.Window
	refs int // reads, slots and completion entries in flight

	// Entries in flight, oldest first, linked by txSlot.next. Those before emit have been passed to
	// port.
	head, tail, emit int32
	port             int

	sends, copies int  // entries in flight, by kind
	lane          int  // lane of the latest entry in flight that is no copy
	waits         bool // waits for a slot or room in a lane

	failed   bool // an Event must be written once the entries wholly before win.end have ended
	failedAt uint16
	status   nicspec.Status
}

// maxTxCqes is the number of pending completion entries at which no further work entry is started.
const maxTxCqes = 64

// txCqe is a pending completion entry.
type txCqe struct {
	addr  uint64
	queue int32
	cqe   [nicspec.CqeBytes]byte
}

// blocksArrived takes blocks of work entries, or the failure to read them [T2].
func (c *Comp) blocksArrived(rd *core.Read) {
	i := int(rd.Owner)
	q, tq := c.regs.Txq(i), &c.tx.queues[i]
	tq.refs--
	switch {
	case rd.Gen != tq.win.Gen || tq.win.Beyond(rd.First):
		return
	case rd.Status == nicspec.StatusOk:
		tq.win.Arrived(rd.First, uint16(len(rd.Dst)/nicspec.WqeBytes))
		c.markStartable(i)
		c.event(i) // a begun entry may turn out to reach beyond the cut
		return
	}
	tq.win.CutAt(rd.First)
	switch q.State {
	case nicspec.QueueStateRun:
		q.Fail(rd.Status)
		c.regs.Step(nicspec.CntQueueErr)
		fallthrough
	case nicspec.QueueStateError:
		q.Err = rd.Status
		tq.failed, tq.failedAt, tq.status = true, rd.First, rd.Status
	} // a read that fails after the queue is Off makes no Event, nor changes an owed one [Q5]
	c.event(i)
}

// markStartable records whether a queue has an entry that can be started.
func (c *Comp) markStartable(i int) {
	switch q := &c.tx.queues[i]; {
	case !q.win.Ready():
		q.waits = false
		c.tx.start.Clear(i)
	case !q.waits:
		c.tx.start.Set(i)
	}
}

// event writes a failed queue's Event once the entries before the failure have ended: none is in
// flight, and none is left to start.
func (c *Comp) event(i int) {
	q, tq := c.regs.Txq(i), &c.tx.queues[i]
	if !tq.failed || tq.head != none || !tq.win.Spent() {
		return
	}
	tq.failed = false
	e := txCqe{addr: q.CqeAddr(q.CQI), queue: int32(i)}
	core.BuildEvent(uint16(i), tq.failedAt, tq.status, q.Phase(q.CQI), &e.cqe)
	q.CQI++
	tq.refs++
	c.out.cqes.Push(e)
}

// drainTx begins the disabling of a queue [T11]: fetched entries end as usual, unless
// CTRL.tx_enable keeps them from starting.
func (c *Comp) drainTx(i int) {
	w := &c.tx.queues[i].win
	if !c.regs.TxEnable() {
		w.CutAt(w.Use)
		c.markStartable(i)
		c.event(i)
	}
	if !w.Ready() {
		c.tx.parked.Clear(i) // its class may be another one when it is enabled again
	}
}

func (q *txQueue) append(slots []txSlot, id int32) {
	if q.tail == none {
		q.head = id
	} else {
		slots[q.tail].next = id
	}
	q.tail = id
	if q.emit == none {
		q.emit = id
	}
	q.refs++
}

// pushed takes the block of an accepted push if it is the next one that the queue wants and there
// is room; otherwise the block is read from the ring [W2].
func (c *Comp) pushed(e *core.Effect, block []byte) {
	if block == nil {
		return
	}
	if w := &c.tx.queues[e.Index].win; w.Next == e.PI-1 && w.Next-w.Use < w.Depth && !w.Cut {
		copy(w.Slot(w.Next, 1), block)
		w.Next++
		w.Arrived(w.Next-1, 1)
		c.markStartable(e.Index)
	}
}
