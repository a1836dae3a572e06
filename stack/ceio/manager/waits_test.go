package manager

import (
	"testing"

	"github.com/stretchr/testify/require"
)

// TestFewDescriptors checks that an account never has more credits than the fast ring has descriptors, and gets the
// others when packets have been processed.
func TestFewDescriptors(t *testing.T) {
	w := opened(t, 40, 1, func(s *Spec) { s.FastSlots = 16 })
	require.Equal(t, 16, w.flows[0].balance)
	require.EqualValues(t, 24, w.m.Stats().Withheld)
	w.frames(0, 20)
	require.NoError(t, w.check())
	require.Equal(t, []int{16, 4}, []int{len(w.flows[0].rings[0]), len(w.flows[0].rings[1])})
	require.Equal(t, 24, w.m.Credits().Balance(0))
	w.receiveAll(t, 0)
	w.effects()
	require.Equal(t, Resuming, w.m.State(0))
	require.Equal(t, 16, w.flows[0].balance)
	require.Equal(t, 16, w.m.NeedsDescriptors(0))
}

// TestMissingPacket leaves out the last number before a change of rings, which no other packet shows to be wrong: the
// wait for it ends at its limit. A packet that comes in time ends it, too.
func TestMissingPacket(t *testing.T) {
	for _, comes := range []bool{true, false} {
		w := opened(t, 4, 1, func(s *Spec) { s.WaitLimit = 1000 })
		w.frames(0, 3)
		require.Equal(t, Never, w.m.WaitsUntil(0))
		w.m.SlowArrived(500, 0, 4) // number 3 was left out, or its completion is late
		require.NoError(t, w.m.Err())
		require.EqualValues(t, 1500, w.m.WaitsUntil(0))
		w.m.CheckWaits(1499, 0)
		require.NoError(t, w.m.Err())
		if comes {
			w.m.FastArrived(1499, 0, 3)
			require.Equal(t, Never, w.m.WaitsUntil(0))
		}
		w.m.CheckWaits(1500, 0)
		if comes {
			require.NoError(t, w.m.Err())
		} else {
			require.EqualError(t, w.m.Err(), "ceio: flow 0: packet 3 is missing: later ones arrived 1000 ps ago [A4]")
		}
	}
}

// TestHeldLandingBuffers has an application that keeps all landing buffers while slow packets wait for one.
func TestHeldLandingBuffers(t *testing.T) {
	for _, releases := range []bool{true, false} {
		w := opened(t, 0, 1, func(s *Spec) { s.WaitLimit = 1000 })
		w.frames(0, 20)
		for range 4 {
			_, err := w.m.AsyncRecv(100, 0, 20, nil)
			require.NoError(t, err)
			for len(w.ended) > 0 {
				w.endCopy()
			}
		}
		require.EqualValues(t, 1100, w.m.WaitsUntil(0))
		if releases {
			w.m.Processed(999, 0, 0, 1, 0)
			require.Equal(t, Never, w.m.WaitsUntil(0))
		}
		w.m.CheckWaits(1100, 0)
		if releases {
			require.NoError(t, w.m.Err())
		} else {
			require.EqualError(t, w.m.Err(), "ceio: flow 0: the application has held all 16 landing buffers for 1000 "+
				"ps, and more slow packets wait: want more of them, or packets released sooner")
		}
	}
}
