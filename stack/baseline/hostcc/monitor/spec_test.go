package monitor

import (
	"testing"

	"github.com/stretchr/testify/require"

	"nictwin/models/sim/pace"
	"nictwin/models/sim/simcore"
)

func TestSpec(t *testing.T) {
	s := DefaultSpec()
	require.NoError(t, s.Validate())
	require.Equal(t, simcore.Rate{}, s.RateOf(0))
	require.Equal(t, simcore.Gbps(40), s.RateOf(1))
	require.Equal(t, simcore.Rate{Bytes: 40, Ps: 8 * 8 * simcore.Nanosecond}, s.RateOf(4), "5 Gbps")
	s.Rate, s.Throttle, s.SamplePs, s.Levels = simcore.Rate{}, "some", -1, 99
	err := s.Validate()
	for _, want := range []string{"rate 0 bytes in 0 ps", `throttle "some"`,
		"sample_ps -1ps: want 0ps to 1ms", "levels 99"} {
		require.ErrorContains(t, err, want)
	}
}

// TestRates checks that a throttle takes the rates of all levels of a valid spec.
func TestRates(t *testing.T) {
	for levels := range 17 {
		s := DefaultSpec()
		s.Levels, s.Rate = levels, simcore.Rate{Bytes: 1, Ps: simcore.Second >> max(levels-1, 0)}
		require.NoError(t, s.Validate())
		for level := range levels + 1 {
			require.NoError(t, pace.Check("rate", s.RateOf(level)))
		}
		s.Rate.Ps++
		require.ErrorContains(t, s.Validate(), "rate 1 bytes in")
	}
}
