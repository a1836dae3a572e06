package testbed

import (
	"fmt"

	"github.com/sarchlab/akita/v3/sim"

	"nictwin/models/sim/simcore"
	"nictwin/rtlbridge"
)

// restEvery is the number of cycles between two checks.
const restEvery = 4096

// rest ends a run on the Go NIC that is still active long after its work was done. It checks only while there are other
// events, so it does not keep the engine running; for RTL the bridge does the same.
type rest struct {
	engine   *simcore.Engine
	period   simcore.Ps // of the NIC's clock
	device   string
	busy     func() bool
	done     func() bool
	patience int64 // cycles
	since    int64 // the cycle of the first check at which done was true; -1 before
	ev       simcore.Event
}

// RunawayError reports that something other than the device keeps the engine running after the work was done.
type RunawayError struct {
	Next            string // event
	Cycle, Patience int64
}

func (e *RunawayError) Error() string {
	return fmt.Sprintf("the board does not come to rest: at cycle %d, %d cycles after everything was done, there is "+
		"still %s",
		e.Cycle, e.Patience, e.Next)
}

func (r *rest) begin() {
	r.ev.H, r.since = r, -1
	r.schedule()
}

func (r *rest) schedule() {
	r.ev.At = r.engine.Now() + restEvery*r.period
	r.engine.Schedule(&r.ev)
}

// Name is what the engine's errors call it.
func (r *rest) Name() string { return r.device }

// Handle implements sim.Handler.
func (r *rest) Handle(sim.Event) error {
	next := r.engine.Next()
	if next == nil {
		return nil
	}
	cycle := int64(r.engine.Now() / r.period)
	switch {
	case !r.done():
		r.since = -1
	case r.since < 0:
		r.since = cycle
	case cycle-r.since > r.patience && r.busy():
		return &rtlbridge.RestlessError{Device: r.device, Cycle: uint64(cycle), Patience: uint64(r.patience),
			Open: []string{"it says that it is busy; there is still " + next.String()}}
	case cycle-r.since > r.patience:
		return &RunawayError{next.String(), cycle, r.patience}
	}
	r.schedule()
	return nil
}
