package replay

import (
	"fmt"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
	"pgregory.net/rapid"

	_ "nictwin/models/sim/fixedseed"
	"nictwin/rtlbridge"
)

func sum(s *Shares) float64 { return s.RTL + s.Bridge + s.Models + s.Referee }

// printed returns the sum of the printed percentages of RTL, bridge, models and referee.
func printed(t require.TestingT, s *Shares) int {
	var p [5]int
	n, err := fmt.Sscanf(s.String(), "%d%% waiting for the RTL, %d%% bridge, %d%% models, %d%% referee; beside them "+
		"the RTL ran for %d%%", &p[0], &p[1], &p[2], &p[3], &p[4])
	require.NoError(t, err, s.String())
	require.Equal(t, 5, n)
	require.LessOrEqual(t, p[4], 100)
	return p[0] + p[1] + p[2] + p[3]
}

func TestSharesAddUp(t *testing.T) {
	ms := time.Millisecond
	before := rtlbridge.Wall{Wait: 500 * ms}
	now := rtlbridge.Wall{Cycles: 1, RTL: 60 * ms, Encode: 10 * ms, Wait: 520 * ms}
	s := shares(now, before, 100*ms, 30*ms)
	require.InDelta(t, 0.2, s.RTL, 1e-9, "what was waited for before does not count")
	require.InDelta(t, 0.1, s.Bridge, 1e-9)
	require.InDelta(t, 0.3, s.Referee, 1e-9)
	require.InDelta(t, 0.4, s.Models, 1e-9)
	require.InDelta(t, 0.6, s.Busy, 1e-9)
	require.Nil(t, shares(rtlbridge.Wall{}, before, 100*ms, 0), "no bridge")

	rapid.Check(t, func(t *rapid.T) {
		d := func(name string) time.Duration { return time.Duration(rapid.Int64Range(0, 1e10).Draw(t, name)) }
		s := shares(rtlbridge.Wall{Cycles: 1, RTL: d("rtl"), Encode: d("encode"), Wait: d("wait")}, rtlbridge.Wall{},
			1+d("wall"), d("referee"))
		require.InDelta(t, 1, sum(s), 1e-9)
		require.Equal(t, 100, printed(t, s))
	})
	require.Equal(t, []int{34, 33, 33}, percents(1./3, 1./3, 1./3))
}

// The shares of a run on RTL are positive and add up to 1, serial or pipelined, however short the run.
func TestSharesOfARun(t *testing.T) {
	for _, serial := range []bool{false, true} {
		o := options("rtl", shipped(t)[:1])
		o.Serial, o.Limit = serial, 3
		res := play(t, o)
		require.NotNil(t, res.Shares)
		require.InDelta(t, 1, sum(res.Shares), 1e-9)
		require.Equal(t, 100, printed(t, res.Shares))
		for _, part := range []float64{res.Shares.RTL, res.Shares.Bridge, res.Shares.Models, res.Shares.Referee,
			res.Shares.Busy} {
			require.Positive(t, part)
		}
	}
}
