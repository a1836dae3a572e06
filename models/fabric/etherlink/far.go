package etherlink

import (
	"fmt"

	"github.com/sarchlab/akita/v3/sim"

	"nictwin/models/format/ether"
	"nictwin/models/format/msg"
	"nictwin/models/sim/fifo"
	"nictwin/models/sim/simcore"
)

// Outbox carries frames and credits to the other half of a cable. It must copy a frame's bytes
// before it returns.
type Outbox interface {
	// Frame sends a frame that left this end at the time depart.
	Frame(cable int, f *msg.Frame, depart simcore.Ps) error
	// Credit returns a credit to the device at the other half, which may use it from time
	// `usable` on.
	Credit(cable int, usable simcore.Ps) error
}

// FarSpec configures one half of a cable.
type FarSpec struct {
	Cable  int // number of the cable, passed to the Outbox
	Link   simcore.LinkSpec
	Second bool // the local device is at the cable's second end, else at the first
}

// Far represents the device at the other end of a cable whose two ends are simulated in different
// processes or engines; it is one of the cable's two halves. Both halves have a link with the spec
// of the whole cable. A frame keeps its time of departure, so it occupies the wire and arrives as
// if both devices were on one engine. A frame that leaves at t must reach the other half by t +
// latency; a credit that returns at t, by t + credit latency.
//
// It runs ahead of the engine as a simcore.EarlyReceiver and EarlySender: it receives a frame as
// soon as it is sent, and sends a frame after it has departed. The local device must not run ahead
// itself.
type Far struct {
	*sim.ComponentBase
	clock       simcore.Clock
	spec        FarSpec
	frames      *msg.Frames
	port        *simcore.Port
	out         Outbox
	credits     fifo.Queue[simcore.Ps] // times from which the local device may use each returned credit
	creditTimer timer
	failed      error
}

// ConnectFar makes the far half of a cable, and connects the near port to it.
func ConnectFar(name string, s simcore.Scheduler, frames *msg.Frames, spec FarSpec, near *simcore.Port,
	out Outbox) (*Far, error) {
	sim.NameMustBeValid(name)
	if s == nil || frames == nil || out == nil {
		return nil, fmt.Errorf("etherlink: %s: want a scheduler, a pool of frames and an outbox", name)
	}
	if err := spec.Link.Validate(); err != nil {
		return nil, fmt.Errorf("%s: %w", name, err)
	}
	if spec.Link.Credits == 0 {
		return nil, fmt.Errorf("etherlink: %s: credits 0: want a number, the far port's room is not known here", name)
	}
	if err := fits(near); err != nil {
		return nil, fmt.Errorf("etherlink: %s: %w", name, err)
	}
	f := &Far{ComponentBase: sim.NewComponentBase(name), clock: simcore.NewClock(s), spec: spec, frames: frames,
		out: out}
	f.port = simcore.NewPort(f, max(spec.Link.Credits, spec.Link.ReverseCredits), name+".Eth")
	f.AddPort("Eth", f.port)
	f.creditTimer.ev = simcore.Event{H: f}
	ends := [...]*simcore.Port{near, f.port}
	if spec.Second {
		ends[0], ends[1] = ends[1], ends[0]
	}
	_, err := simcore.Connect(name+".Cable", s, spec.Link, ends[0], ends[1])
	return f, err
}

// LookAhead implements simcore.EarlyReceiver and EarlySender.
func (f *Far) LookAhead() bool { return true }

// NotifyRecv implements sim.Component: the local device has sent a frame. The frame stays in the
// port until its credit returns.
func (f *Far) NotifyRecv(sim.VTimeInSec, sim.Port) {
	m := f.port.At(f.port.Len() - 1)
	x, ok := m.(*msg.Frame)
	if !ok {
		f.fail(fmt.Errorf("etherlink: %s got a %T: want a frame", f.Name(), m))
		return
	}
	f.fail(f.out.Frame(f.spec.Cable, x, x.Depart))
}

// NotifyPortFree implements sim.Component. It does nothing, as nothing waits for room.
func (f *Far) NotifyPortFree(sim.VTimeInSec, sim.Port) {}

// CreditReturned implements simcore.EarlySender: the local device has taken a frame.
func (f *Far) CreditReturned(_ *simcore.Port, usable simcore.Ps) {
	f.fail(f.out.Credit(f.spec.Cable, usable))
}

// Deliver passes a frame from the other half to the local device. It copies the data.
func (f *Far) Deliver(x *ether.Frame, seq uint64, depart simcore.Ps) error {
	if now := f.clock.Now(); depart < 0 || depart+f.spec.Link.Latency < now {
		return fmt.Errorf("etherlink: %s: a frame that departed at %v is reported at %v: want it within the "+
			"latency of %v", f.Name(), depart, now, f.spec.Link.Latency)
	}
	m := f.frames.Copy(x.Data)
	m.Port, m.Queue, m.Trim, m.Seq = x.Port, x.Queue, x.Trim, seq
	if f.port.SendAt(m, depart) != nil {
		f.frames.Put(m)
		return fmt.Errorf("etherlink: %s: a frame that departed at %v has no credit: the other half sends more than %d",
			f.Name(), depart, f.spec.Link.Credits)
	}
	return nil
}

// Credit returns a credit to the local device, which may use it from time `usable` on.
func (f *Far) Credit(usable simcore.Ps) error {
	if now := f.clock.Now(); usable <= now || f.credits.Len() > 0 && usable < *f.credits.At(f.credits.Len() - 1) {
		return fmt.Errorf("etherlink: %s: a credit for %v is reported at %v: want it before that, in order", f.Name(),
			usable, now)
	}
	if f.credits.Len() == f.port.Len() {
		return fmt.Errorf("etherlink: %s: more credits return than frames were sent", f.Name())
	}
	f.credits.Push(usable)
	f.creditTimer.arm(&f.clock, usable-1)
	return nil
}

// Handle implements sim.Handler: it removes from the port the frames whose credits have returned.
// The sender can use a credit 1 ps later.
func (f *Far) Handle(sim.Event) error {
	f.creditTimer.armed = false
	for f.credits.Len() > 0 && *f.credits.Front()-1 <= f.clock.Now() {
		f.credits.Pop()
		if x, ok := f.port.Retrieve(f.clock.Sec()).(*msg.Frame); ok {
			f.frames.Put(x)
		}
	}
	if f.credits.Len() > 0 {
		f.creditTimer.arm(&f.clock, *f.credits.Front()-1)
	}
	return f.failed
}

// Err returns the first error, or nil.
func (f *Far) Err() error { return f.failed }

func (f *Far) fail(err error) {
	if f.failed == nil {
		f.failed = err
	}
}

var (
	_ sim.Component         = (*Far)(nil)
	_ simcore.EarlyReceiver = (*Far)(nil)
	_ simcore.EarlySender   = (*Far)(nil)
)
