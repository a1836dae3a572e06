package nicswitch

import (
	"fmt"

	"nictwin/models/fabric/nicswitch/route"
	"nictwin/models/fabric/pcielink"
	"nictwin/models/format/msg"
	"nictwin/models/format/tlp"
	"nictwin/models/format/tlp/order"
	"nictwin/models/sim/simcore"
)

// port is one port of the switch, ingress and egress.
type port struct {
	Dropped

	s     *Switch
	index int
	spec  *PortSpec
	port  *simcore.Port
	lane  [2]*channel // channels into and out of the switch

	// Go interfaces of the connection, nil if it does not implement them; known: they have been looked up, which is
	// done at first use.
	known  bool
	rooms  classRoom
	offers offerer
	retry  retrier

	// State of the ingress side.
	straight   bool // this port's channel serves no other port and has no rate
	stuck      bool // a TLP waits because the queue to the TLP's output is full
	in         [3]pcielink.Count
	latest     *msg.TLP // last TLP that was routed and has not been retrieved; latestPath is the path of that TLP
	latestPath path

	// State of the egress side: a queue per input; the last one is for completions made by the
	// switch.
	pairs  []order.Queue[*msg.TLP]
	queued int
	next   int // index of the queue that is served next
	out    [][3]pcielink.Count
}

// classRoom is a connection that reports room for each class separately.
type classRoom interface {
	Room(src *simcore.Port, c tlp.Class, depart simcore.Ps) bool
}

// offerer is a connection that sends a TLP if it has room, in one call.
type offerer interface {
	Offer(src *simcore.Port, c tlp.Class, depart simcore.Ps, p *msg.TLP) bool
}

// retrier is a connection that buffers the TLPs that the switch did not take, and offers them again
// on Retry.
type retrier interface{ Retry(port *simcore.Port) }

// lookUpConnection finds out what the port's connection implements. It does so once: the connection
// stays the same.
func (p *port) lookUpConnection() {
	if !p.known {
		c := p.port.Connection()
		p.known = c != nil
		p.rooms, _ = c.(classRoom)
		p.offers, _ = c.(offerer)
		p.retry, _ = c.(retrier)
	}
}

// path is a TLP's route through the switch, with its class and size for the counters.
type path struct {
	verdict route.Verdict
	out     int
	class   tlp.Class
	bytes   int
	valid   bool // the TLP's type is supported
}

// pathOf returns the path of a TLP that arrived at this port. It caches the path of the latest TLP,
// which is asked for several times.
func (p *port) pathOf(t *msg.TLP) *path {
	if t == p.latest {
		return &p.latestPath
	}
	h := t.Parsed()
	w := path{class: h.Kind.Class(), bytes: p.s.spec.WireBytes(h, len(t.Data)), valid: h.Kind != tlp.KindInvalid}
	w.out, w.verdict = p.s.routes.Route(p.index, h)
	p.latest, p.latestPath = t, w
	return &p.latestPath
}

// offerAgain makes the link offer the TLPs again that the switch did not take.
func (p *port) offerAgain() {
	if p.lookUpConnection(); p.retry != nil {
		p.retry.Retry(p.port)
	}
}

// Takes implements pcielink.Input: it reports whether there is room for a TLP. In front of a
// channel with a rate, only one TLP at a time waits in the port for its turn; the others wait in
// the link, where classes can still pass each other.
func (p *port) Takes(t *msg.TLP) bool {
	if p.lane[inward].paced && p.port.Len() > 0 {
		return false // once the channel has taken the waiting TLP, it makes the link offer t again
	}
	return p.admits(t)
}

// Straight implements pcielink.Input: it reports whether a TLP can be forwarded at once. That needs
// an input without a rate, without a waiting TLP, and without hooks, which would not see it.
func (p *port) Straight(t *msg.TLP) bool {
	return p.straight && t == p.latest && p.latestPath.valid && !p.lane[inward].serving && p.port.Len() == 0 &&
		p.port.NumHooks() == 0
}

// Enter implements pcielink.Input.
func (p *port) Enter(t *msg.TLP, now simcore.Ps) {
	c := p.lane[inward]
	c.serving, c.serveAgain = true, false
	p.forward(t, now)
	c.serving = false
	if c.serveAgain {
		c.serve(now)
	}
}

// admits reports whether all queues that a TLP from this port goes to have room. If not, it marks
// the port as stuck.
func (p *port) admits(t *msg.TLP) bool {
	w := p.pathOf(t)
	ok := true
	switch {
	case w.verdict == route.Forward:
		ok = p.s.ports[w.out].hasRoom(p.index, w.class)
	case w.verdict == route.Unsupported && w.class == tlp.NonPosted:
		ok = p.hasRoom(len(p.s.ports), tlp.Completion)
	case w.verdict == route.Broadcast:
		for _, o := range p.s.ports {
			ok = ok && (o == p || o.hasRoom(p.index, w.class))
		}
	}
	p.stuck = p.stuck || !ok
	return ok
}

