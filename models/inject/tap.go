package inject

import (
	"github.com/sarchlab/akita/v3/sim"

	"nictwin/models/sim/simcore"
)

// Tap passes every message on, and shows it to a function.
type Tap struct{ *inline }

// NewTap returns a tap that calls see for each message; see must not keep or change it. It panics if Akita does not
// accept the name.
func NewTap(name string, s simcore.Scheduler, see func(d Direction, m sim.Msg)) *Tap {
	t := new(Tap)
	t.inline = newInline(name, s, func(d Direction, m sim.Msg) {
		see(d, m)
		t.send(d, m)
	})
	return t
}
