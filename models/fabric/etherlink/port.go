package etherlink

import (
	"nictwin/models/fabric/etherlink/core"
	"nictwin/models/format/ether"
	"nictwin/models/format/msg"
	"nictwin/models/sim/fifo"
	"nictwin/models/sim/simcore"
)

// port is one port of the switch, ingress and egress.
type port struct {
	s       *Switch
	index   int
	bit     uint64
	lead    int     // number of the first port of its LAG; without a LAG, of the port itself
	members []*port // ports of the LAG, in its first port; without a LAG, the port itself
	mac     core.MAC
	port    *simcore.Port

	// Properties of the connected link, or of the cable given to Pace.
	linked   bool
	line     simcore.Serial
	overhead int
	past     simcore.Ps // how far a frame's departure may lie in the past; -1: no bound

	// State of the ingress side: the pipeline, and the pause frames sent to the peer.
	pipe     fifo.Queue[arrival]
	admit    timer
	paused   uint8      // a bit for each class that the latest pause frame paused
	pausedAt simcore.Ps // time of the latest pause frame
	refresh  bool       // the pause must be refreshed by another frame

	// State of the egress side.
	queues  [core.Classes]fifo.Queue[queued]
	waiting uint8             // a bit for each class with frames
	sizes   [core.Classes]int // wire bytes of the frame at the head of each queue
	sched   core.Scheduler
	out     queued // frame being sent; zero for a pause frame, which occupies no buffer
	done    timer
	stops   stops
	drawn   uint64                   // random numbers drawn so far to decide on ECN marks
	woken   [core.Classes]simcore.Ps // latest wake-up scheduled for the head of each queue

	count PortCounters
}

// arrival is a frame in the pipeline.
type arrival struct {
	f            *msg.Frame
	arrived, due simcore.Ps // times at which the frame's last bit arrives, and at which the frame leaves the pipeline
}

// queued is a frame in the shared buffer.
type queued struct {
	f               *msg.Frame
	bytes           int
	in              *port
	class           uint8
	ready, admitted simcore.Ps // earliest time to begin to leave; time of admission
}

// connect reads the properties of the connected link, and reports whether that carries frames.
func (p *port) connect() bool {
	if p.linked {
		return true
	}
	switch l := p.port.Connection().(type) {
	case *Link:
		p.line, p.overhead, p.past = simcore.NewSerial(l.spec.Rate()), ether.WireOverhead, -1
	case *simcore.Link:
		p.line, p.overhead, p.past = simcore.NewSerial(l.Spec().Rate), l.Spec().OverheadBytes, l.Spec().Latency
	default:
		p.s.fail("port %d is plugged into a %T: want an etherlink.Link or a simcore.Link", p.index, l)
		return false
	}
	p.linked = true
	return true
}

// pace makes the port send at the rate of a cable that begins behind the connected link; see
// Switch.Pace.
func (p *port) pace(cable simcore.LinkSpec, past simcore.Ps) {
	p.line, p.overhead, p.past, p.linked = simcore.NewSerial(cable.Rate), cable.OverheadBytes, past, true
}

// wire returns how long a frame of n bytes takes on the link.
func (p *port) wire(n int) simcore.Ps { return p.line.TimeOf(n + p.overhead) }

// enter puts a frame into the pipeline. The frame leaves the pipeline at least 1 ps later, so that the order of
// events within an instant does not matter.
func (p *port) enter(f *msg.Frame, now simcore.Ps) {
	due := now + p.s.spec.Latency
	if p.s.spec.Mode == CutThrough {
		due = max(now+1, due-p.wire(f.Bytes()))
	}
	if last := p.pipe.Len(); last > 0 { // frames keep their order: a short one does not overtake a long one
		due = max(due, p.pipe.At(last-1).due)
	}
	p.pipe.Push(arrival{f, now, due})
	p.s.inPipeline |= p.bit
	p.admit.arm(&p.s.clock, p.pipe.Front().due)
}

// member returns the port of the LAG that a frame's flow is sent by.
func (p *port) member(f *msg.Frame) *port {
	if len(p.members) == 1 {
		return p.members[0]
	}
	return p.members[core.FlowHash(f.Data, p.s.spec.Seed)%uint64(len(p.members))]
}

func (p *port) drop(f *msg.Frame, why core.Reason) {
	p.count.Dropped[why].Add(f.Bytes())
	p.s.frames.Put(f)
}

