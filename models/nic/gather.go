package nic

import (
	"nictwin/models/msg"
	"nictwin/models/nic/core"
	"nictwin/models/nicspec"
)

// txSlot is a work entry at work.
type txSlot struct {
	plan   core.TxPlan
	status nicspec.Status
	ready  bool // finished: status and frame are final
	queue  int32
	next   int32
	index  uint16 // of its first block
	due    int64
	way    int        // if it is no copy
	frame  *msg.Frame // gathered here; nil if nothing is to leave
	reads  [nicspec.SegMax]core.Read
	open   int // pieces not there yet
}

// startEntries starts one work entry: it is checked, and its pieces are asked
// for. Those that have waited for room, and the others, go first by turns. None
// starts while completion entries pile up: a ring read brings several entries,
// each of theirs leaves in a TLP of its own, and those without frames would end
// ever further ahead of what their queue has shown.
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
	for !t.start.empty() {
		i := t.start.next()
		if c.park(i) {
			continue
		}
		c.decode(i)
		switch {
		case !c.mayStart(i, &t.plan):
			t.start.clear(i) // until an entry before it has ended
		case !t.plan.Copy && !t.hasRoom(i):
			t.line(i)
		default:
			c.startEntry(i)
			return true
		}
	}
	return false
}

// planOf names the entry that a plan is of, and how many requests had taken
// effect when it was made: nothing else changes what an entry asks for.
type planOf struct {
	queue    int
	gen      uint32 // of the queue's window
	index    uint16
	requests uint64
}

// decode makes t.plan the plan of the next entry of a queue, which is there. One
// that waits for room is looked at in every cycle: it is decoded once.
func (c *Comp) decode(queue int) {
	t := &c.tx
	w := &t.queues[queue].win
	of := planOf{queue, w.gen, w.use, c.in.taken}
	if t.planOf == of {
		return
	}
	t.planOf = of
	core.DecodeWqe(w.peek(), c.regs.Keys(), c.limitsTx, &t.plan)
	t.plan.ECN = c.regs.Txq(queue).EcnMode
}

// startEntry starts the next work entry of a queue, which asks for t.plan.
func (c *Comp) startEntry(i int) {
	t := &c.tx
	tq := &t.queues[i]
	id := t.takeSlot(i)
	s := &t.slots[id]
	s.plan = t.plan
	s.queue, s.index, s.next = int32(i), tq.win.use, none
	s.status, s.ready, s.open, s.frame = s.plan.Status, false, 0, nil
	tq.win.take()
	c.offer(i)
	t.want.set(i)
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

// begin takes a buffer for the frame, and sets up the reads of its pieces.
func (s *txSlot) begin(id int32, pool *msg.Frames) {
	p := &s.plan
	s.frame = pool.Get(p.Room())
	s.frame.Data = s.frame.Data[:p.Length]
	copy(s.frame.Data, p.Inline[:p.InlineLen])
	for i := range p.NumPieces {
		piece := &p.Pieces[i]
		s.reads[i].Client, s.reads[i].Owner = readPiece, id
		s.reads[i].Begin(piece.Bus, s.frame.Data[piece.Off:piece.Off+piece.Len])
	}
	s.open = p.NumPieces
}

// wanting returns the first of the entry's transfers that wants a request. An
// entry that has failed wants none.
func (s *txSlot) wanting() *core.Read {
	if s.status != nicspec.StatusOk {
		return nil
	}
	for i := range s.plan.NumPieces {
		if s.reads[i].Wants() {
			return &s.reads[i]
		}
	}
	return nil
}

// pieceCame notes the end of a piece's transfer. When one fails, the others
// of the entry that have not begun are given up.
func (c *Comp) pieceCame(rd *core.Read) {
	s := &c.tx.slots[rd.Owner]
	s.open--
	if rd.Status != nicspec.StatusOk && s.status == nicspec.StatusOk {
		s.status = rd.Status
		for i := range s.plan.NumPieces {
			if o := &s.reads[i]; o != rd && o.Wants() {
				if o.GiveUp(rd.Status) {
					s.open--
				}
			}
		}
	}
	if s.open == 0 {
		c.gathered(rd.Owner)
	}
}

// gathered sends an entry, all of whose bytes are there, through the offloads.
func (c *Comp) gathered(id int32) {
	c.tx.slots[id].due = c.now + int64(c.spec.Timing.TxPipe)
	c.tx.finish.Push(id)
}
