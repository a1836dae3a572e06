package rnic

import (
	"nictwin/models/format/msg"
	"nictwin/models/format/wire"
	"nictwin/models/rnic/core"
	"nictwin/models/rnic/rnicspec"
	"nictwin/models/sim/fifo"
	"nictwin/models/sim/simcore"
)

// receiver is the state of the receiving side.
type receiver struct {
	more     bool // a port may have frames that were not taken
	slot     simcore.Ps
	held     int // bytes in the receive buffer
	ops      int // number of received packets in flight
	unplaced int // TLPs with completion entries that their destination has not accepted yet

	loopback fifo.Queue[*txPacket] // packets that the NIC sends to itself
	granted  fifo.Queue[*rxOp]     // requests that got a context less than Contexts.Hold ago
	finished fifo.Queue[*rxOp]     // requests whose TLPs were all accepted
	p        core.Packet
}

// Consumed implements msg.Consumer: a TLP of a completion entry was accepted.
func (r *receiver) Consumed(simcore.Ps) { r.unplaced-- }

// Kinds of received packets. A queue pair handles the packets of each kind in order.
const (
	request = iota
	response
)

// rxOp is a received packet, from its arrival until it has taken effect.
type rxOp struct {
	c         *Comp
	q         *qpair
	f         *msg.Frame
	p         core.Packet
	e         core.Effects
	kind      int  // request or response
	raw       bool // a frame for a raw queue pair
	lookedUp  bool // the packet's lookups are done
	requested bool // the packet's lookups are in flight
	waits     bool // the packet waits for a context

	bytes      int        // the packet's bytes in the receive buffer
	context    int        // endpoint whose context the packet holds; -1: none
	unsent     int        // TLPs that were not accepted, plus DMA reads in progress
	acceptedAt simcore.Ps // time at which the NIC knows that all TLPs were accepted
	reply      *reply
	word       [8]byte
	slow       *slowPacket // the packet's slot in the memory for slow packets; nil: not slow
	latest     *slowPacket // latest slow packet up to this one, for which completions wait; nil: none
	next       *rxOp       // next operation of the list that has this one: qpair.parked, or later qpair.barred
}

// takeFrames takes frames from the ports while the receive buffer has room. Frames left in a port
// hold back their sender, as with credits (InfiniBand) or pause frames.
func (c *Comp) takeFrames(now simcore.Ps) {
	if !c.rx.more {
		return
	}
	c.rx.more = false
	for i := range c.ports {
		p := c.ports[i].port
		for p.Len() > 0 {
			if c.rx.held >= c.spec.RxBytes {
				c.rx.more = true
				return
			}
			f, ok := p.Retrieve(now.Sec()).(*msg.Frame)
			if !ok {
				c.fail(errNoFrame)
				return
			}
			f.Port = i
			c.crossFrame(now, i, f, true)
			c.accept(f, now)
		}
	}
}

// takeLoopback takes packets that the NIC sends to itself, while the receive buffer is less than half
// full: the rest of it is for packets from the network, which have priority.
func (c *Comp) takeLoopback(now simcore.Ps) {
	for c.rx.loopback.Len() > 0 && c.rx.held < c.spec.RxBytes/2 {
		x := c.rx.loopback.Pop()
		f := x.f
		x.f = nil
		f.Port = x.q.port
		c.freePacket(x)
		c.accept(f, now)
	}
}

