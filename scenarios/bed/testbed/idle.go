package testbed

import (
	"fmt"

	"github.com/sarchlab/akita/v3/sim"

	"nictwin/models/sim/simcore"
	"nictwin/rtlbridge"
)

// idleCheckCycles is the number of cycles between two checks.
const idleCheckCycles = 4096

// idleWatch ends a run on the Go NIC that is still active long after its work was done. It checks only while other
// events are pending, so it does not keep the engine running. For RTL the bridge does the same.
type idleWatch struct {
	engine   *simcore.Engine
	period   simcore.Ps // of the NIC's clock
	device   string
	busy     func() bool
	done     func() bool
	patience int64 // cycles for which the NIC may stay active after its work
	since    int64 // cycle of the first check at which the work was done; -1: it is not done yet
	ev       simcore.Event
}

// RunawayError reports that something other than the device keeps the engine running after the work was done.
type RunawayError struct {
	Next            string // description of the next event
	Cycle, Patience int64
}

func (e *RunawayError) Error() string {
	return fmt.Sprintf("the board is still active at cycle %d, %d cycles after everything was done; next: %s",
		e.Cycle, e.Patience, e.Next)
}

func (w *idleWatch) begin() {
	w.ev.H, w.since = w, -1
	w.schedule()
}

func (w *idleWatch) schedule() {
	w.ev.At = w.engine.Now() + idleCheckCycles*w.period
	w.engine.Schedule(&w.ev)
}

// Name returns the device's name, for the engine's errors.
func (w *idleWatch) Name() string { return w.device }

// Handle implements sim.Handler.
func (w *idleWatch) Handle(sim.Event) error {
	next := w.engine.Next()
	if next == nil {
		return nil
	}
	cycle := int64(w.engine.Now() / w.period)
	switch {
	case !w.done():
		w.since = -1
	case w.since < 0:
		w.since = cycle
	case cycle-w.since > w.patience && w.busy():
		return &rtlbridge.RestlessError{Device: w.device, Cycle: uint64(cycle), Patience: uint64(w.patience),
			Open: []string{"it is busy; next: " + next.String()}}
	case cycle-w.since > w.patience:
		return &RunawayError{next.String(), cycle, w.patience}
	}
	w.schedule()
	return nil
}
