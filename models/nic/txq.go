package nic

import (
	"nictwin/models/nic/core"
	"nictwin/models/nic/nicspec"
	"nictwin/models/nic/ring"
)

// none is no slot.
const none = -1

// txQueue is what the timed part keeps of a transmit queue.
type txQueue struct {
	win  ring.Window
	refs int // reads, slots and completion entries under way

	// Entries at work, oldest first, linked by txSlot.next. Those before emit
	// have been handed to port.
	head, tail, emit int32
	port             int

	sends, copies int  // of the entries at work
	lane          int  // of the latest of those that are no copies
	waits         bool // waits for room in a lane

	failed   bool // an Event is to be written once the entries that lie wholly before win.end ended
	failedAt uint16
	status   nicspec.Status
}

// maxTxCqes is how many completion entries may wait to be written before no
// further work entry is started.
const maxTxCqes = 64

// txCqe is a completion entry to be written.
type txCqe struct {
	addr  uint64
	queue int32
	cqe   [nicspec.CqeBytes]byte
}

// wqesCame takes blocks of work entries, or the failure to read them [T2].
func (c *Comp) wqesCame(rd *core.Read) {
	i := int(rd.Owner)
	q, tq := c.regs.Txq(i), &c.tx.queues[i]
	tq.refs--
	switch {
	case rd.Gen != tq.win.Gen || tq.win.Beyond(rd.First):
		return
	case rd.Status == nicspec.StatusOk:
		tq.win.Arrived(rd.First, uint16(len(rd.Dst)/nicspec.WqeBytes))
		c.offer(i)
		c.event(i) // an entry that was begun may turn out to reach beyond the cut
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
	} // a read that fails after the queue is Off makes no Event, nor changes one that is owed [Q5]
	c.event(i)
}

// offer notes whether a queue has an entry that can be started.
func (c *Comp) offer(i int) {
	switch q := &c.tx.queues[i]; {
	case !q.win.Ready():
		q.waits = false
		c.tx.start.Clear(i)
	case !q.waits:
		c.tx.start.Set(i)
	}
}

// event writes a failed queue's Event when the entries before it have ended: no
// entry is at work, and none is left that can be started.
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

// drainTx is the disabling of a queue [T11]: what was fetched ends as usual,
// unless CTRL.tx_enable keeps it from starting.
func (c *Comp) drainTx(i int) {
	w := &c.tx.queues[i].win
	if !c.regs.TxEnable() {
		w.CutAt(w.Use)
		c.offer(i)
		c.event(i)
	}
	if !w.Ready() {
		c.tx.parked.Clear(i) // its class is another one when it comes back
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

// pushed takes the block of an accepted push, if it is the next one that the
// queue wants and there is room; else it is read from the ring [W2].
func (c *Comp) pushed(e *core.Effect, block []byte) {
	if block == nil {
		return
	}
	if w := &c.tx.queues[e.Index].win; w.Next == e.PI-1 && w.Next-w.Use < w.Depth && !w.Cut {
		copy(w.Slot(w.Next, 1), block)
		w.Next++
		w.Arrived(w.Next-1, 1)
		c.offer(e.Index)
	}
}
