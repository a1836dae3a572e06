package nic

import (
	"nictwin/models/nic/boundary"
	"nictwin/models/nic/core"
	"nictwin/models/nic/nicspec"
	"nictwin/models/nic/stream"
)

// Observe adds an observer of the boundary.
func (c *Comp) Observe(o boundary.Observer) { c.obs = append(c.obs, o) }

// ObserveRest adds an observer of idle intervals. busy is 0 at first. Cycles before the current one
// are not reported.
func (c *Comp) ObserveRest(o boundary.RestObserver) {
	if len(c.rests) == 0 && c.last >= 0 {
		c.rest = core.Never
	}
	c.rests = append(c.rests, o)
}

// ObserveHeld adds an observer of the intervals in which the other side holds up a stream.
func (c *Comp) ObserveHeld(o boundary.HeldObserver) { c.helds = append(c.helds, o) }

func (c *Comp) observe(x boundary.Crossing) {
	for _, o := range c.obs {
		o(x)
	}
}

// reportRest reports the idle interval before the current cycle, if there is one.
func (c *Comp) reportRest() {
	if c.rest >= c.now {
		return
	}
	for _, o := range c.rests {
		o(boundary.Rest{First: c.rest, Last: c.now - 1})
	}
}

// reportHeld reports the cycles before the current one in which a stream was held up.
func (c *Comp) reportHeld() {
	if c.in.x.MayBeHeld(&c.in.Stall) {
		c.heldOf(boundary.TLPIn, 0, &c.in.x, &c.in.Stall)
	}
	for p := range c.rx.ports {
		if l := &c.rx.ports[p]; l.x.MayBeHeld(&l.Stall) {
			c.heldOf(boundary.FrameIn, p, &l.x, &l.Stall)
		}
	}
	for p := range c.tx.ports {
		if l := &c.tx.ports[p]; l.x.MayBeHeld(&l.Stall) {
			c.heldOf(boundary.FrameOut, p, &l.x, &l.Stall)
		}
	}
	if c.out.x.MayBeHeld(&c.out.Stall) {
		c.heldOf(boundary.TLPOut, 0, &c.out.x, &c.out.Stall)
	}
}

// heldOf reports in which of the unreported cycles before the current one a stream was held up:
// those before the packet's first beat, and those with a stall.
func (c *Comp) heldOf(kind boundary.Kind, port int, x *stream.Crossing, s *stream.Stall) {
	from := x.Unreported
	if from >= c.now {
		return
	}
	x.Unreported = c.now
	begun := c.now // a packet that lacks a credit is held in every cycle
	if !x.Waits {
		begun = min(x.First, c.now)
	}
	for at := from; at < c.now; at++ {
		if at < begun || s.At != nil && s.At(at) {
			continue
		}
		c.held(boundary.Held{Kind: kind, Port: port, First: from, Last: at - 1})
		from = at + 1
	}
	c.held(boundary.Held{Kind: kind, Port: port, First: from, Last: c.now - 1})
}

func (c *Comp) held(h boundary.Held) {
	if h.First > h.Last {
		return
	}
	for _, o := range c.helds {
		o(h)
	}
}

// Levels holds the lengths of the NIC's queues, over all ports and queues. Completion queues have none: nobody tells
// the NIC what software has taken.
type Levels struct {
	RxBytes     int // of the receive buffers in use [R3]
	RxFrames    int // received frames in the device
	Descriptors int // receive descriptors that were posted and not consumed
	Blocks      int // blocks of work entries that were posted and have not ended
	TxSlots     int // work entries that are being carried out
	TxFrames    int // frames that wait for their Ethernet port
}

// Levels returns the present lengths of the queues.
func (c *Comp) Levels() (l Levels) {
	for p := range c.rx.ports {
		l.RxBytes += c.rx.ports[p].held
	}
	for p := range c.tx.ports {
		l.TxFrames += c.tx.ports[p].fifo.Len()
	}
	l.RxFrames, l.TxSlots = c.rx.frames, c.tx.active
	for i := range c.rx.queues {
		l.Descriptors += outstanding(c.regs.Rxq(i))
	}
	for i := range c.tx.queues {
		l.Blocks += outstanding(c.regs.Txq(i))
	}
	return l
}

// outstanding returns how many places of an enabled queue's ring are between its consumer and its producer index.
func outstanding(q *core.Queue) int {
	if q.State != nicspec.QueueStateRun {
		return 0
	}
	return int(q.PI - q.CI)
}