// accept takes a frame into the receive pipeline.
func (c *Comp) accept(f *msg.Frame, now simcore.Ps) {
	c.rx.slot = max(c.rx.slot, now) + c.spec.PacketTime
	c.counters[rnicspec.CntRxPackets]++
	op := take(&c.pools.ops)
	op.c, op.f, op.context, op.reply, op.unsent, op.acceptedAt = c, f, -1, nil, 0, 0
	op.lookedUp, op.requested, op.raw = false, false, false
	op.slow, op.latest = nil, nil
	port := &c.ports[f.Port]
	d := core.DropNoQP
	if len(f.Data) >= len(port.address.SrcMAC) && [6]byte(f.Data) == port.address.SrcMAC {
		d = op.p.Decode(f.Data)
	}
	op.q = nil
	if d == core.Kept && op.p.DestQP < rnicspec.MaxQPs {
		op.q = c.qps[op.p.DestQP]
	}
	if op.q == nil || op.q.Type == rnicspec.Raw {
		if op.q = port.rawQP; op.q == nil {
			c.drop(op)
			return
		}
		op.raw = true
	}
	if !op.raw && op.q.Type == rnicspec.RC {
		if op.p.Opcode == wire.CNPOpcode {
			c.notified(op, now)
			return
		}
		c.checkMark(op, now)
	}
	op.bytes = len(f.Data)
	c.rx.held += op.bytes
	c.rx.ops++
	op.q.refs++
	op.kind = request
	if !op.raw && op.p.IsResponse() {
		op.kind = response
	}
	due := &op.q.due[op.kind]
	*due = max(*due, c.rx.slot+c.latency(op))
	op.q.parked[op.kind].Push(op)
	c.after(*due, kindArrived+op.kind, op.q)
}

// drop ignores a packet for which nothing was reserved.
func (c *Comp) drop(op *rxOp) {
	c.counters[rnicspec.CntDropped]++
	c.recycle(op)
}

// recycle frees a packet for which nothing was reserved.
func (c *Comp) recycle(op *rxOp) {
	c.frames.Put(op.f)
	op.f, op.q = nil, nil
	c.pools.ops = append(c.pools.ops, op)
}

// latency returns the latency that the spec adds to a packet's operation.
func (c *Comp) latency(op *rxOp) (t simcore.Ps) {
	l := &c.spec.Latency
	if op.raw || op.kind == response {
		return 0
	}
	switch op.p.Opcode.Info().Operation {
	case wire.OpReadRequest:
		t = l.Read
	case wire.OpWrite:
		t = l.Write
	case wire.OpSend:
		t = l.Send
	case wire.OpCmpSwap, wire.OpFetchAdd:
		t = l.Atomic
	}
	switch op.q.Type {
	case rnicspec.RC:
		t += l.RC
	case rnicspec.UD:
		t = l.Datagram
	}
	return t
}

// arrived records that the latency of a queue pair's first parked packet has passed. Latencies of a
// queue pair end in order, and the event names no packet, so the order of events of one time does
// not matter.
func (c *Comp) arrived(q *qpair, kind int) {
	q.ripe[kind]++
	c.unpark(q, kind)
}

// unpark handles the parked packets of a queue pair whose latency has passed, in order, until one
// waits for a lookup or a receive entry.
func (c *Comp) unpark(q *qpair, kind int) {
	for line := &q.parked[kind]; q.ripe[kind] > 0; {
		op := line.Front()
		if !c.lookUpPacket(op) {
			return
		}
		if kind == request && !op.raw && q.NeedsRecv(&op.p) && q.Receives() == 0 && q.receiveRing().fetches.Len() > 0 {
			q.awaitEntry()
			return // a receive entry is being read
		}
		if kind == request && !op.raw && q.account.blocked(&op.p) {
			return
		}
		line.Pop()
		q.ripe[kind]--
		if kind == request {
			c.respond(op)
		} else {
			c.answered(op)
		}
	}
}