func (p *port) hasRoom(from int, c tlp.Class) bool { return p.pairs[from].Count(c) < p.s.bound[c] }

// take moves the TLP at the head of the port to its output's queue. It reports whether it could.
func (p *port) take(now simcore.Ps) bool {
	m := p.port.Peek()
	if m == nil {
		return false
	}
	t, ok := m.(*msg.TLP)
	switch {
	case !ok:
		p.s.fail(fmt.Errorf("nicswitch: %s: port %s received a %T: want a TLP", p.s.Name(), p.spec.Name, m))
		p.port.Retrieve(p.s.clock.Sec())
		return true
	case t.Parsed().Kind == tlp.KindInvalid:
		p.s.fail(fmt.Errorf("nicswitch: %s: port %s received a TLP of a type that is not supported: %v", p.s.Name(),
			p.spec.Name, t))
		p.port.Retrieve(p.s.clock.Sec())
		return true
	case !p.admits(t):
		return false
	}
	p.port.Retrieve(p.s.clock.Sec())
	p.forward(t, now)
	return true
}

// forward stamps and counts a retrieved TLP, and passes it on; the caller has checked for room.
func (p *port) forward(t *msg.TLP, now simcore.Ps) {
	w := *p.pathOf(t)
	p.latest = nil
	ready := now
	if c := p.lane[inward]; c.paced {
		ready = c.wire.Transmit(now, int64(w.bytes))
	}
	t.Depart = ready + p.s.spec.Latency
	t.Back += p.s.spec.Latency
	p.in[w.class].Add(w.bytes, len(t.Data))
	p.s.enter(p, t, w)
}

// accept queues a TLP that came from an input, or sends it at once if nothing waits at this output.
func (p *port) accept(from int, w path, t *msg.TLP) {
	if p.queued == 0 && !p.lane[outward].paced && p.trySend(from, w, t) {
		return
	}
	p.pairs[from].Push(key(t), t)
	p.queued++
	p.lane[outward].serve(p.s.clock.Now())
}

// trySend sends a TLP if the connection has room for it, and reports whether it had.
func (p *port) trySend(from int, w path, t *msg.TLP) bool {
	if p.lookUpConnection(); p.offers == nil || p.port.NumHooks() != 0 {
		if !p.room(w.class, t.Depart) {
			return false
		}
		p.emit(from, w, t, t.Depart)
		return true
	}
	if !p.offers.Offer(p.port, w.class, t.Depart, t) {
		return false
	}
	p.out[from][w.class].Add(w.bytes, len(t.Data))
	return true
}

// room reports whether the connection takes a TLP of a class that departs at the given time.
func (p *port) room(c tlp.Class, depart simcore.Ps) bool {
	p.lookUpConnection()
	if p.rooms != nil {
		return p.rooms.Room(p.port, c, depart)
	}
	return p.port.CanSend()
}

// sendNext sends one TLP, from the first queue in turn that has one that can leave. It reports
// whether there was one.
func (p *port) sendNext(now simcore.Ps) bool {
	if p.queued == 0 {
		return false
	}
	for k := range p.pairs {
		i := p.next + k
		if i >= len(p.pairs) {
			i -= len(p.pairs)
		}
		q := &p.pairs[i]
		if q.Len() == 0 {
			continue
		}
		t, ok := q.Next((*outGate)(p))
		if !ok {
			continue
		}
		p.queued--
		p.next = i + 1
		if p.next == len(p.pairs) {
			p.next = 0
		}
		h, depart := t.Parsed(), max(t.Depart, now)
		w := path{class: h.Kind.Class(), bytes: p.s.spec.WireBytes(h, len(t.Data))}
		if c := p.lane[outward]; c.paced {
			depart = c.wire.Transmit(depart, int64(w.bytes))
		}
		p.emit(i, w, t, depart)
		p.s.input(i, p).unstick(now)
		return true
	}
	return false
}

// outGate selects the TLPs that the connection has room for.
type outGate port

// Open implements order.Gate.
func (p *outGate) Open(c tlp.Class, t *msg.TLP) bool {
	return (*port)(p).room(c, max(t.Depart, p.s.clock.Now()))
}

// emit sends a TLP that the connection has room for.
func (p *port) emit(from int, w path, t *msg.TLP, depart simcore.Ps) {
	p.out[from][w.class].Add(w.bytes, len(t.Data))
	t.Depart = depart
	if p.port.Send(t) != nil {
		p.s.fail(fmt.Errorf("nicswitch: %s: the link at port %s refused a TLP that it had room for", p.s.Name(),
			p.spec.Name))
	}
}

// rewind makes all queues consider the TLPs again that could not leave before.
func (p *port) rewind() {
	for i := range p.pairs {
		if p.pairs[i].Len() > 0 {
			p.pairs[i].Rewind()
		}
	}
}

// unstick makes the input's channel try again, because a queue has room now.
func (p *port) unstick(now simcore.Ps) {
	if p.stuck {
		p.stuck = false
		p.lane[inward].arm(now)
	}
}
