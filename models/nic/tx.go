package nic

import (
	"nictwin/models/nic/bitset"
	"nictwin/models/nic/boundary"
	"nictwin/models/nic/core"
	"nictwin/models/nic/nicspec"
	"nictwin/models/nic/stream"
	"nictwin/models/sim/fifo"
)

// txPath is the transmit side.
type txPath struct {
	ports   []ethOut
	queues  []txQueue
	want    bitset.Set // queues that may have work entries to fetch
	start   bitset.Set // queues with a fetched work entry that may start: no earlier entry and no pause prevents it
	slots   []txSlot
	lanes   []txLane    // one per port, and one for entries that send nothing
	lane    int         // lane that startWaiting tried first in the latest cycle
	waiters int         // number of queues that wait in lanes
	turn    bool        // queues that wait in lanes go first in this cycle
	plan    core.TxPlan // plan of the entry identified by planKey
	planKey planKey
	copies  []copyChan        // empty without the copy engine
	copyAt  copyTurns         // round robin of the copy channels
	copying int               // number of copies in flight
	gather  fifo.Queue[int32] // slots with read requests to issue, in the order in which their entries started
	finish  fifo.Queue[int32] // slots whose bytes have all arrived, in the order of txSlot.due
	active  int               // number of slots in use

	stops   bool       // a class may be stopped on some port
	stopped uint8      // classes stopped on some port, one bit each
	parked  bitset.Set // queues that wait because their class is stopped
}

// startFrames offers the next frame on each free port, and starts the offered one if it has a
// credit.
func (c *Comp) startFrames() {
	for p := range c.tx.ports {
		l := &c.tx.ports[p]
		c.watchBuffer(p)
		if !l.busy && (l.fifo.Len() != 0 || l.pause.send.Due()) && c.reached(l.x.Free) {
			c.offerFrame(p)
		}
		if l.x.Waits && c.eth[p].CanSend() {
			l.x.Start(&l.Stall, c.now)
			c.moved = true
			c.finishFrame(p)
		}
	}
}

// offerFrame offers the pause frame that is due; else the port's next frame, unless a received pause stops it.
func (c *Comp) offerFrame(port int) {
	l := &c.tx.ports[port]
	switch {
	case l.pause.send.Due():
		c.offerPause(port)
	case c.maySend(l):
		l.cur, l.busy = l.fifo.Pop(), true
		l.x.Offer(c.now, stream.BeatsOf(len(c.tx.slots[l.cur].frame.Data), c.spec.EthBits))
		c.moved = true
	}
}

// finishFrame completes the outgoing frame of a port if its last beat crosses in this cycle.
func (c *Comp) finishFrame(p int) {
	l := &c.tx.ports[p]
	if !l.busy || l.x.Waits || !c.reached(l.x.Last) {
		return
	}
	l.busy, l.x.Open = false, false
	c.moved = true
	if l.pause.own != nil {
		c.pauseLeft(p)
		return
	}
	s := &c.tx.slots[l.cur]
	f, n := s.frame, len(s.frame.Data)
	s.frame = nil
	c.observe(boundary.Crossing{Kind: boundary.FrameOut, Port: p, First: l.x.First, Last: l.x.Last, Frame: &f.Frame})
	c.regs.StepPort(nicspec.CntTxFrames, p, 1)
	c.regs.StepPort(nicspec.CntTxBytes, p, uint64(n))
	c.send(p, f)
	i := int(s.queue)
	c.entryEnded(&c.tx.queues[i], s, n)
	c.advance(i)
}
