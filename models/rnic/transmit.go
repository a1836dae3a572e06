package rnic

import (
	"nictwin/models/format/ether"
	"nictwin/models/format/msg"
	"nictwin/models/rnic/core"
	"nictwin/models/rnic/rnicspec"
	"nictwin/models/sim/fifo"
	"nictwin/models/sim/simcore"
)

// transmitter is the state of the sending side.
type transmitter struct {
	turn    fifo.Queue[*qpair] // queue pairs that may have something to send, in turn
	slot    simcore.Ps         // time at which the pipeline can take the next packet
	held    int                // bytes of planned requests that have not left
	packets int                // number of planned packets that have not left
	o       core.Outgoing
}

// txPacket is a packet, from its planning until it has left.
type txPacket struct {
	q       *qpair
	f       *msg.Frame
	addr    *core.Address
	at      int // offset of the payload in f
	planned simcore.Ps
	context int // endpoint whose context the packet holds; -1: none
	size    int // the packet's bytes in transmitter.held
	waits   int // number of things that the packet waits for: payload, context and latency
	failed  bool

	answer  bool     // the packet is a response, not a request
	job     *readJob // READ that the packet carries data of; nil: other packets
	entries int      // number of entries of the packet table that the packet occupies

	ends   bool // last packet of its message; for UC, UD and raw, done is the completion of the message
	report bool // the completion in done must be written
	left   bool // the packet has left; its completion waits for those of earlier packets of its queue pair
	done   core.Completion
	next   *txPacket // next packet of the list that has this one: qpair.out, or later qpair.leaving
}

// activate puts a queue pair that has something to send into the list of those that take turns.
func (c *Comp) activate(q *qpair) {
	if q.active || !q.CanSend() {
		return
	}
	q.active = true
	c.tx.turn.Push(q)
	c.arm(c.now())
}

// plan plans packets while there is room, one of each queue pair in turn.
func (c *Comp) plan(now simcore.Ps) {
	t := &c.tx
	for t.turn.Len() > 0 && t.held < c.spec.TxBytes {
		if t.slot > now {
			c.arm(t.slot)
			return
		}
		q := t.turn.Pop()
		q.active = false
		if !q.CanSend() || !c.mayPlan(q, now) || !c.lookUpSend(q) {
			continue
		}
		c.e.Reset()
		if q.Next(&t.o, &c.e) {
			q.lookedUp = false
			t.slot = max(t.slot, now) + c.spec.PacketTime
			c.start(q, now)
			c.watch(q, now)
			c.activate(q)
		}
		c.writeCompletions(q, &c.e)
	}
}

// start makes the planned packet, and requests its payload and context.
func (c *Comp) start(q *qpair, now simcore.Ps) {
	o := &c.tx.o
	x := c.newPacket(q, now)
	x.addr = o.Addr
	if o.Addr == nil {
		if x.addr = c.handles[o.Handle]; x.addr == nil {
			x.addr = &q.Address // there is no such handle: the packet is lost, as if the peer were absent
		}
	}
	if q.Type == rnicspec.Raw {
		x.f = c.frames.Get(max(o.Len, ether.MinLen))
		clear(x.f.Data[o.Len:])
		x.at = 0
	} else {
		c.frame(x, &o.Packet, o.Len)
	}
	x.ends, x.report, x.done = o.Ends, o.Report, o.Done
	if q.Type != rnicspec.RC {
		q.unreported++ // settled in freePacket
	}
	x.size = max(len(x.f.Data), rnicspec.WQEBytes)
	c.tx.held += x.size
	if q.pace != nil {
		q.pace.sent(now, len(x.f.Data), q.PMTU, o.Fresh)
		q.pace.replies = true
	}
	q.out.Push(x)
	x.waits = 1
	if o.First {
		x.waits++
		c.acquire(q.endpoint, x)
	}
	if o.Inline != nil {
		copy(x.f.Data[x.at:], o.Inline)
		c.ready(x)
		return
	}
	c.read(o.Bus, x.f.Data[x.at:x.at+o.Len], x)
}

// frame allocates a packet's frame, and writes everything but the payload.
func (c *Comp) frame(x *txPacket, p *core.Packet, n int) {
	roce, ib := p.FrameBytes(x.addr, n)
	x.f = c.frames.Get(roce)
	x.f.Trim = 0
	if c.spec.Frame == InfiniBand {
		x.f.Trim = roce + ether.WireOverhead - ib
	}
	p.Encode(x.f.Data, x.addr, n)
	x.at = p.PayloadAt(x.addr)
}

func (c *Comp) newPacket(q *qpair, now simcore.Ps) *txPacket {
	x := take(&c.pools.packets)
	*x = txPacket{q: q, planned: now, context: -1}
	q.refs++
	c.tx.packets++
	return x
}

// granted implements holder.
func (x *txPacket) granted(c *Comp) {
	x.context = x.q.endpoint
	c.after(c.now()+c.spec.Contexts.Hold, kindSent, x)
}

// contextSent releases the context that a packet has held for the time Contexts.Hold.
func (c *Comp) contextSent(x *txPacket) {
	c.releaseContext(x.context)
	x.context = -1
	if at := x.planned + c.spec.Latency.Requester + c.spec.Contexts.Hold; at > c.now() {
		c.after(at, kindRipe, x)
		return
	}
	c.ready(x)
}

func (c *Comp) ripe(x *txPacket) { c.ready(x) }

// dmaReadDone implements reader: the payload was read.
func (x *txPacket) dmaReadDone(c *Comp, ok bool) {
	if !ok {
		c.failUnread(x)
	}
	if x.answer {
		c.dataArrived(x)
		return
	}
	c.ready(x)
}

