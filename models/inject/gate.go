package inject

import (
	"github.com/sarchlab/akita/v3/sim"

	"nictwin/models/sim/simcore"
)

// Gate stops messages from the device while it is closed. Messages to the device always pass.
type Gate struct{ *inline }

// NewGate returns an open gate. It panics if Akita does not accept the name.
func NewGate(name string, s simcore.Scheduler) *Gate {
	g := new(Gate)
	g.inline = newInline(name, s, func(d Direction, m sim.Msg) { g.send(d, m) })
	return g
}

// Close blocks further messages from the device.
func (g *Gate) Close() { g.shut[FromDevice] = true }

// Open lets messages that waited, and later ones, pass.
func (g *Gate) Open() {
	g.shut[FromDevice] = false
	g.flow(FromDevice)
}
