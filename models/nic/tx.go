package nic

import (
	"nictwin/models/boundary"
	"nictwin/models/fifo"
	"nictwin/models/msg"
	"nictwin/models/nic/core"
	"nictwin/models/nicspec"
	"nictwin/models/simcore"
)

// txPath is the transmit side.
type txPath struct {
	ports  []ethOut
	queues []txQueue
	want   bitset // queues that may want work entries
	start  bitset // queues whose next work entry is there
	slots  []txSlot
	ways   []txWay     // by port, and that of entries that send nothing
	way    int         // whose line was looked at first
	turn   bool        // lines go first
	plan   core.TxPlan // of the entry that is looked at
	planOf planOf
	copies []copyChan        // none without the copy engine
	copyAt copyTurns         // channels served last
	copier int               // copies at work
	gather fifo.Queue[int32] // slots with requests to issue, as started
	finish fifo.Queue[int32] // slots whose frame is complete, by due
	active int               // slots in use

	stopped uint8  // classes stopped on any port
	parked  bitset // queues that wait for the end of such a stop
}

// ethOut is the Ethernet stream out of a port.
type ethOut struct {
	stall
	x    crossing
	cur  int32 // slot, while busy
	busy bool
	fifo fifo.Queue[int32]

	pause ethPause
}

// finishEntries ends the work on entries' frames.
func (c *Comp) finishEntries() {
	t := &c.tx
	for t.finish.Len() > 0 && c.until(t.slots[*t.finish.Front()].due) {
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

// startFrames offers the next frame on each port that is free, and lets the one
// that is offered start if there is a credit for it.
func (c *Comp) startFrames() {
	for p := range c.tx.ports {
		l := &c.tx.ports[p]
		c.watchBuffer(p)
		if !l.busy && (l.fifo.Len() != 0 || l.pause.send.Due()) && c.until(l.x.free) {
			c.offerFrame(p)
		}
		if l.x.waits && c.eth[p].CanSend() {
			l.x.start(&l.stall, c.now)
			c.moved = true
			c.finishFrame(p)
		}
	}
}

// offerFrame offers a pause frame that is due, or the next frame unless a stop
// keeps it from beginning.
func (c *Comp) offerFrame(port int) {
	l := &c.tx.ports[port]
	switch {
	case l.pause.send.Due():
		c.offerPause(port)
	case c.maySend(l):
		l.cur, l.busy = l.fifo.Pop(), true
		l.x.offer(c.now, beatsOf(len(c.tx.slots[l.cur].frame.Data), c.spec.EthBits))
		c.moved = true
	}
}

// finishFrame ends the frame that crosses out of a port, if it is time.
func (c *Comp) finishFrame(p int) {
	l := &c.tx.ports[p]
	if !l.busy || l.x.waits || !c.until(l.x.last) {
		return
	}
	l.busy, l.x.open = false, false
	c.moved = true
	if l.pause.own != nil {
		c.pauseLeft(p)
		return
	}
	s := &c.tx.slots[l.cur]
	f, n := s.frame, len(s.frame.Data)
	s.frame = nil
	c.observe(boundary.Crossing{Kind: boundary.FrameOut, Port: p, First: l.x.first, Last: l.x.last, Frame: &f.Frame})
	c.regs.StepPort(nicspec.CntTxFrames, p, 1)
	c.regs.StepPort(nicspec.CntTxBytes, p, uint64(n))
	c.send(p, f)
	i := int(s.queue)
	c.entryEnded(&c.tx.queues[i], s, n)
	c.advance(i)
}

// send hands a frame that has left to the link.
func (c *Comp) send(p int, f *msg.Frame) {
	f.Seq = c.regs.Port(nicspec.CntTxFrames, p) + c.regs.Port(nicspec.CntTxPause, p) - 1
	if c.eth[p].SendAt(f, c.time()) != nil {
		panic("nic: the Ethernet link refused a frame after CanSend")
	}
}

// finishOutputs ends what crosses out of the device in this cycle.
func (c *Comp) finishOutputs() {
	for p := range c.tx.ports {
		c.finishFrame(p)
	}
	c.finishTLP()
}

func (c *Comp) time() simcore.Ps { return simcore.Ps(c.now) * c.period }
