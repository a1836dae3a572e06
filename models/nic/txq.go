package nic

import (
	"nictwin/models/nic/core"
	"nictwin/models/nicspec"
)

// none is no slot.
const none = -1

// txQueue is what the timed part keeps of a transmit queue.
type txQueue struct {
	win  window
	refs int // reads, slots and completion entries under way

	// Entries at work, oldest first, linked by txSlot.next. Those before emit
	// have been handed to port.
	head, tail, emit int32
	port             int

	sends, copies int  // of the entries at work
	way           int  // of the latest of those that are no copies
	waits         bool // stands in the line of a way

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
	case rd.Gen != tq.win.gen || tq.win.beyond(rd.First):
		return
	case rd.Status == nicspec.StatusOk:
		tq.win.arrived(rd.First, uint16(len(rd.Dst)/nicspec.WqeBytes))
		c.offer(i)
		c.event(i) // an entry that was begun may turn out to reach beyond the cut
		return
	}
	tq.win.cutAt(rd.First)
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
	case !q.win.ready():
		q.waits = false
		c.tx.start.clear(i)
	case !q.waits:
		c.tx.start.set(i)
	}
}

// event writes a failed queue's Event when the entries before it have ended: no
// entry is at work, and none is left that can be started.
func (c *Comp) event(i int) {
	q, tq := c.regs.Txq(i), &c.tx.queues[i]
	if !tq.failed || tq.head != none || !tq.win.spent() {
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
		w.cutAt(w.use)
		c.offer(i)
		c.event(i)
	}
	if !w.ready() {
		c.tx.parked.clear(i) // its class is another one when it comes back
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

// advance hands a queue's frames to their ports and ends its entries, both in
// ring order [T1, T10]. Frames of one queue queue up behind each other at one
// port only (see mayStart), so that they leave in order.
func (c *Comp) advance(i int) {
	tq := &c.tx.queues[i]
	for tq.emit != none {
		id := tq.emit
		s := &c.tx.slots[id]
		first := id == tq.head
		if !s.ready || !first && (s.frame == nil || s.plan.Port != tq.port) {
			return
		}
		tq.emit = s.next
		if s.frame == nil {
			c.entryEnded(tq, s, 0)
			continue
		}
		tq.port = s.plan.Port
		c.tx.ports[tq.port].fifo.Push(id)
	}
}

// entryEnded is [T10] for the oldest entry of a queue; sent is the length of
// its frame, 0 if none left.
func (c *Comp) entryEnded(tq *txQueue, s *txSlot, sent int) {
	i := int(s.queue)
	q := c.regs.Txq(i)
	c.regs.Step(nicspec.CntTxWqe)
	if s.status != nicspec.StatusOk {
		c.regs.Step(nicspec.CntTxErr)
	}
	q.CI += uint16(s.plan.Blocks)
	if s.plan.Complete || s.status != nicspec.StatusOk {
		e := txCqe{addr: q.CqeAddr(q.CQI), queue: s.queue}
		core.BuildTxCqe(uint16(i), s.index, s.status, s.plan.ID, sent, q.Phase(q.CQI), &e.cqe)
		q.CQI++
		tq.refs++
		c.out.cqes.Push(e)
	}
	c.freeSlot(tq, tq.head)
	if tq.head = s.next; tq.head == none {
		tq.tail = none
	}
	tq.refs--
	c.tx.active--
	c.offer(i) // what had to wait for this one
	c.event(i)
}
