package pcielink

import (
	"fmt"

	"github.com/sarchlab/akita/v3/sim"

	"nictwin/models/format/msg"
	"nictwin/models/format/tlp"
	"nictwin/models/sim/simcore"
)

// Selective is a component that cannot take every TLP at any time. A TLP that it does not take
// waits in the link's receive buffer, where others may pass it; the component calls Link.Retry when
// it may take more. A TLP for which Takes returned true must be retrieved as soon as the component
// is notified of it.
type Selective interface {
	sim.Component
	Takes(port *simcore.Port, p *msg.TLP) bool
}

// Direct is a Selective component to which the link can hand a TLP directly, without the detour
// through its port, when the result is the same.
type Direct interface {
	Selective
	Input(port *simcore.Port) Input
}

// Input is a port of a Direct component. Takes is Selective.Takes for this port. Straight reports
// whether the TLP that it has just accepted can be handed over by Enter, which the link then calls
// at once.
type Input interface {
	Takes(p *msg.TLP) bool
	Straight(p *msg.TLP) bool
	Enter(p *msg.TLP, now simcore.Ps)
}

// Link is a PCIe link. See the package comment.
type Link struct {
	sim.HookableBase

	name    string
	clock   simcore.Clock
	spec    Spec
	plugged int
	ports   [2]*simcore.Port
	lanes   [2]lane // by the end where the direction starts
	failed  error
	alarm   simcore.Event // ends the run after a failure
}

// Kinds of events of a link: bit 0 is the lane's number, the other bits select what is due.
const (
	kindDeliver = iota << 1
	kindCredit
	kindWire
	kindFailed
)

// Name returns the link's name.
func (l *Link) Name() string { return l.name }

// Spec returns the spec that the link was made from.
func (l *Link) Spec() Spec { return l.spec }

// Err returns the first error, or nil: an end has sent a TLP that exceeds MPS, MRRS or RCB.
func (l *Link) Err() error { return l.failed }

// PlugIn implements sim.Connection. Use Connect, which returns errors instead of panicking.
func (l *Link) PlugIn(port sim.Port, _ int) {
	if l.plugged == 2 {
		panic(fmt.Sprintf("pcielink: %s has two ends already: no room for %s", l.name, port.Name()))
	}
	if err := l.fits(port); err != nil {
		panic(fmt.Sprintf("pcielink: %s: %v", l.name, err))
	}
	port.SetConnection(l)
	l.ports[l.plugged] = port.(*simcore.Port)
	if l.plugged++; l.plugged == 2 {
		for i := range l.lanes {
			l.lanes[i].init(l, i)
		}
	}
}

// Unplug implements sim.Connection: it disconnects both ports of an idle link. It panics while TLPs
// are held.
func (l *Link) Unplug(sim.Port) {
	for i := range l.lanes {
		if d := &l.lanes[i]; l.plugged == 2 && (d.Held() != (Count{}) || d.deliver.armed || d.credit.armed ||
			d.wire.armed) {
			panic(fmt.Sprintf("pcielink: %s is unplugged while it is in use", l.name))
		}
	}
	for _, p := range l.ports[:l.plugged] {
		p.SetConnection(nil)
	}
	l.plugged, l.ports, l.lanes = 0, [2]*simcore.Port{}, [2]lane{}
}

// CanSend implements sim.Connection: it reports whether there is room for a TLP of any class.
func (l *Link) CanSend(src sim.Port) bool {
	d := l.from(src)
	now := l.clock.Now()
	d.absorb(now)
	if d.full() || d.backlogged(now) {
		d.refuse()
		return false
	}
	return true
}

// Room reports whether there is room for a TLP of a class that departs at the given time. If not,
// src is notified when it may try again.
func (l *Link) Room(src *simcore.Port, c tlp.Class, depart simcore.Ps) bool {
	d := l.from(src)
	now := l.clock.Now()
	d.absorb(now)
	if d.tx.Count(c) >= d.buffer[c] || d.backlogged(max(depart, now)) {
		d.refuse()
		return false
	}
	return true
}

// Offer sends a TLP of a class that departs at the given time if there is Room for it, and reports
// whether there was.
func (l *Link) Offer(src *simcore.Port, c tlp.Class, depart simcore.Ps, p *msg.TLP) bool {
	d := l.from(src)
	now := l.clock.Now()
	d.absorb(now)
	if d.tx.Count(c) >= d.buffer[c] || d.backlogged(max(depart, now)) {
		d.refuse()
		return false
	}
	p.Src, p.Depart = src, depart
	d.accept(p, p.Parsed(), c, max(depart, now), now)
	return true
}

// Send implements sim.Connection. A TLP leaves at its stamp (Depart), or now if that is past.
func (l *Link) Send(m sim.Msg) *sim.SendError {
	d := l.from(m.Meta().Src)
	p, ok := m.(*msg.TLP)
	if !ok {
		l.fail(fmt.Errorf("pcielink: %s: %s sends a %T: want a TLP", l.name, d.src.Name(), m))
		return nil
	}
	if !d.send(p) {
		return sim.NewSendError()
	}
	return nil
}

// NotifyAvailable implements sim.Connection. It does nothing, because Retrieved reports each TLP
// that leaves a port.
func (l *Link) NotifyAvailable(sim.VTimeInSec, sim.Port) {}

// Retrieved implements simcore.RetrievalWatcher: the far component has taken a TLP, so its credits
// return.
func (l *Link) Retrieved(port *simcore.Port, m sim.Msg) {
	if p, ok := m.(*msg.TLP); ok {
		l.to(port).retrieved(p, l.clock.Now())
	}
}

// Retry makes the link offer the TLPs again that the component of a port did not take.
func (l *Link) Retry(port *simcore.Port) {
	l.to(port).reoffer(l.clock.Now())
}

// Handle implements sim.Handler.
func (l *Link) Handle(e sim.Event) error {
	ev, ok := e.(*simcore.Event)
	if !ok {
		return fmt.Errorf("pcielink: %s: event of type %T: want its own", l.name, e)
	}
	d, now := &l.lanes[ev.Kind&1], l.clock.Now()
	switch ev.Kind &^ 1 {
	case kindDeliver:
		d.deliverDue(now)
	case kindCredit:
		d.creditDue(now)
	case kindWire:
		d.wireDue()
	}
	return l.failed
}

// fail ends the run: the next event returns the error.
func (l *Link) fail(err error) {
	if l.failed != nil {
		return
	}
	l.failed = err
	l.alarm = simcore.Event{At: l.clock.Now(), H: l, Kind: kindFailed}
	l.clock.Schedule(&l.alarm)
}

func (l *Link) hook(pos *sim.HookPos, m sim.Msg) {
	l.InvokeHook(sim.HookCtx{Domain: l, Pos: pos, Item: m})
}

func (l *Link) from(src sim.Port) *lane {
	if p, ok := src.(*simcore.Port); ok && l.plugged == 2 {
		if p == l.ports[0] {
			return &l.lanes[0]
		}
		if p == l.ports[1] {
			return &l.lanes[1]
		}
	}
	panic(fmt.Sprintf("pcielink: %s has %d ends plugged in, and cannot send from port %v", l.name, l.plugged, src))
}

// to returns the lane that ends at a port.
func (l *Link) to(port *simcore.Port) *lane {
	if port == l.ports[1] {
		return &l.lanes[0]
	}
	return &l.lanes[1]
}

var (
	_ simcore.RetrievalWatcher = (*Link)(nil)
	_ sim.Handler              = (*Link)(nil)
	_ sim.Named                = (*Link)(nil)
)
