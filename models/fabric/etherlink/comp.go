package etherlink

import (
	"fmt"
	"math/bits"

	"github.com/sarchlab/akita/v3/sim"

	"nictwin/models/fabric/etherlink/core"
	"nictwin/models/format/ether"
	"nictwin/models/format/msg"
	"nictwin/models/sim/simcore"
)

// Switch forwards frames between its ports. See the package comment.
type Switch struct {
	*sim.ComponentBase

	spec   Spec
	clock  simcore.Clock
	frames *msg.Frames
	table  *core.Table
	pool   *core.Pool
	ports  []*port
	events simcore.EventPool // free list of kindWake events
	failed error

	worked     simcore.Ps // latest instant at which all due work was done; -1: none
	turn       int        // port whose pipeline is emptied first: the one after the source of the last frame admitted
	inPipeline uint64     // bit p: port p has frames in its pipeline
	toSend     uint64     // bit p: port p has frames to send
	sending    uint64     // bit p: port p is sending
	pausing    uint64     // bit p: the peer of port p has been paused
}

// Kinds of events of the switch.
const (
	kindAdmit  = iota // a frame has reached the end of a pipeline
	kindDone          // the last bit of a frame has left a port
	kindWake          // a pause ends or must be refreshed, a frame may begin to leave, or a link has room
	kindBroken        // ends the run after a failure
)

// Spec returns the spec that the switch was built from.
func (s *Switch) Spec() Spec { return s.spec }

// Port returns port i, counted from 0.
func (s *Switch) Port(i int) *simcore.Port { return s.ports[i].port }

// Pace makes a port send at the rate of a cable that begins behind a decorator. The link between the port and the
// decorator then has no rate, and latency `past`: when the port sends a frame, it may date the departure back by as
// much.
func (s *Switch) Pace(port int, cable simcore.LinkSpec, past simcore.Ps) {
	s.ports[port].pace(cable, past)
}

// Err returns the first error, or nil.
func (s *Switch) Err() error { return s.failed }

func (s *Switch) fail(format string, a ...any) {
	if s.failed == nil {
		s.failed = fmt.Errorf("etherlink: "+s.Name()+": "+format, a...)
		s.clock.Schedule(&simcore.Event{At: s.clock.Now(), H: s, Kind: kindBroken})
	}
}

// of returns the port that sp belongs to.
func (s *Switch) of(sp sim.Port) *port {
	own, _ := sp.(*simcore.Port)
	for _, p := range s.ports {
		if p.port == own {
			return p
		}
	}
	panic(fmt.Sprintf("etherlink: %s has no port %v", s.Name(), sp))
}

// NotifyRecv implements sim.Component: a frame has arrived and enters the pipeline.
func (s *Switch) NotifyRecv(at sim.VTimeInSec, sp sim.Port) {
	p, now := s.of(sp), s.clock.Now()
	for m := p.port.Retrieve(at); m != nil; m = p.port.Retrieve(at) {
		f, ok := m.(*msg.Frame)
		if !ok {
			s.fail("port %d received a %T: want a frame", p.index, m)
			return
		}
		p.count.In.Add(f.Bytes())
		if p.connect() {
			p.enter(f, now)
		}
	}
}

// NotifyPortFree implements sim.Component: a link has room. The switch uses the room 1 ps later, so
// that the order of events within an instant does not matter.
func (s *Switch) NotifyPortFree(sim.VTimeInSec, sim.Port) { s.wake(s.clock.Now() + 1) }

// wake schedules work for the given time.
func (s *Switch) wake(at simcore.Ps) {
	ev := s.events.Get()
	ev.At, ev.H, ev.Kind = at, s, kindWake
	s.clock.Schedule(ev)
}

