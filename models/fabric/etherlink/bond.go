package etherlink

import (
	"fmt"

	"github.com/sarchlab/akita/v3/sim"

	"nictwin/models/fabric/etherlink/core"
	"nictwin/models/format/msg"
	"nictwin/models/sim/simcore"
)

// Bond joins several cables into one link (LAG) at a host. A frame from the host leaves by the
// member that the hash of its flow selects; a frame from any member goes to the host. It adds no
// latency. When the selected member's link has no room, all frames behind that one wait, too:
// connect Host by a simcore.Link, whose credits then hold the host back.
type Bond struct {
	*sim.ComponentBase
	clock   simcore.Clock
	salt    uint64
	host    *simcore.Port
	members []*simcore.Port
	failed  error
	alarm   simcore.Event
}

// NewBond returns a bond with the given number of members. salt varies the hash, so that two hosts
// spread the same flows differently. It panics if Akita does not accept the name.
func NewBond(name string, s simcore.Scheduler, members int, salt uint64) (*Bond, error) {
	if s == nil || members < 1 || members > MaxPorts {
		return nil, fmt.Errorf("etherlink: %s: %d members: want a scheduler and 1 to %d members", name, members,
			MaxPorts)
	}
	b := &Bond{ComponentBase: sim.NewComponentBase(name), clock: simcore.NewClock(s), salt: salt}
	b.host = simcore.NewPort(b, portCap, name+".Host")
	b.AddPort("Host", b.host)
	for i := range members {
		short := fmt.Sprintf("Member%d", i)
		p := simcore.NewPort(b, portCap, name+"."+short)
		b.AddPort(short, p)
		b.members = append(b.members, p)
	}
	return b, nil
}

// Host returns the port that faces the host.
func (b *Bond) Host() *simcore.Port { return b.host }

// Member returns the port of cable i, counted from 0.
func (b *Bond) Member(i int) *simcore.Port { return b.members[i] }

// NotifyRecv implements sim.Component.
func (b *Bond) NotifyRecv(_ sim.VTimeInSec, port sim.Port) {
	if port == b.host {
		b.spread()
	} else {
		b.join(port.(*simcore.Port))
	}
}

// NotifyPortFree implements sim.Component.
func (b *Bond) NotifyPortFree(_ sim.VTimeInSec, port sim.Port) {
	if port != b.host {
		b.spread()
		return
	}
	for _, m := range b.members {
		b.join(m)
	}
}

// spread passes each of the host's frames to the member of the bond that carries the frame's flow.
func (b *Bond) spread() {
	for m := b.host.Peek(); m != nil; m = b.host.Peek() {
		f, ok := m.(*msg.Frame)
		if !ok {
			b.fail(m)
			return
		}
		out := b.members[core.FlowHash(f.Data, b.salt)%uint64(len(b.members))]
		if !b.move(b.host, out) {
			return
		}
	}
}

// join sends the frames that arrived at a member to the host.
func (b *Bond) join(in *simcore.Port) {
	for m := in.Peek(); m != nil; m = in.Peek() {
		if _, ok := m.(*msg.Frame); !ok {
			b.fail(m)
			return
		}
		if !b.move(in, b.host) {
			return
		}
	}
}

func (b *Bond) move(in, out *simcore.Port) bool {
	if !out.CanSend() {
		return false
	}
	f := in.Retrieve(b.clock.Sec()).(*msg.Frame)
	if out.SendAt(f, b.clock.Now()) != nil {
		b.failed = fmt.Errorf("etherlink: %s: the link at %s refused a frame that it had room for", b.Name(),
			out.Name())
	}
	return true
}

func (b *Bond) fail(m sim.Msg) {
	if b.failed == nil {
		b.failed = fmt.Errorf("etherlink: %s received a %T: want a frame", b.Name(), m)
		b.alarm = simcore.Event{At: b.clock.Now(), H: b}
		b.clock.Schedule(&b.alarm)
	}
}

// Handle implements sim.Handler: its only event ends the run after a failure.
func (b *Bond) Handle(sim.Event) error { return b.failed }

var _ sim.Component = (*Bond)(nil)
