package nic

import (
	"nictwin/models/nic/core"
	"nictwin/models/nic/nicspec"
	"nictwin/models/nic/ring"
)

// none is the slot number that stands for no slot.
const none = -1

// txQueue is the timed state of a transmit queue.
type txQueue struct {
	win  ring.Window
	refs int // reads, slots and completion entries in flight

	// Slots of the entries in flight, oldest first, linked by txSlot.next. The frames of the slots
	// before slot `emit` have been passed to Ethernet port `port`.
	head, tail, emit int32
	port             int

	sends, copies int  // Sends and copies in flight
	lane          int  // lane of the latest Send in flight
	waits         bool // waits for a slot or room in a lane

	failed   bool           // an Event must be written once the entries wholly before win.end have ended
	failedAt uint16         // first block of the failed read
	status   nicspec.Status // status of the failed read
}

// maxTxCqes is the number of pending completion entries at which no further work entry is started.
const maxTxCqes = 64

// txCqe is a pending completion entry.
type txCqe struct {
	addr  uint64
	queue int32
	cqe   [nicspec.CqeBytes]byte
}

// blocksArrived takes the blocks of work entries that a read brought. If the read failed, it puts
// the queue into state Error [T2].
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
		c.writeEvent(i) // the block may show that its entry reaches an unusable place (Window.Cut) and cannot start
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
	c.writeEvent(i)
}

// markStartable records whether a queue has an entry that may start.
func (c *Comp) markStartable(i int) {
	switch q := &c.tx.queues[i]; {
	case !q.win.Ready():
		q.waits = false
		c.tx.start.Clear(i)
	case !q.waits:
		c.tx.start.Set(i)
	}
}

// writeEvent writes a failed queue's Event once the entries before the failed read have ended: none
// is in flight, and none is left to start.
func (c *Comp) writeEvent(i int) {
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
		c.writeEvent(i)
	}
	if !w.Ready() {
		c.tx.parked.Clear(i) // the queue may have another class when it is enabled again
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

// pushed stores the block of an accepted push if it is the next one to be requested and there is
// room for it. Otherwise the block will be read from the ring [W2].
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