// accept admits a frame to the shared buffer and to an egress queue of p, or drops it.
func (p *port) accept(in *port, f *msg.Frame, arrived, now simcore.Ps) {
	s, n := p.s, f.Bytes()
	if !p.port.Plugged() {
		in.drop(f, core.Nowhere)
		return
	}
	if !p.connect() {
		return
	}
	class := s.spec.ClassBy.Class(f.Data)
	before := s.pool.Queued(p.index, class)
	if why := s.pool.Admit(in.index, p.index, class, n); why != core.None {
		in.drop(f, why)
		return
	}
	if s.turn = in.index + 1; s.turn == len(s.ports) {
		s.turn = 0
	}
	p.mark(f, class, before)
	ready := arrived + s.spec.Latency
	if s.spec.Mode == CutThrough {
		if w := in.wire(n); w <= p.wire(n) {
			ready -= w
		}
	}
	p.queues[class].Push(queued{f, n, in, class, ready, now})
	if p.queues[class].Len() == 1 {
		p.sizes[class] = n + ether.WireOverhead
	}
	p.waiting |= 1 << class
	s.toSend |= p.bit
	in.checkThresholds()
}

// mark decides whether to set CE, and sets it: `before` is the number of bytes in the queue that the frame joins.
func (p *port) mark(f *msg.Frame, class uint8, before int) {
	ecn := &p.s.spec.Classes[class].ECN
	if ecn.KmaxBytes == 0 || before < ecn.KminBytes {
		return
	}
	p.drawn++
	if !ecn.Marks(before, core.Chance(core.SubSeed(p.s.spec.Seed, uint64(p.index)), p.drawn)) {
		return
	}
	switch core.MarkCE(f.Data) {
	case core.Marked:
		p.count.Marked++
	case core.Unaware:
		p.count.Unaware++
	}
}

// finish frees the buffer space of the frame that has just left.
func (p *port) finish() {
	p.s.sending &^= p.bit
	if q := p.out; q.in != nil {
		p.s.pool.Release(q.in.index, p.index, q.class, q.bytes)
		q.in.checkThresholds()
	}
	p.out = queued{}
}

// serve sends frames until the link is busy, has no room, or no frame may leave. Pause frames go
// first.
func (p *port) serve(now simcore.Ps) {
	for p.s.sending&p.bit == 0 && p.connect() {
		if p.pauseDue() {
			if !p.port.CanSend() {
				return
			}
			p.sendPause(now)
		} else if !p.next(now) {
			break
		}
		if p.line.Busy() <= now { // the link has no rate limit: the frame has left already
			p.finish()
		}
	}
	if p.waiting == 0 && !p.pauseDue() && p.s.sending&p.bit == 0 {
		p.s.toSend &^= p.bit
	}
}

// next sends the frame that the scheduler selects, and reports whether there was one.
func (p *port) next(now simcore.Ps) bool {
	ready := p.waiting &^ p.stops.classes(now)
	for m := ready; m != 0; m &= m - 1 {
		c := lowest(m)
		if at := p.queues[c].Front().ready; at > now {
			ready &^= 1 << c
			if p.woken[c] != at {
				p.woken[c] = at
				p.s.wake(at)
			}
		}
	}
	if ready == 0 || !p.port.CanSend() {
		return false
	}
	c := p.sched.Next(ready, p.waiting, &p.sizes)
	q := p.queues[c].Pop()
	if p.queues[c].Len() == 0 {
		p.waiting &^= 1 << c
	} else {
		p.sizes[c] = p.queues[c].Front().bytes + ether.WireOverhead
	}
	from := now
	if q.admitted == now { // cut through: the frame may begin before its last bit has arrived
		from = max(q.ready, p.stops.since(c))
	}
	p.count.Out.Add(q.bytes)
	p.out = q
	p.out.f = nil // the link owns the frame from here on
	p.send(q.f, from, now)
	return true
}

// send puts a frame on the link; it begins to leave at the time `from` or, if the link is busy, later.
func (p *port) send(f *msg.Frame, from, now simcore.Ps) {
	if p.past >= 0 {
		from = max(from, now-p.past)
	}
	from = max(from, p.line.Busy())
	p.line.Transmit(from, int64(f.Bytes()+p.overhead))
	f.Queue = -1
	p.s.sending |= p.bit
	if p.port.SendAt(f, from) != nil {
		p.s.fail("the link at port %d refused a frame that it had room for", p.index)
		return
	}
	if p.line.Busy() > now {
		p.done.arm(&p.s.clock, p.line.Busy())
	}
}