// failUnread fails the queue pair of a packet whose payload could not be read; that packet does not
// leave. Without acknowledgements (UC, UD, raw), the work entries of planned packets have been
// dequeued. Then the completion of the packet's message reports the error, and everything planned
// behind it is flushed. The first error in order is reported, whichever was found first.
func (c *Comp) failUnread(x *txPacket) {
	if x.failed {
		return
	}
	x.failed = true
	q, s := x.q, rnicspec.LocalProtection
	if q.Type != rnicspec.RC {
		for y := x; y != nil; y = y.next {
			y.failed = true
			if y.ends {
				y.report, y.done.Status = true, s
				s = rnicspec.Flushed
			}
		}
		for i := range q.flushed { // the entry of a partly planned message may be among them
			if d := &q.flushed[i]; !d.Recv {
				d.Status, s = s, rnicspec.Flushed
			}
		}
	}
	c.e.Reset()
	q.Fail(s, &c.e)
	c.writeCompletions(q, &c.e)
}

// ready records that one of the things that a packet waits for (payload, context, latency) is there. Packets of
// a queue pair leave in order.
func (c *Comp) ready(x *txPacket) {
	x.waits--
	for q := x.q; q.out.Len() > 0 && q.out.Front().waits == 0; {
		c.leave(q.out.Pop())
	}
}

// leave queues a packet at its port or, if it goes to the NIC itself, for loopback.
func (c *Comp) leave(x *txPacket) {
	if x.q.Type != rnicspec.RC {
		x.q.leaving.Push(x)
	}
	if x.failed {
		c.freePacket(x)
		return
	}
	if x.q.Type != rnicspec.Raw {
		if err := core.Seal(x.f.Data); err != nil {
			c.fail(err)
			return
		}
	}
	c.counters[rnicspec.CntTxPackets]++
	if x.q.Type != rnicspec.Raw && x.addr.Loop() {
		c.rx.loopback.Push(x)
		c.arm(c.now())
		return
	}
	p := &c.ports[x.q.port]
	if x.q.Type == rnicspec.UD {
		p = &c.ports[x.addr.Port]
	}
	p.queue.Push(x)
	c.arm(c.now())
}

// sendFrames sends the frames that wait at a port, at the rate of the Ethernet link.
func (c *Comp) sendFrames(port int, now simcore.Ps) {
	p := &c.ports[port]
	for p.queue.Len() > 0 && !p.port.Plugged() { // no cable is connected
		c.counters[rnicspec.CntDropped]++
		c.freePacket(p.queue.Pop())
	}
	for p.queue.Len() > 0 && p.port.CanSend() {
		if p.busy > now {
			if !p.waking {
				p.waking = true
				c.after(p.busy, kindWire+port, nil)
			}
			return
		}
		x := p.queue.Pop()
		f := x.f
		f.Port = port
		p.busy = max(p.busy, now) + c.wireTime(f)
		c.crossFrame(now, port, f, false)
		if p.port.SendAt(f, now) != nil {
			c.fail(errRefused)
			return
		}
		x.f = nil
		c.freePacket(x)
	}
}

// wireTime returns how long a frame occupies the Ethernet link.
func (c *Comp) wireTime(f *msg.Frame) simcore.Ps {
	r := c.spec.Line
	if r.Bytes == 0 {
		return 0
	}
	return (simcore.Ps(f.Bytes()+ether.WireOverhead)*r.Ps + simcore.Ps(r.Bytes) - 1) / simcore.Ps(r.Bytes)
}

// freePacket frees the resources of a packet that has left or never will. Packets that need no
// acknowledgement write their completions then, in the order of their queue pair: one of them may
// have taken the loopback and left before an earlier one.
func (c *Comp) freePacket(x *txPacket) {
	q := x.q
	if x.f != nil {
		c.frames.Put(x.f)
		x.f = nil
	}
	if x.answer {
		c.packetLeft(x)
	} else {
		c.tx.held -= x.size
	}
	if c.tx.turn.Len() > 0 {
		c.arm(c.now())
	}
	if q.Type == rnicspec.RC {
		c.releasePacket(x)
		return
	}
	x.left = true
	for q.leaving.Len() > 0 && q.leaving.Front().left {
		y := q.leaving.Pop()
		if y.report {
			c.writeCompletion(q, &y.done)
		}
		c.releasePacket(y)
		c.settle(q)
	}
}

// releasePacket returns a packet to its pool.
func (c *Comp) releasePacket(x *txPacket) {
	x.q.refs--
	c.tx.packets--
	c.pools.packets = append(c.pools.packets, x)
}

// watch starts the acknowledgement timer of a queue pair, unless it runs or is not needed.
func (c *Comp) watch(q *qpair, now simcore.Ps) {
	if q.timing || q.Attributes.Timeout == 0 || !q.Outstanding() {
		return
	}
	q.timing, q.steps = true, q.Steps()
	c.after(now+simcore.Ps(q.Attributes.Timeout), kindTimer, q)
}

// timer handles the expiry of the acknowledgement timer: a queue pair without progress since it was
// started times out. A loss is thus noticed after one to two timeouts; the standard allows one to
// four.
func (c *Comp) timer(q *qpair) {
	q.timing = false
	if q.Outstanding() && q.Steps() == q.steps {
		c.e.Reset()
		q.QP.Timeout(&c.e)
		if q.pace != nil {
			q.pace.Lost(int64(c.now()), 0, true)
		}
		c.writeCompletions(q, &c.e)
		c.activate(q)
	}
	c.watch(q, c.now())
}
