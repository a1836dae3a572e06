package inject

import (
	"github.com/sarchlab/akita/v3/sim"

	"nictwin/models/sim/simcore"
)

// Gate takes nothing from the device while it is closed. What goes to the
// device passes in any case.
type Gate struct{ *inline }

// NewGate makes an open gate. It panics if Akita does not accept the name.
func NewGate(name string, s simcore.Scheduler) *Gate {
	g := new(Gate)
	g.inline = newInline(name, s, func(d Direction, m sim.Msg) { g.send(d, m) })
	return g
}

// Close lets nothing more pass from the device.
func (g *Gate) Close() { g.shut = true }

// Open lets what waits pass, and what comes from now on.
func (g *Gate) Open() {
	g.shut = false
	g.flow(FromDevice)
}
