package rnic

import (
	"nictwin/models/format/msg"
	"nictwin/models/format/wire"
	"nictwin/models/rnic/core"
	"nictwin/models/rnic/rnicspec"
	"nictwin/models/sim/fifo"
	"nictwin/models/sim/simcore"
)

// receiver is what comes.
type receiver struct {
	more     bool // a port has frames
	slot     simcore.Ps
	held     int // bytes of packets that are not placed
	ops      int // packets under way
	unplaced int // TLPs of completion entries that were not accepted

	loop     fifo.Queue[*txPacket] // packets to the NIC itself
	granted  fifo.Queue[*rxOp]     // requests that have a context, for its time
	finished fifo.Queue[*rxOp]     // all of whose TLPs were accepted
	p        core.Packet
}

// Consumed implements msg.Consumer, for completion entries.
func (r *receiver) Consumed(simcore.Ps) { r.unplaced-- }

// Which packets follow each other.
const (
	request = iota
	response
)

// rxOp is a packet that has come, until it has had its effects.
type rxOp struct {
	c     *Comp
	q     *qpair
	f     *msg.Frame
	p     core.Packet
	e     core.Effects
	kind  int  // request or response
	raw   bool // a frame for a raw queue pair
	known bool // its lookups are done
	asked bool // they are under way
	waits bool // for a context

	bytes   int        // that it takes of the receive buffer
	context int        // endpoint whose context it has; -1: none
	unsent  int        // TLPs that were not accepted, and reads that are not over
	heard   simcore.Ps // when the NIC knows of all that were
	rep     *reply
	word    [8]byte
	next    *rxOp // in qpair.parked, then in qpair.barred
}

// takeFrames takes frames off the ports while there is room for what they hold: the line waits for the rest, as credits
// (InfiniBand) or pause frames have it.
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

// takeLoop takes packets of the NIC to itself: they yield to those from the network, which get the other half of the
// buffer.
func (c *Comp) takeLoop(now simcore.Ps) {
	for c.rx.loop.Len() > 0 && c.rx.held < c.spec.RxBytes/2 {
		x := c.rx.loop.Pop()
		f := x.f
		x.f = nil
		f.Port = x.q.port
		c.left(x)
		c.accept(f, now)
	}
}

// accept takes a frame: it gets a place in the pipeline.
func (c *Comp) accept(f *msg.Frame, now simcore.Ps) {
	c.rx.slot = max(c.rx.slot, now) + c.spec.PacketTime
	c.counters[rnicspec.CntRxPackets]++
	op := take(&c.pools.ops)
	op.c, op.f, op.context, op.known, op.asked, op.raw, op.rep, op.unsent, op.heard = c, f, -1, false, false, false,
		nil, 0, 0
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

// drop ignores a packet that nothing was reserved for.
func (c *Comp) drop(op *rxOp) {
	c.counters[rnicspec.CntDropped]++
	c.frames.Put(op.f)
	op.f = nil
	c.pools.ops = append(c.pools.ops, op)
}

// latency is what the packet's operation takes beyond what is modelled.
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

// arrived takes a packet of a queue pair whose latency is over: the first of those that came, whose latencies end in
// order. The event does not say which, since events of one time may come in any order.
func (c *Comp) arrived(q *qpair, kind int) {
	q.ripe[kind]++
	c.unpark(q, kind)
}

// unpark handles the packets of a queue pair that wait, in order, as far as what they need is at hand.
func (c *Comp) unpark(q *qpair, kind int) {
	for line := &q.parked[kind]; q.ripe[kind] > 0; {
		op := line.Front()
		if !c.lookUpPacket(op) {
			return
		}
		if kind == request && !op.raw && q.NeedsRecv(&op.p) && q.Receives() == 0 && q.recv.fetches.Len() > 0 {
			return // one is on its way
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

// respond takes a request: what it does is decided now, in order; when it takes effect is up to contexts and memory.
func (c *Comp) respond(op *rxOp) {
	q := op.q
	op.e.Reset()
	if op.raw {
		q.ReceiveFrame(op.f.Data, &op.e)
	} else {
		q.Respond(&op.p, &op.e)
	}
	c.fetch(q, &q.recv)
	e := &op.e
	if e.Drop != core.Kept {
		c.counters[rnicspec.CntDropped]++
	}
	if e.Reply.Kind != core.NoReply {
		op.rep = c.newReply(op)
	}
	if op.rep == nil && e.Drop != core.Kept {
		c.tell(q, e)
		c.over(op)
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
	q.untold++
	c.enter(op)
}

// carryOut lets a request take effect: the first of those that are held, as all are for the same time.
func (c *Comp) carryOut() {
	op := c.rx.granted.Pop()
	e := &op.e
	op.unsent = 1
	for i := range e.Place {
		op.unsent += c.write(e.Place[i].Bus, e.Place[i].Data, op)
	}
	c.told(op.q, e)
	switch e.Reply.Kind {
	case core.ReadReply:
		c.startRead(op)
	case core.AtomicReply:
		op.unsent++
		c.atomics.add(c, op)
	}
	op.Consumed(0)
}

// Consumed implements msg.Consumer: one of the things that a packet waits for has happened, and the NIC hears of it
// after the way back.
func (op *rxOp) Consumed(back simcore.Ps) {
	now := op.c.now()
	op.heard = max(op.heard, now+back)
	if op.unsent--; op.unsent > 0 {
		return
	}
	if op.heard > now {
		op.c.after(op.heard, kindHeard, op)
		return
	}
	op.finish()
}

// finish has finishWrites end the packet.
func (op *rxOp) finish() {
	op.c.rx.finished.Push(op)
	op.c.arm(op.c.now())
}

// finishWrites ends packets that have had their effects: contexts are free, and acknowledgements leave.
func (c *Comp) finishWrites() {
	for c.rx.finished.Len() > 0 {
		op := c.rx.finished.Pop()
		if op.context >= 0 {
			c.give(op.context)
		}
		if op.rep != nil && op.e.Reply.Kind != core.ReadReply {
			c.acknowledge(op)
		}
		c.over(op)
	}
}

// unbuffer gives back a packet's place in the receive buffer. That of a READ or an atomic operation is not needed once
// it was read: it waits among the responder resources of its queue pair, of which a peer may use MaxRead.
func (c *Comp) unbuffer(op *rxOp) {
	c.rx.held -= op.bytes
	op.bytes = 0
	if c.rx.more || c.rx.loop.Len() > 0 {
		c.arm(c.now())
	}
}

// over ends a packet.
func (c *Comp) over(op *rxOp) {
	c.unbuffer(op)
	c.rx.ops--
	c.frames.Put(op.f)
	op.f, op.q.refs = nil, op.q.refs-1
	op.q, op.rep = nil, nil
	c.pools.ops = append(c.pools.ops, op)
}

// answered takes a response.
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
	c.tell(q, e)
	if e.Wait > 0 {
		c.after(c.now()+simcore.Ps(e.Wait), kindRNR, q)
	}
	if e.Moved {
		c.activate(q)
	}
	op.Consumed(0)
}
