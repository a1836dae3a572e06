package ceio

import (
	"fmt"
	"testing"

	"github.com/stretchr/testify/require"

	"nictwin/models/board"
	"nictwin/models/rnic/rnicspec"
	"nictwin/scenarios/papers/point"
	"nictwin/scenarios/run/load"
)

// All systems have the same pause before the window, and latencies of the window alone.
func TestPauses(t *testing.T) {
	for _, percent := range []int{1, 100} {
		s, v := session(t, &Static, percent), session(t, &Verbs, percent)
		for _, kind := range staticKinds {
			want := load.List(nil)
			for _, x := range allSystems {
				c := scenesOf(t, s, staticScene(s, x, kind, 512, 64))[0]
				if want == nil {
					want = c.Load
				}
				require.Equal(t, want, c.Load, x)
				require.True(t, c.Measure.Latency)
				require.Less(t, *c.Load[0].Until, c.Measure.WarmUp)
			}
			require.Equal(t, []any{load.Cores, 0}, []any{want[0].At, want[0].Server})
		}
		for _, x := range allSystems {
			c := scenesOf(t, v, verbsScene(v, x, tailSize))[0]
			require.Len(t, c.Load, 1, x)
			require.True(t, c.Measure.Latency)
		}
		require.Empty(t, scenesOf(t, s, staticScene(s, unpaused, involved, 512, 64))[0].Load)
	}
}

// Rings that fill in a pause stay full on the baseline, whose cores miss and take less than the link brings. Without
// one they stay short.
func TestFullRingsStayFull(t *testing.T) {
	s := session(t, &Static, 1)
	play := func(x system) (gbps, missed float64) {
		c := staticScene(s, x, involved, 512, 64)
		if c.Warm = milli; x != unpaused {
			c.More = fmt.Sprintf("load: {server: 0, at: cores, from: %dps, until: %dps}\n", 150*micro, 190*micro)
		}
		all, err := point.Play(s, c)
		require.NoError(t, err)
		return requests(all[0], 512, 64).Gbps, misses(all[0])
	}
	link, few := play(unpaused)
	full, many := play(baseline)
	require.InDelta(t, 172, link, 2)
	require.Less(t, full, 0.75*link)
	require.Less(t, few, 0.05)
	require.Greater(t, many, 0.4)
}

// Over RDMA full rings stay full, too, and no request finds its queue without a receive request.
func TestFullRingsOverRDMA(t *testing.T) {
	s := session(t, &Verbs, 1)
	c := verbsScene(s, baseline, tailSize)
	c.Warm = milli
	c.More = fmt.Sprintf("load: {server: 0, at: cores, from: %dps, until: %dps}\n", 300*micro, 400*micro)
	var naks uint64
	c.Counters = func(rack *board.Rack) []uint64 {
		nic := rack.Cards()[0].NIC.(interface {
			Counter(rnicspec.Counter) uint64
		})
		naks = nic.Counter(rnicspec.CntRNR)
		return lookups(rack)
	}
	all, err := point.Play(s, c)
	require.NoError(t, err)
	require.Zero(t, naks)
	require.Less(t, half(all[0]).Gbps, 165., "the link brings 180")
	require.Greater(t, misses(all[0]), 0.3)
}
