package testbed

import (
	"errors"
	"testing"

	"github.com/sarchlab/akita/v3/sim"
	"github.com/stretchr/testify/require"

	"nictwin/models/sim/simcore"
	"nictwin/rtlbridge"
	"nictwin/scenarios/bed/device"
)

// ticking schedules itself every cycle until a given cycle.
type ticking struct {
	e     *simcore.Engine
	until int64
	ev    simcore.Event
}

func (r *ticking) Name() string { return "Ticking" }

func (r *ticking) Handle(sim.Event) error {
	r.ev.H, r.ev.At = r, r.e.Now()+simcore.DefaultPeriodPs
	if int64(r.e.Now()/simcore.DefaultPeriodPs) < r.until {
		r.e.Schedule(&r.ev)
	}
	return nil
}

// TestBedsComeToRest checks that a run that never becomes idle ends with an error that names the active component, and
// that other runs are not affected.
func TestBedsComeToRest(t *testing.T) {
	const forEver = 5 * rtlbridge.DefaultPatience
	for _, x := range []struct {
		name        string
		until       int64
		done, busy  bool
		wrong, says string
	}{
		{"at rest", 0, true, false, "", ""},
		{"in time", rtlbridge.DefaultPatience, true, true, "", ""},
		{"long work", 2 * rtlbridge.DefaultPatience, false, true, "", ""},
		{"busy for ever", forEver, true, true, "device", "Card.NIC is still active at cycle 1007616, 1000000 cycles " +
			"after the last work: it is busy; next: "},
		{"another one", forEver, true, false, "board", "the board is still active at cycle 1007616, 1000000 cycles " +
			"after everything was done; next: an event of Ticking"},
	} {
		t.Run(x.name, func(t *testing.T) {
			b, err := New(Spec{Spec: device.Spec{NIC: device.Model}, LinkCycles: DefaultLinkCycles})
			require.NoError(t, err)
			require.NoError(t, b.Begin(func() bool { return x.done }))
			b.idle.busy = func() bool { return x.busy }
			require.NoError(t, (&ticking{e: b.Engine, until: x.until}).Handle(nil))
			err = b.Engine.Run()
			var restless *rtlbridge.RestlessError
			var runaway *RunawayError
			require.Equal(t, x.wrong == "device", errors.As(err, &restless))
			require.Equal(t, x.wrong == "board", errors.As(err, &runaway))
			if x.wrong == "" {
				require.NoError(t, err)
				require.LessOrEqual(t, int64(b.Engine.Now()/simcore.DefaultPeriodPs), x.until+idleCheckCycles)
				return
			}
			require.ErrorContains(t, err, x.says)
		})
	}
}
