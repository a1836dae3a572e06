package inject_test

import (
	"testing"

	"github.com/stretchr/testify/require"

	"nictwin/models/inject"
)

func TestStalls(t *testing.T) {
	s := &inject.Stalls{Seed: 4, Percent: 10, Streams: map[string]int{"eth_out": 60, "eth_out[1]": 0, "tlp_in": 99}}
	share := func(stream string) float64 {
		stands, n := s.Of(stream), 0
		for cycle := range int64(20_000) {
			if stands(cycle) {
				n++
			}
		}
		return float64(n) / 200
	}
	require.InDelta(t, 10, share("tlp_out"), 1)
	require.InDelta(t, 60, share("eth_out[0]"), 1)
	require.InDelta(t, 99, share("tlp_in"), 1)
	require.Nil(t, s.Of("eth_out[1]"), "one lane has its own share")
	require.Nil(t, (&inject.Stalls{}).Of("tlp_out"))
	// a cycle stalls or not, no matter which cycles were queried before
	a, b := s.Of("tlp_out"), s.Of("tlp_out")
	other, same := (&inject.Stalls{Seed: 5, Percent: 10}).Of("tlp_out"), true
	for cycle := int64(1000); cycle >= 0; cycle-- {
		require.Equal(t, b(1000-cycle), a(1000-cycle))
		same = same && other(cycle) == a(cycle)
	}
	require.False(t, same, "another seed, another pattern")
	err := (&inject.Stalls{Percent: -1, Burst: 17, Streams: map[string]int{"tlp_in": 100}}).Validate()
	require.EqualError(t, err, "inject: stalls: percent is -1: want 0..99\ninject: stalls: burst is 17: want "+
		"0..16\ninject: stalls: streams.tlp_in is 100: want 0..99")
	require.NoError(t, s.Validate())
}

// With bursts, one draw decides about 2^burst cycles.
func TestStallsInBursts(t *testing.T) {
	const burst, draws = 7, 1000
	single, bursts := (&inject.Stalls{Seed: 4, Percent: 40}).Of("eth_in[0]"),
		(&inject.Stalls{Seed: 4, Percent: 40, Burst: burst}).Of("eth_in[0]")
	for cycle := range int64(draws << burst) {
		require.Equal(t, single(cycle>>burst), bursts(cycle), "cycle %d", cycle)
	}
}
