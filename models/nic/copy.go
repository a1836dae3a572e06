package nic

import (
	"nictwin/models/dma"
	"nictwin/models/fifo"
	"nictwin/models/nic/core"
	"nictwin/models/nicspec"
	"nictwin/models/tlp"
)

// copyChan is one channel of the copy engine [D7] in time: the slots of the
// entries that it may have at work, and the reads of its chunks.
type copyChan struct {
	*dma.Channel
	free  fifo.Queue[int32] // slots
	reads []core.Read       // by chunk
	cur   int               // chunk whose read wants requests, none if there is none
}

// copyTurns is the channels that were served last.
type copyTurns struct{ read, write int }

// initCopies makes the channels, whose slots follow those of other entries.
func (t *txPath) initCopies(s *Spec) {
	if !s.Has(nicspec.PartCopy) {
		return
	}
	jobs, first := s.Timing.CopyJobs, len(t.slots)
	t.slots = append(t.slots, make([]txSlot, nicspec.CopyChannels*jobs)...)
	t.copies = make([]copyChan, nicspec.CopyChannels)
	for i := range t.copies {
		h := &t.copies[i]
		h.Channel, h.cur = dma.NewChannel(jobs, s.Timing.CopyChunks), none
		h.reads = make([]core.Read, s.Timing.CopyChunks)
		for k := range jobs {
			h.free.Push(int32(first + i*jobs + k))
		}
	}
}

// channel is the copy channel of a transmit queue [D7].
func (t *txPath) channel(queue int) *copyChan { return &t.copies[queue%nicspec.CopyChannels] }

// mayStart reports whether the next entry of a queue may start now: a Send
// waits for the copies before it, and a copy for the Sends [D8] and for a slot of
// its channel. A Send waits for those before it that go another way, too: it
// would take room there for as long as they wait for theirs [T13].
func (c *Comp) mayStart(queue int, p *core.TxPlan) bool {
	q := &c.tx.queues[queue]
	if p.Copy {
		return q.sends == 0 && c.tx.channel(queue).free.Len() > 0
	}
	return !p.Send || q.copies == 0 && (q.sends == 0 || q.way == p.Port)
}

// takeSlot takes a slot for the entry of a queue that t.plan is of. Copies
// have their own, so that they do not take those of Sends [D7].
func (t *txPath) takeSlot(queue int) int32 {
	if t.plan.Copy {
		t.queues[queue].copies++
		return t.channel(queue).free.Pop()
	}
	return t.takeWay(queue)
}

// freeSlot gives back the slot of an entry that has ended.
func (c *Comp) freeSlot(q *txQueue, id int32) {
	t := &c.tx
	s := &t.slots[id]
	if !s.plan.Copy {
		c.leaveWay(q, s, id)
		return
	}
	q.copies--
	t.channel(int(s.queue)).free.Push(id)
	for k := int(s.queue) % len(t.copies); k < len(t.queues); k += len(t.copies) {
		c.offer(k) // what had to wait for a slot
	}
}

// startCopy hands an entry to its channel.
func (c *Comp) startCopy(queue int, id int32) {
	c.tx.channel(queue).Start(id, &c.tx.slots[id].plan.Dma)
	c.tx.copier++
}

// wantedCopy returns the next transfer of a copy's source that wants a
// request, channels in turn.
func (c *Comp) wantedCopy() *core.Read {
	t := &c.tx
	if t.copier == 0 {
		return nil
	}
	for range t.copies {
		if t.copyAt.read++; t.copyAt.read == len(t.copies) {
			t.copyAt.read = 0
		}
		if rd := c.wantedChunk(t.copyAt.read); rd != nil {
			return rd
		}
	}
	return nil
}

func (c *Comp) wantedChunk(channel int) *core.Read {
	h := &c.tx.copies[channel]
	if h.cur != none && h.reads[h.cur].Wants() {
		return &h.reads[h.cur]
	}
	k, addr, dst, ok := h.Ask()
	if h.cur = k; !ok {
		h.cur = none
		return nil
	}
	rd := &h.reads[k]
	rd.Client, rd.Owner, rd.First = readCopy, int32(channel), uint16(k)
	if rd.Align = tlp.Unaligned; h.WholeLines(k) {
		rd.Align = tlp.Aligned
	}
	rd.Begin(addr, dst)
	return rd
}

// chunkCame takes a chunk whose read is over.
func (c *Comp) chunkCame(rd *core.Read) {
	c.tx.copies[rd.Owner].Came(int(rd.First), rd.Status)
	c.copyMoved(int(rd.Owner))
}

// chunkFailed fails the copy of a chunk. The chunk of that copy that is being
// asked for is given up [D3].
func (c *Comp) chunkFailed(rd *core.Read) {
	h := &c.tx.copies[rd.Owner]
	h.Fail(int(rd.First), rd.Status)
	c.leaveChunk(h, rd.Status)
}

// leaveChunk gives up the chunk that is being asked for, if its copy is to end.
func (c *Comp) leaveChunk(h *copyChan, s nicspec.Status) {
	if h.cur == none || !h.reads[h.cur].Wants() || !h.Failed(h.cur) {
		return
	}
	if h.reads[h.cur].GiveUp(s) {
		h.Came(h.cur, s)
	}
	h.cur = none
}

// copyMoved ends the copies of a channel that are over.
func (c *Comp) copyMoved(channel int) {
	h := &c.tx.copies[channel]
	for {
		id, status, ok := h.Ended()
		if !ok {
			return
		}
		s := &c.tx.slots[id]
		s.status, s.ready = status, true
		c.tx.copier--
		c.advance(int(s.queue))
	}
}

// feedCopy makes p the next write or message of a copy, channels in turn.
func (c *Comp) feedCopy(p *tlp.Packet) bool {
	t := &c.tx
	if t.copier == 0 {
		return false
	}
	for range t.copies {
		if t.copyAt.write++; t.copyAt.write == len(t.copies) {
			t.copyAt.write = 0
		}
		h := &t.copies[t.copyAt.write]
		c.out.ref = int32(t.copyAt.write)
		if addr, b, ok := h.Write(c.limits.MPS); ok {
			c.setWrite(p, addr, b, c.attr)
			c.out.what, c.out.bytes = outCopy, len(b)
			return true
		}
		if plan := h.Message(); plan != nil {
			if err := dma.SetMessage(p, plan); err != nil {
				panic("nic: an invalidate message cannot be encoded: " + err.Error())
			}
			c.out.what = outMessage
			return true
		}
	}
	return false
}

// copyLeft notes that a write of a copy has left [D6].
func (c *Comp) copyLeft(channel, n int) {
	c.regs.Add(nicspec.CntCopyBytes, uint64(n))
	c.tx.copies[channel].WriteLeft(n)
	c.copyMoved(channel)
}
