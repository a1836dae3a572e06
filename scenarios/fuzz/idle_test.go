package fuzz

import (
	"testing"

	"github.com/stretchr/testify/require"

	"nictwin/models/nic/boundary"
	"nictwin/scenarios/bed/device"
	"nictwin/scenarios/bed/testbed"
	"nictwin/scenarios/fuzz/player"
)

// pinned is a NIC whose busy pin is stuck at 0 or 1.
type pinned struct {
	device.Device
	busy bool
}

func (p *pinned) ObserveRest(f boundary.RestObserver) {
	if !p.busy {
		p.Observe(func(x boundary.Crossing) { f(boundary.Rest{First: x.Last, Last: x.Last}) })
	}
}

// Programs find a busy pin that never falls, and one that never rises [B8].
func TestStuckBusyIsFound(t *testing.T) {
	prog := begun(t, options(device.Model, 1)).generate(0)
	play := func(busy bool) *player.Verdict {
		return player.Run(prog, t.Context(), func(s testbed.Spec) (*testbed.Bed, error) {
			b, err := model(s)
			if err == nil {
				b.NIC = &pinned{b.NIC, busy}
			}
			return b, err
		}, nil)
	}
	v := player.Run(prog, t.Context(), model, nil)
	require.True(t, v.Pass(), "%v", v.Err)
	v = play(true)
	require.True(t, v.Mismatch())
	require.Regexp(t, `^the NIC breaks \[C3\]: waited for 40[0-9]{4} cycles until the pin busy is 0 \[B8\]\n  `+
		`STATUS reads 0x0; every read that it sent has been answered$`, v.Err.Error())
	v = play(false)
	require.True(t, v.Mismatch())
	require.Equal(t, "[B8] busy", v.Key())
}
