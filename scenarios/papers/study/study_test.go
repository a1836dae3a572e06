package study

import (
	"context"
	"testing"

	"github.com/stretchr/testify/require"

	"nictwin/models/sim/simcore"
)

func session(t *testing.T, percent int, x *Experiment, replaced ...string) *Session {
	t.Helper()
	s, err := NewSession(context.Background(), x, percent, replaced...)
	require.NoError(t, err)
	return s
}

// feed gives the meter completions at intervals, repeated in order, until the rate is known.
func feed(m *Meter, bytes int, intervals ...simcore.Ps) Estimate {
	now := simcore.Ps(0)
	for i := 0; i < 1_000_000; i++ {
		now += intervals[i%len(intervals)]
		if !m.Done(now, bytes) {
			break
		}
	}
	return m.Estimate()
}

func TestMeter(t *testing.T) {
	s := session(t, 1, &Experiment{})
	e := feed(s.NewMeter(4000), 4096, 160_000)
	require.InDelta(t, 4096*8e3/160_000, e.Gbps(), 1e-9)
	require.GreaterOrEqual(t, e.RoundTrips, MinRoundTrips, "whatever the percent")
	require.True(t, e.Converged)

	// A burst of completions must not raise the rate.
	burst := make([]simcore.Ps, 24)
	burst[0] = 24 * 160_000
	e = feed(s.NewMeter(4000), 4096, burst...)
	require.InDelta(t, 4096*8e3/160_000, e.Gbps(), 1e-9)

	// A rate that does not converge must be reported as such.
	slower := []simcore.Ps{} // intervals between completions, each longer than the one before
	for i := range 997 {
		slower = append(slower, simcore.Ps(1000*(i+1)))
	}
	e = feed(session(t, 1, &Experiment{}).NewMeter(1), 64, slower...)
	require.Greater(t, e.Relative(), Precision)
	require.False(t, e.Converged)

	// Completions after the end of a measurement must not be counted.
	m := s.NewMeter(1)
	before := feed(m, 64, 1000)
	require.False(t, m.Done(1<<40, 64))
	require.Equal(t, before, m.Estimate())
}

// TestMeterGoesOnByPercent checks that a rate which stays unknown takes six times the round trips at 100 percent, and
// no longer than the fewest at 1 percent.
func TestMeterGoesOnByPercent(t *testing.T) {
	slower := []simcore.Ps{}
	for i := range 50_000 {
		slower = append(slower, simcore.Ps(1000*(i+1)))
	}
	for percent, trips := range map[int]int{1: 500, 100: 6 * 1000, 200: 6 * 2000} {
		e := feed(session(t, percent, &Experiment{}).NewMeter(1000), 64, slower...)
		require.False(t, e.Converged)
		require.Equal(t, trips, e.RoundTrips, "%d percent", percent)
	}
}

func TestInputs(t *testing.T) {
	x := &Experiment{Name: "x", Inputs: []Input{
		{Name: "a", Value: 1, Source: "s", Instead: &Instead{Value: 2, Source: "n"}},
		{Name: "b", Text: "p", Source: "s"},
	}}
	require.EqualValues(t, 1, session(t, 100, x).Input("a"))
	s := session(t, 100, x, "a", "b")
	require.EqualValues(t, 2, s.Input("a"))
	require.Equal(t, "p", s.Text("b"), "there is nothing to put in its stead")
	require.Equal(t, "instead: n", s.Outcome.Inputs[0].Source)
	require.EqualValues(t, 1, x.Inputs[0].Value, "the experiment keeps its inputs")
	require.Panics(t, func() { s.Input("c") })

	x.Inputs = append(x.Inputs, Input{Name: "a", Source: "s"})
	_, err := NewSession(context.Background(), x, 100)
	require.ErrorContains(t, err, "input a is there twice")
	_, err = NewSession(context.Background(), &Experiment{Name: "y", Inputs: []Input{{Name: "a"}}}, 100)
	require.ErrorContains(t, err, "input a has no source")
}

func TestPoints(t *testing.T) {
	all := []int{1, 2, 3, 4}
	require.Equal(t, all, Points(session(t, few, &Experiment{}), all))
	require.Equal(t, []int{1, 4}, Points(session(t, few-1, &Experiment{}), all))
	require.Equal(t, all[:1], Points(session(t, 1, &Experiment{}), all[:1]))
}

func TestLedger(t *testing.T) {
	l := NewLedger("design", 100)
	l.Add("DRAM", "reads", 250)
	require.InDelta(t, 2.5, l.Of("DRAM", "reads"), 1e-9)
	require.Zero(t, l.Of("DRAM", "writes"))
	require.NoError(t, Balance("x", 3, 3))
	require.EqualError(t, Balance("switch", 3, 2), "switch does not conserve bytes: 3 came in, 2 went out or are held")
}

func TestMeanAndQuantile(t *testing.T) {
	times := make([]simcore.Ps, 5000)
	for i := range times {
		times[i] = simcore.Ps(1000 + i%10)
	}
	e := MeanOf(times)
	require.InEpsilon(t, 1004.5, 1/e.Rate, 1e-3)
	require.True(t, e.Converged)
	require.Equal(t, 5000, e.RoundTrips, "all of them")
	require.Equal(t, 500, MeanOf(times[:500]).RoundTrips)
	q := QuantileOf(times, 0.999)
	require.InEpsilon(t, 1009, 1/q.Rate, 1e-9)
	require.True(t, q.Converged)
	require.False(t, QuantileOf(times[:3000], 0.999).Converged, "3,000 do not contain the interval")
	require.True(t, QuantileOf(times[:3000], 0.99).Converged)
	require.Equal(t, Estimate{}, QuantileOf(nil, 0.99))
	require.False(t, MeanOf(nil).Converged)
}

func TestAbove(t *testing.T) {
	require.True(t, Above(102, 100))
	require.False(t, Above(100.9, 100))
	require.False(t, Above(1, 2))
	require.True(t, Above(1, 0))
	require.False(t, Above(0, 0))
	require.False(t, Above(0, -0.001), "a difference")
	require.False(t, Above(-1, -2))
}

// TestRandom checks that random numbers depend on seed and name, and on nothing else.
func TestRandom(t *testing.T) {
	s := session(t, 1, &Experiment{})
	first := s.Random("a").Uint64()
	require.Equal(t, first, s.Random("a").Uint64())
	require.NotEqual(t, first, s.Random("b").Uint64())
	s.Seed++
	require.NotEqual(t, first, s.Random("a").Uint64())
	require.Zero(t, s.Phase("a", 0))
	require.Less(t, s.Phase("a", 10), simcore.Ps(10))
}
