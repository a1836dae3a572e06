package simcore

import (
	"fmt"

	"github.com/sarchlab/akita/v3/sim"
)

// Link is a full-duplex sim.Connection between exactly two ports, with
// latency, bandwidth and credits in each direction, and FIFO delivery:
//
//	Arrive = max(Depart, end of the previous message) + serialisation + Latency
//
// A sender may stamp Depart in the past, as a device simulated in quanta does,
// as long as Depart+Latency is not past; Send panics otherwise. A message that
// is not Timed departs when it is sent.
type Link struct {
	sim.HookableBase

	name  string
	clock clock
	spec  LinkSpec

	// Serialisation time of n bytes is n*psNum/psDen, in lowest terms.
	psNum, psDen int64

	ports   [2]sim.Port
	bufs    [2]int
	plugged int
	lanes   [2]lane // lanes[i] starts at ports[i]
}

// Kind of a lane's events: the lane's number, plus this bit for a credit event.
const creditEvent = 2

// NewLink makes a link without ports. The error lists every fault of the spec. It panics if Akita
// does not accept the name.
func NewLink(name string, s Scheduler, spec LinkSpec) (*Link, error) {
	sim.NameMustBeValid(name)
	if err := spec.Validate(); err != nil {
		return nil, fmt.Errorf("%s: %w", name, err)
	}
	l := &Link{name: name, clock: newClock(s), spec: spec}
	l.psNum, l.psDen = int64(spec.Rate.Ps), spec.Rate.Bytes
	if g := gcd(l.psNum, l.psDen); g != 0 {
		l.psNum, l.psDen = l.psNum/g, l.psDen/g
	} else {
		l.psDen = 1
	}
	return l, nil
}

// Connect makes a link and plugs both ports in.
func Connect(name string, s Scheduler, spec LinkSpec, a, b sim.Port) (*Link, error) {
	l, err := NewLink(name, s, spec)
	if err != nil {
		return nil, err
	}
	l.PlugIn(a, 0)
	l.PlugIn(b, 0)
	return l, nil
}

func gcd(a, b int64) int64 {
	for b != 0 {
		a, b = b, a%b
	}
	return a
}

// Name returns the link's name.
func (l *Link) Name() string { return l.name }

// Spec returns the spec that the link was made from.
func (l *Link) Spec() LinkSpec { return l.spec }

// InFlight returns the number of messages accepted and not yet delivered.
func (l *Link) InFlight() int { return l.lanes[0].n + l.lanes[1].n }

// Used returns the credits that the messages from a port hold: those in flight, unread at the far end, and read whose
// credits are on their way back.
func (l *Link) Used(src sim.Port) int { return l.laneFrom(src).used }

// Sent returns the bytes of the messages that a port has sent, without LinkSpec.OverheadBytes, and of those that were
// sent to it.
func (l *Link) Sent(port sim.Port) (from, to uint64) {
	d := l.laneFrom(port)
	return d.sent, l.laneFrom(d.dst).sent
}

// PlugIn implements sim.Connection. If the spec has no credits for the direction that starts at
// port, and the far port is not a *Port with a known capacity, sourceSideBufSize is used. It panics
// on a third port and on a port that is plugged in already.
func (l *Link) PlugIn(port sim.Port, sourceSideBufSize int) {
	switch {
	case port == nil:
		panic(fmt.Sprintf("simcore: link %s: the port is nil", l.name))
	case l.plugged == 2:
		panic(fmt.Sprintf("simcore: link %s joins %s and %s already: no room for %s",
			l.name, l.ports[0].Name(), l.ports[1].Name(), port.Name()))
	case l.plugged == 1 && port == l.ports[0]:
		panic(fmt.Sprintf("simcore: link %s: port %s is plugged in already", l.name, port.Name()))
	}
	if p, ok := port.(*Port); ok && p.conn != nil {
		panic(fmt.Sprintf("simcore: link %s: port %s is plugged in already", l.name, port.Name()))
	}
	port.SetConnection(l)
	l.ports[l.plugged], l.bufs[l.plugged] = port, sourceSideBufSize
	if l.plugged++; l.plugged == 2 {
		l.lanes[0].init(l, 0)
		l.lanes[1].init(l, 1)
	}
}

// Unplug implements sim.Connection: it unplugs both ports of an idle link. It panics if the port is
// not plugged in, or if messages are still in flight or unread.
func (l *Link) Unplug(port sim.Port) {
	if l.plugged == 0 || port != l.ports[0] && (l.plugged < 2 || port != l.ports[1]) {
		panic(fmt.Sprintf("simcore: link %s: port %s is not plugged in", l.name, port.Name()))
	}
	for i := range l.lanes {
		if d := &l.lanes[i]; d.n+d.unread != 0 || d.armed || d.creditArmed {
			panic(fmt.Sprintf("simcore: link %s is unplugged while it is in use", l.name))
		}
	}
	for i := range l.plugged {
		l.ports[i].SetConnection(nil)
		if l.lanes[i].tap != nil {
			l.lanes[i].tap.lane = nil
		}
	}
	l.ports, l.bufs, l.plugged, l.lanes = [2]sim.Port{}, [2]int{}, 0, [2]lane{}
}

// CanSend implements sim.Connection. After false, the port is notified when a retry may succeed.
func (l *Link) CanSend(src sim.Port) bool { return l.laneFrom(src).canSend() }

// Send implements sim.Connection. It sets Dst, SendTime, RecvTime and, for a
// Timed message, Arrive.
func (l *Link) Send(msg sim.Msg) *sim.SendError {
	src := msg.Meta().Src
	d := l.laneFrom(src)
	if !d.send(msg, src) {
		return refused
	}
	if d.early {
		d.handOver(msg)
	}
	return nil
}

// NotifyAvailable implements sim.Connection: port has room again.
func (l *Link) NotifyAvailable(_ sim.VTimeInSec, port sim.Port) {
	for i := range l.lanes {
		if d := &l.lanes[i]; d.blocked && d.dst == port {
			d.blocked = false
			d.arm(l.clock.now())
		}
	}
}

// Handle implements sim.Handler.
func (l *Link) Handle(e sim.Event) error {
	ev, ok := e.(*Event)
	if !ok {
		return fmt.Errorf("link %s: event of type %T: want its own", l.name, e)
	}
	d := &l.lanes[ev.Kind&1]
	if ev.Kind&creditEvent != 0 {
		d.offerCredit()
	} else {
		d.deliverDue()
	}
	return nil
}

func (l *Link) laneFrom(src sim.Port) *lane {
	if l.plugged == 2 {
		for i, p := range l.ports {
			if p == src {
				return &l.lanes[i]
			}
		}
	}
	name := "<nil>"
	if src != nil {
		name = src.Name()
	}
	panic(fmt.Sprintf("simcore: link %s has %d ports plugged in, and cannot send from port %s",
		l.name, l.plugged, name))
}

func (l *Link) hook(pos *sim.HookPos, msg sim.Msg) {
	l.InvokeHook(sim.HookCtx{Domain: l, Pos: pos, Item: msg})
}

var (
	_ sim.Connection = (*Link)(nil)
	_ sim.Handler    = (*Link)(nil)
	_ sim.Named      = (*Link)(nil)
)