// respond handles a request. Its outcome is decided now, in order; when it takes effect depends on
// contexts and memory.
func (c *Comp) respond(op *rxOp) {
	q := op.q
	op.e.Reset()
	if op.raw {
		q.ReceiveFrame(op.f.Data, &op.e)
	} else {
		q.Respond(&op.p, &op.e)
	}
	c.fetch(q, q.receiveRing())
	if q.shared != nil {
		c.checkLimit(q.shared)
	}
	e := &op.e
	if e.Drop != core.Kept {
		c.counters[rnicspec.CntDropped]++
	} else if q.account != nil {
		q.account.draw(op)
	}
	if e.Reply.Kind != core.NoReply {
		op.reply = c.newReply(op)
	}
	if op.reply == nil && e.Drop != core.Kept {
		c.writeCompletions(q, e)
		c.endPacket(op)
		return
	}
	if e.Reply.Kind == core.ReadReply || e.Reply.Kind == core.AtomicReply {
		c.unbuffer(op)
	}
	ep := q.endpoint
	switch {
	case len(e.Place) > 0:
		ep = endpoint(e.Place[0].Bus)
	case e.Reply.Len > 0:
		ep = endpoint(e.Reply.Bus)
	}
	op.context = ep
	q.unreported++
	c.enter(op)
}

// carryOut makes the oldest request that holds a context take effect. Requests get here in the
// order of their contexts, because all hold them for the same time.
func (c *Comp) carryOut() {
	op := c.rx.granted.Pop()
	e := &op.e
	op.unsent = 1
	for i := range e.Place {
		op.unsent += c.write(e.Place[i].Bus, e.Place[i].Data, op)
	}
	c.finishRequest(op)
	switch e.Reply.Kind {
	case core.ReadReply:
		c.startRead(op)
	case core.AtomicReply:
		op.unsent++
		c.atomics.add(c, op)
	}
	op.Consumed(0)
}

// Consumed implements msg.Consumer: one of the TLPs or reads that a packet waits for has ended. The
// NIC learns of it later, after `back`, the latency of the return path.
func (op *rxOp) Consumed(back simcore.Ps) {
	now := op.c.now()
	op.acceptedAt = max(op.acceptedAt, now+back)
	if op.unsent--; op.unsent > 0 {
		return
	}
	if op.acceptedAt > now {
		op.c.after(op.acceptedAt, kindAccepted, op)
		return
	}
	op.finish()
}

// finish queues the packet for finishWrites.
func (op *rxOp) finish() {
	op.c.rx.finished.Push(op)
	op.c.arm(op.c.now())
}

// finishWrites ends packets that have taken effect: it releases their contexts and sends
// acknowledgements.
func (c *Comp) finishWrites() {
	for c.rx.finished.Len() > 0 {
		op := c.rx.finished.Pop()
		if op.context >= 0 {
			c.releaseContext(op.context)
		}
		if op.reply != nil && op.e.Reply.Kind != core.ReadReply {
			c.acknowledge(op)
		}
		c.endPacket(op)
	}
}

// unbuffer frees a packet's space in the receive buffer. A READ or atomic frees it once it was
// handled, because it then waits in the responder resources of its queue pair, whose number is
// bounded (MaxRead).
func (c *Comp) unbuffer(op *rxOp) {
	c.rx.held -= op.bytes
	op.bytes = 0
	if c.rx.more || c.rx.loopback.Len() > 0 {
		c.arm(c.now())
	}
}

// endPacket frees a packet.
func (c *Comp) endPacket(op *rxOp) {
	c.unbuffer(op)
	c.rx.ops--
	c.frames.Put(op.f)
	op.f, op.q.refs = nil, op.q.refs-1
	op.q, op.reply = nil, nil
	c.pools.ops = append(c.pools.ops, op)
}

// answered handles a response.
func (c *Comp) answered(op *rxOp) {
	q, e := op.q, &op.e
	e.Reset()
	q.Answer(&op.p, e)
	if e.Drop != core.Kept {
		c.counters[rnicspec.CntDropped]++
	}
	op.unsent = 1
	for i := range e.Place {
		op.unsent += c.write(e.Place[i].Bus, e.Place[i].Data, op)
	}
	c.writeCompletions(q, e)
	c.signals(q, e, op.p.BECN)
	if e.Wait > 0 {
		c.after(c.now()+simcore.Ps(e.Wait), kindRNR, q)
	}
	if e.Moved {
		c.activate(q)
	}
	op.Consumed(0)
}
