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

// port is one port, as input and as output.
type port struct {
	Dropped

	s     *Switch
	index int
	spec  *PortSpec
	port  *simcore.Port
	lane  [2]*channel // inward, outward

	// The connection, if it knows classes. It is looked up once there is one.
	known  bool
	rooms  classRoom
	offers offerer
	retry  retrier

	// As input.
	straight bool // the channel is its own and has no rate
	stuck    bool // a TLP finds no room in its pair's queue
	in       [3]pcielink.Count
	latest   *msg.TLP // that was looked at and not retrieved, and its way
	its      way

	// As output: the pairs by input, the last being the switch itself.
	pairs  []order.Queue[*msg.TLP]
	queued int
	next   int // whose turn it is
	out    [][3]pcielink.Count
}

// classRoom is a connection that knows the room of each class.
type classRoom interface {
	Room(src *simcore.Port, c tlp.Class, depart simcore.Ps) bool
}

// offerer is one that looks for room and sends at once.
type offerer interface {
	Offer(src *simcore.Port, c tlp.Class, depart simcore.Ps, p *msg.TLP) bool
}

// retrier is a connection that keeps what the switch did not take.
type retrier interface{ Retry(port *simcore.Port) }

// connected looks the connection up; it stays the same once TLPs have crossed it.
func (p *port) connected() {
	if !p.known {
		c := p.port.Connection()
		p.known = c != nil
		p.rooms, _ = c.(classRoom)
		p.offers, _ = c.(offerer)
		p.retry, _ = c.(retrier)
	}
}

// way is where a TLP goes, and what it counts.
type way struct {
	verdict route.Verdict
	out     int
	class   tlp.Class
	bytes   int
	valid   bool // of a type that is supported
}

// wayOf is the way of a TLP that came in here. That of the latest one is known.
func (p *port) wayOf(t *msg.TLP) *way {
	if t == p.latest {
		return &p.its
	}
	h := t.Parsed()
	w := way{class: h.Kind.Class(), bytes: p.s.spec.WireBytes(h, len(t.Data)), valid: h.Kind != tlp.KindInvalid}
	w.out, w.verdict = p.s.routes.Route(p.index, h)
	p.latest, p.its = t, w
	return &p.its
}

// offerAgain has the link offer what the switch did not take.
func (p *port) offerAgain() {
	if p.connected(); p.retry != nil {
		p.retry.Retry(p.port)
	}
}

// Takes implements pcielink.Input: is there room for a TLP? Before a channel with a rate one at a time waits in the
// port, so that the port has its turn and the classes still pass each other in the link.
func (p *port) Takes(t *msg.TLP) bool {
	if p.lane[inward].paced && p.port.Len() > 0 {
		return false // the channel offers it again when it has taken that one
	}
	return p.admits(t)
}

// Straight implements pcielink.Input: an input without a rate, at which nothing waits and nobody looks on, forwards at
// once.
func (p *port) Straight(t *msg.TLP) bool {
	return p.straight && t == p.latest && p.its.valid && !p.lane[inward].serving && p.port.Len() == 0 &&
		p.port.NumHooks() == 0
}

// Enter implements pcielink.Input.
func (p *port) Enter(t *msg.TLP, now simcore.Ps) {
	c := p.lane[inward]
	c.serving, c.again = true, false
	p.let(t, now)
	c.serving = false
	if c.again {
		c.serve(now)
	}
}

// admits reports whether there is room where a TLP that came in here goes, and remembers if not.
func (p *port) admits(t *msg.TLP) bool {
	w := p.wayOf(t)
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

// take moves one TLP from the input to where it goes. It reports whether there was one that could go.
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
	p.let(t, now)
	return true
}

// let has a TLP that was retrieved go where there is room for it.
func (p *port) let(t *msg.TLP, now simcore.Ps) {
	w := *p.wayOf(t)
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

// accept takes a TLP into the queue of its pair, or sends it at once if nothing is before it.
func (p *port) accept(from int, w way, t *msg.TLP) {
	if p.queued == 0 && !p.lane[outward].paced && p.pass(from, w, t) {
		return
	}
	p.pairs[from].Push(key(t), t)
	p.queued++
	p.lane[outward].serve(p.s.clock.Now())
}

// pass sends a TLP if the connection has room for it, and reports whether it had.
func (p *port) pass(from int, w way, t *msg.TLP) bool {
	if p.connected(); p.offers == nil || p.port.NumHooks() != 0 {
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

// room reports whether the connection takes a TLP of a class now, to depart at a time.
func (p *port) room(c tlp.Class, depart simcore.Ps) bool {
	p.connected()
	if p.rooms != nil {
		return p.rooms.Room(p.port, c, depart)
	}
	return p.port.CanSend()
}

// give sends one TLP of the pair whose turn it is. It reports whether one could go.
func (p *port) give(now simcore.Ps) bool {
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
		w := way{class: h.Kind.Class(), bytes: p.s.spec.WireBytes(h, len(t.Data))}
		if c := p.lane[outward]; c.paced {
			depart = c.wire.Transmit(depart, int64(w.bytes))
		}
		p.emit(i, w, t, depart)
		p.s.input(i, p).unstick(now)
		return true
	}
	return false
}

// outGate lets a TLP go that the connection has room for.
type outGate port

// Open implements order.Gate.
func (p *outGate) Open(c tlp.Class, t *msg.TLP) bool {
	return (*port)(p).room(c, max(t.Depart, p.s.clock.Now()))
}

// emit sends a TLP that the connection has room for.
func (p *port) emit(from int, w way, t *msg.TLP, depart simcore.Ps) {
	p.out[from][w.class].Add(w.bytes, len(t.Data))
	t.Depart = depart
	if p.port.Send(t) != nil {
		p.s.fail(fmt.Errorf("nicswitch: %s: the link at port %s refused a TLP that it had room for", p.s.Name(),
			p.spec.Name))
	}
}

// rewind has all pairs look at what could not go before.
func (p *port) rewind() {
	for i := range p.pairs {
		if p.pairs[i].Len() > 0 {
			p.pairs[i].Rewind()
		}
	}
}

// unstick has the input try again: a queue has room.
func (p *port) unstick(now simcore.Ps) {
	if p.stuck {
		p.stuck = false
		p.lane[inward].arm(now)
	}
}