// Handle implements sim.Handler.
func (s *Switch) Handle(e sim.Event) error {
	ev, ok := e.(*simcore.Event)
	if !ok {
		return fmt.Errorf("etherlink: %s: event of type %T: want its own", s.Name(), e)
	}
	now, kind := s.clock.Now(), ev.Kind
	p, _ := ev.Arg.(*port)
	switch kind {
	case kindAdmit:
		p.admit.armed = false
	case kindDone:
		p.done.armed = false
	case kindWake:
		s.events.Put(ev)
	}
	s.work(now)
	switch {
	case kind == kindAdmit && p.pipe.Len() > 0:
		p.admit.arm(&s.clock, p.pipe.Front().due)
	case kind == kindDone && s.sending&p.bit != 0 && p.line.Busy() > now:
		p.done.arm(&s.clock, p.line.Busy())
	}
	return s.failed
}

// work does everything that is due by now. The first event of an instant does all of its work, so
// the order of the instant's events does not matter.
func (s *Switch) work(now simcore.Ps) {
	if now == s.worked || s.failed != nil {
		return
	}
	s.worked = now
	for m := s.sending; m != 0; m &= m - 1 {
		if p := s.ports[bits.TrailingZeros64(m)]; p.line.Busy() <= now {
			p.finish()
		}
	}
	from := uint64(1)<<s.turn - 1
	s.admit(s.inPipeline&^from, now)
	s.admit(s.inPipeline&from, now)
	for m := s.pausing; m != 0; m &= m - 1 {
		s.ports[bits.TrailingZeros64(m)].refreshPause(now)
	}
	for m := s.toSend &^ s.sending; m != 0; m &= m - 1 {
		s.ports[bits.TrailingZeros64(m)].serve(now)
	}
}

// admit moves frames that have reached the end of the given ports' pipelines to the egress queues.
func (s *Switch) admit(ports uint64, now simcore.Ps) {
	for ; ports != 0; ports &= ports - 1 {
		p := s.ports[bits.TrailingZeros64(ports)]
		for p.pipe.Len() > 0 && p.pipe.Front().due <= now {
			a := p.pipe.Pop()
			s.forward(p, a.f, a.arrived, now)
		}
		if p.pipe.Len() == 0 {
			s.inPipeline &^= p.bit
		}
	}
}

// forward handles a frame at the end of the pipeline: it applies a pause frame, and looks up any
// other frame's destination, or drops it.
func (s *Switch) forward(in *port, f *msg.Frame, arrived, now simcore.Ps) {
	if pause, ok := ether.ParsePause(f.Data); ok {
		in.obey(&pause, now)
		in.count.PausesIn.Add(f.Bytes())
		s.frames.Put(f)
		return
	}
	switch n := len(f.Data); {
	case n < runt:
		in.drop(f, core.Runt)
		return
	case n > s.spec.Longest:
		in.drop(f, core.Oversize)
		return
	}
	s.table.Learn(f.Data, in.lead)
	switch lead, dst := s.table.Lookup(f.Data); {
	case dst == core.ToNobody:
		in.drop(f, core.Filtered)
	case dst == core.ToAll:
		s.flood(in, f, arrived, now)
	case lead == in.lead:
		in.drop(f, core.Local)
	default:
		s.ports[lead].member(f).accept(in, f, arrived, now)
	}
}

// runt is the length of an Ethernet header: a shorter frame has no complete addresses and type.
const runt = 14

// flood sends a frame to every port and LAG except the one where it entered.
func (s *Switch) flood(in *port, f *msg.Frame, arrived, now simcore.Ps) {
	var last *port
	for _, p := range s.ports {
		if p.lead != p.index || p.index == in.lead || !p.members[0].port.Plugged() {
			continue
		}
		if last != nil {
			dup := s.frames.Copy(f.Data)
			dup.Seq, dup.Trim = f.Seq, f.Trim
			in.count.Made.Add(dup.Bytes())
			last.member(dup).accept(in, dup, arrived, now)
		}
		last = p
	}
	if last == nil {
		in.drop(f, core.Nowhere)
		return
	}
	last.member(f).accept(in, f, arrived, now)
}

var (
	_ sim.Component = (*Switch)(nil)
	_ sim.Handler   = (*Switch)(nil)
)
