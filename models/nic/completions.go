package nic

import (
	"nictwin/models/nic/core"
	"nictwin/models/nic/nicspec"
)

// advance passes a queue's frames to their ports and ends its entries, both in ring order [T1,
// T10]. A frame is passed on only if no earlier frame of the queue waits at another port: the ports
// send independently, so the frames could leave out of order.
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

// entryEnded ends the oldest entry of a queue [T10]; sent is the length of its frame, 0 if no frame
// left.
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
	c.stopWaiting(tq, i)
	if tq.head = s.next; tq.head == none {
		tq.tail = none
	}
	tq.refs--
	c.tx.active--
	c.markStartable(i) // the next entry may have waited for this one
	c.writeEvent(i)
}

// finishEntries applies the offloads to the gathered entries whose pipeline delay has passed (txSlot.due), and marks
// them as ready to leave.
func (c *Comp) finishEntries() {
	t := &c.tx
	for t.finish.Len() > 0 && c.reached(t.slots[*t.finish.Front()].due) {
		s := &t.slots[t.finish.Pop()]
		c.moved = true
		if s.frame != nil && s.status == nicspec.StatusOk {
			var data []byte
			if data, s.status = core.FinishTx(&s.plan, s.frame.Data); s.status == nicspec.StatusOk {
				s.frame.Data = data
				s.frame.Port, s.frame.Queue = s.plan.Port, int(s.queue)
			}
		}
		if s.frame != nil && s.status != nicspec.StatusOk {
			c.frames.Put(s.frame)
			s.frame = nil
		}
		s.ready = true
		c.advance(int(s.queue))
	}
}
