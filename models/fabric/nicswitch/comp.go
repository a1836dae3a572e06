package nicswitch

import (
	"fmt"

	"github.com/sarchlab/akita/v3/sim"

	"nictwin/models/fabric/nicswitch/route"
	"nictwin/models/fabric/pcielink"
	"nictwin/models/format/msg"
	"nictwin/models/format/tlp"
	"nictwin/models/format/tlp/order"
	"nictwin/models/sim/simcore"
)

// Switch moves TLPs between its ports. See the package comment.
type Switch struct {
	*sim.ComponentBase

	spec        Spec
	clock       simcore.Clock
	tlps        *msg.TLPs
	routes      *route.Table
	urCompleter *tlp.Completer
	bound       [3]int // capacity of the queue of an input and an output, by class
	ports       []*port
	failed      error
	alarm       simcore.Event // ends the run after a failure
}

var (
	_ sim.Component   = (*Switch)(nil)
	_ pcielink.Direct = (*Switch)(nil)
)

// Spec returns the spec that the switch was built from.
func (s *Switch) Spec() Spec { return s.spec }

// Port returns the port with the given name, or nil.
func (s *Switch) Port(name string) *simcore.Port {
	if p := s.named(name); p != nil {
		return p.port
	}
	return nil
}

func (s *Switch) named(name string) *port {
	for _, p := range s.ports {
		if p.spec.Name == name {
			return p
		}
	}
	return nil
}

// of returns the port that sp belongs to.
func (s *Switch) of(sp sim.Port) *port {
	own, _ := sp.(*simcore.Port)
	for _, p := range s.ports {
		if p.port == own {
			return p
		}
	}
	panic(fmt.Sprintf("nicswitch: %s has no port %v", s.Name(), sp))
}

// input returns the input port of one of an output's queues. The last queue holds completions made
// by the switch, which belong to the output port itself.
func (s *Switch) input(pair int, out *port) *port {
	if pair == len(s.ports) {
		return out
	}
	return s.ports[pair]
}

// Err returns the first error, or nil.
func (s *Switch) Err() error { return s.failed }

func (s *Switch) fail(err error) {
	if s.failed != nil {
		return
	}
	s.failed = err
	s.alarm = simcore.Event{At: s.clock.Now(), H: s}
	s.clock.Schedule(&s.alarm)
}

// NotifyRecv implements sim.Component.
func (s *Switch) NotifyRecv(_ sim.VTimeInSec, sp sim.Port) {
	s.of(sp).lane[inward].serve(s.clock.Now())
}

// NotifyPortFree implements sim.Component.
func (s *Switch) NotifyPortFree(_ sim.VTimeInSec, sp sim.Port) {
	p := s.of(sp)
	p.rewind()
	p.lane[outward].serve(s.clock.Now())
}

// Handle implements sim.Handler: a channel's timer has expired.
func (s *Switch) Handle(e sim.Event) error {
	if ev, ok := e.(*simcore.Event); ok && ev.Arg != nil {
		ev.Arg.(*channel).due(s.clock.Now())
	}
	return s.failed
}

// Takes implements pcielink.Selective: it reports whether the queue that a TLP goes to has room.
func (s *Switch) Takes(sp *simcore.Port, p *msg.TLP) bool { return s.of(sp).Takes(p) }

// Input implements pcielink.Direct.
func (s *Switch) Input(sp *simcore.Port) pcielink.Input { return s.of(sp) }

// enter routes a TLP that has crossed the input's channel.
func (s *Switch) enter(in *port, p *msg.TLP, w path) {
	switch w.verdict {
	case route.Forward:
		s.ports[w.out].accept(in.index, w, p)
		return
	case route.Broadcast:
		s.broadcast(in, w, p)
		return // broadcast has sent p itself to the last port
	case route.Unsupported:
		in.Refused.Add(w.bytes, len(p.Data))
		if w.class == tlp.NonPosted {
			s.refuse(in, p.Parsed(), p.Depart)
		}
	case route.Unexpected:
		in.Unexpected.Add(w.bytes, len(p.Data))
	default:
		in.Consumed.Add(w.bytes, len(p.Data))
	}
	s.tlps.Put(p)
}

// broadcast sends a message to every port except the one where it entered.
func (s *Switch) broadcast(in *port, w path, p *msg.TLP) {
	last := s.ports[len(s.ports)-1]
	if last == in {
		last = s.ports[len(s.ports)-2]
	}
	for _, out := range s.ports {
		if out == in || out == last {
			continue
		}
		dup := s.tlps.Get()
		dup.Hdr, dup.Seq, dup.Depart = p.Hdr, p.Seq, p.Depart
		if len(p.Data) > 0 {
			copy(dup.Own(len(p.Data)), p.Data)
		}
		in.Made.Add(w.bytes, len(p.Data))
		out.accept(in.index, w, dup)
	}
	last.accept(in.index, w, p)
}

// refuse answers a read that no port claims: its completion has status UR.
func (s *Switch) refuse(in *port, h *tlp.Header, ready simcore.Ps) {
	reply, err := s.urCompleter.Begin(h)
	answer := s.tlps.Get()
	if err == nil {
		err = reply.Refuse(&answer.Packet, tlp.StatusUR)
	}
	if err != nil {
		s.fail(fmt.Errorf("nicswitch: %s: %w", s.Name(), err))
		return
	}
	answer.Depart = ready
	w := path{class: tlp.Completion, bytes: s.spec.WireBytes(answer.Parsed(), 0)}
	in.Made.Add(w.bytes, 0)
	in.accept(len(s.ports), w, answer)
}

// key returns order.KeyOf of a TLP.
func key(p *msg.TLP) order.Key { return order.KeyOf(p.Parsed()) }
