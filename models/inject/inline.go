package inject

import (
	"fmt"

	"github.com/sarchlab/akita/v3/sim"

	"nictwin/models/sim/fifo"
	"nictwin/models/sim/simcore"
)

// Direction is the direction of a message.
type Direction uint8

// The directions.
const (
	FromDevice Direction = iota
	ToDevice
)

func (d Direction) String() string {
	switch d {
	case FromDevice:
		return "from the device"
	case ToDevice:
		return "to the device"
	}
	return fmt.Sprintf("Direction(%d)", uint8(d))
}

// portCap is the largest number of messages that wait for a decorator.
const portCap = 1024

// inline is a component inserted into a link.
type inline struct {
	*sim.ComponentBase
	sched   simcore.Scheduler
	ports   [2]*simcore.Port         // by direction: where its messages arrive
	waiting [2]fifo.Queue[sim.Msg]   // to be sent once there is room
	shut    bool                     // nothing is taken from the device
	relay   func(Direction, sim.Msg) // receives each message, and sends what it chooses
}

func newInline(name string, s simcore.Scheduler, relay func(Direction, sim.Msg)) *inline {
	c := &inline{ComponentBase: sim.NewComponentBase(name), sched: s, relay: relay}
	for d, short := range [...]string{FromDevice: "Device", ToDevice: "Peer"} {
		c.ports[d] = simcore.NewPort(c, portCap, name+"."+short)
		c.AddPort(short, c.ports[d])
	}
	return c
}

// Device returns the port that faces the device.
func (c *inline) Device() *simcore.Port { return c.ports[FromDevice] }

// Peer returns the port that faces the device's link partner.
func (c *inline) Peer() *simcore.Port { return c.ports[ToDevice] }

// out returns the port through which messages of a direction leave.
func (c *inline) out(d Direction) *simcore.Port { return c.ports[1-d] }

// NotifyRecv implements sim.Component.
func (c *inline) NotifyRecv(_ sim.VTimeInSec, port sim.Port) {
	if port == c.ports[FromDevice] {
		c.flow(FromDevice)
	} else {
		c.flow(ToDevice)
	}
}

// NotifyPortFree implements sim.Component.
func (c *inline) NotifyPortFree(_ sim.VTimeInSec, port sim.Port) {
	if port == c.out(FromDevice) {
		c.flow(FromDevice)
	} else {
		c.flow(ToDevice)
	}
}

// flow moves the messages waiting in a direction as far as there is room.
func (c *inline) flow(d Direction) {
	c.drain(d)
	for in := c.ports[d]; in.Len() > 0 && c.waiting[d].Len() == 0 && c.out(d).CanSend(); {
		if d == FromDevice && c.shut {
			return
		}
		c.relay(d, in.Retrieve(c.sched.CurrentTime()))
	}
}

// send sends a message when those before it have left and there is room.
func (c *inline) send(d Direction, m sim.Msg) {
	c.waiting[d].Push(m)
	c.drain(d)
}

func (c *inline) drain(d Direction) {
	for q := &c.waiting[d]; q.Len() > 0 && c.out(d).CanSend(); {
		m := q.Pop()
		if t, ok := m.(simcore.Timed); ok {
			t.Stamp().Depart = simcore.Now(c.sched)
		}
		if c.out(d).Send(m) != nil {
			panic(fmt.Sprintf("inject: %s: the link %v refused a message that it had room for", c.Name(), d))
		}
	}
}

// Handle implements sim.Handler, as every component must: it has no events.
func (c *inline) Handle(sim.Event) error { return nil }

var _ sim.Component = (*inline)(nil)
