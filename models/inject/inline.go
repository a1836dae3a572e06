package inject

import (
	"fmt"

	"github.com/sarchlab/akita/v3/sim"

	"nictwin/models/sim/fifo"
	"nictwin/models/sim/simcore"
)

// Direction says whether a message comes from the device or goes to it.
type Direction uint8

// Directions of messages.
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

// portCap is the capacity of a decorator's incoming ports, in messages.
const portCap = 1024

// inline is the base of decorators: a component with two ports, inserted into a link.
type inline struct {
	*sim.ComponentBase
	sched   simcore.Scheduler
	ports   [2]*simcore.Port         // ports where messages arrive, by direction of the message
	waiting [2]fifo.Queue[sim.Msg]   // messages to be sent once there is room, by direction
	shut    [2]bool                  // messages of a direction wait in the port where they arrive
	relay   func(Direction, sim.Msg) // decides about each message that arrives, and calls send for those that go on
	flowed  func(Direction)          // called when what had arrived has been relayed, as far as there was room; or nil
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

// flow handles the messages that have arrived in a direction, as far as there is room to send.
func (c *inline) flow(d Direction) {
	c.drain(d)
	for in := c.ports[d]; in.Len() > 0 && c.waiting[d].Len() == 0 && c.out(d).CanSend(); {
		if c.shut[d] {
			break
		}
		c.relay(d, in.Retrieve(c.sched.CurrentTime()))
	}
	if c.flowed != nil {
		c.flowed(d)
	}
}

// send sends a message, after those of its direction that wait for room.
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

// Handle implements sim.Handler, as every component must. An inline component has no events of its own.
func (c *inline) Handle(sim.Event) error { return nil }

var _ sim.Component = (*inline)(nil)
