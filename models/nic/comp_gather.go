package nic

import (
	"nictwin/models/ether"
	"nictwin/models/nicspec"
)

// txSlot is a work entry at work.
type txSlot struct {
	plan   TxPlan
	status nicspec.Status
	ready  bool // finished: status and frame are final
	queue  int32
	next   int32
	index  uint16
	due    int64
	frame  *ether.Frame // gathered here; nil if nothing is to leave
	reads  [nicspec.WqeSlots]Read
	open   int // pieces not there yet
}

// startEntries starts one work entry: it is checked, and its pieces are asked
// for.
func (c *Comp) startEntries() {
	t := &c.tx
	for !t.start.empty() && t.free.n > 0 && c.regs.TxEnable() {
		before := t.start.last
		i := t.start.next()
		if c.park(i) {
			continue
		}
		p := &t.plan
		DecodeWqe((*[nicspec.WqeBytes]byte)(t.queues[i].win.peek()), c.regs.keys, c.limitsTx, p)
		p.ECN = c.regs.Txq(i).EcnMode
		if p.Send && p.Length > t.room {
			t.start.last = before
			return
		}
		if c.mayStart(i, p) {
			c.startEntry(i)
			return
		}
		t.start.clear(i) // until an entry before it has ended
	}
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
		t.room -= s.plan.Length
		tq.sends++
		s.begin(id, c.frames)
	}
	if s.open == 0 {
		c.gathered(id)
		return
	}
	s.due = c.now + int64(c.spec.Timing.TxPlan)
	t.gather.push(id)
}

// begin takes a buffer for the frame, and sets up the reads of its pieces.
func (s *txSlot) begin(id int32, pool *ether.Pool) {
	p := &s.plan
	s.frame = pool.Get(p.Length)
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
func (s *txSlot) wanting() *Read {
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
func (c *Comp) pieceCame(rd *Read) {
	s := &c.tx.slots[rd.Owner]
	s.open--
	if rd.Status != nicspec.StatusOk && s.status == nicspec.StatusOk {
		s.status = rd.Status
		for i := range s.plan.NumPieces {
			if o := &s.reads[i]; o != rd && o.Wants() {
				o.Status = rd.Status
				if o.open == 0 {
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
	c.tx.finish.push(id)
}
