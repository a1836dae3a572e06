package steady

import (
	"math"
	"math/rand/v2"
	"testing"

	"github.com/stretchr/testify/require"

	"nictwin/models/sim/simcore"
)

func TestWindow(t *testing.T) {
	w := NewWindow(1000, 20_000)
	for now := simcore.Ps(0); now <= 30_000; now += 10 {
		w.Done(now, 64)
	}
	e := w.Estimate()
	require.InDelta(t, 6.4, e.Rate, 1e-9, "64 B in 10 ps")
	require.Equal(t, 2000, e.RoundTrips, "those of the window alone")
	require.True(t, e.Converged)
	require.True(t, w.Whole())
	require.EqualValues(t, 1000, e.From)

	// A rate that doubles in the middle of the window has not converged.
	w = NewWindow(0, 20_000)
	for now := simcore.Ps(0); now < 20_000; now += 10 {
		w.Done(now, map[bool]int{true: 64, false: 128}[now < 10_000])
	}
	e = w.Estimate()
	require.InDelta(t, 9.6, e.Rate, 1e-9)
	require.False(t, e.Converged)
	require.False(t, w.Whole(), "the traffic ended before the window")
}

func TestMostBatches(t *testing.T) {
	m := New(10, 5, 20, 20)
	for i := range 1000 {
		m.Done(simcore.Ps(100*i), 10)
	}
	e := m.Estimate()
	require.Equal(t, 100, e.RoundTrips, "20 batches of 5, then nothing")
	require.True(t, e.Converged)
	require.InDelta(t, 0.1, e.Rate, 1e-12)
}

func TestNoBytes(t *testing.T) {
	m := New(1, 1, MinBatches, 60)
	for i := range 100 {
		m.Done(simcore.Ps(100*i), 0)
	}
	e := m.Estimate()
	require.Zero(t, e.Rate)
	require.Zero(t, e.Half)
	require.False(t, e.Converged)
}

// TestHugeWindow checks that a window whose end no time reaches stays open, and that one whose parts are long has each
// completion in its part.
func TestHugeWindow(t *testing.T) {
	w := NewWindow(simcore.Second, simcore.MaxPs)
	w.Done(2*simcore.Second, 64)
	require.False(t, w.Whole())
	require.Equal(t, 1, w.Estimate().RoundTrips)

	const length = simcore.MaxPs / 2
	w = NewWindow(0, length)
	for i := range 1000 {
		w.Done(length/1000*simcore.Ps(i), 64)
	}
	e := w.Estimate()
	require.Equal(t, 1000, e.RoundTrips)
	require.True(t, e.Converged, "50 completions in each part")
}

// estimate returns the estimate of 20 batches with the given times per byte, relative to their mean.
func estimate(paces []float64) Estimate {
	e := Estimate{Rate: 1}
	e.settle(paces)
	return e
}

// TestDrift checks that the widened interval tells a rate that drifts or steps from one that is steady.
func TestDrift(t *testing.T) {
	var step, drift, flat, turns []float64
	for i := range 20 {
		step = append(step, map[bool]float64{true: 1, false: 1.015}[i < 7]) // at a third
		drift = append(drift, 1+0.02*float64(i)/20)
		flat = append(flat, 1+1e-15*float64(i%3))
		turns = append(turns, 1+0.02*float64(i%2))
	}
	for _, x := range []struct {
		name   string
		values []float64
	}{{"a step of 1.5% at a third", step}, {"a drift of 2%", drift}} {
		e := estimate(x.values)
		require.True(t, e.Converged, "%s: batches taken as independent", x.name)
		require.False(t, e.Widened().Converged, "%s: ±%.2g%%", x.name, 100*e.Widened().Relative())
	}
	require.True(t, estimate(flat).Widened().Converged)
	require.Equal(t, estimate(turns), estimate(turns).Widened(), "a negative correlation narrows nothing")
	require.True(t, estimate(turns).Widened().Converged)
}

// TestAutoregression counts how often an interval misses the mean of a first-order autoregression. Batches taken as
// independent miss it in four of ten cases, the widened interval in fewer than half as many; not in one of twenty,
// since twenty batches show only a part of their correlation.
func TestAutoregression(t *testing.T) {
	rng := rand.New(rand.NewPCG(1, 2))
	const runs, keep = 2000, 0.7
	narrow, wide := 0, 0
	for range runs {
		var values []float64
		x := rng.NormFloat64() / math.Sqrt(1-keep*keep)
		mean := 0.0
		for range 20 {
			values = append(values, 1+0.001*x)
			mean += (1 + 0.001*x) / 20
			x = keep*x + rng.NormFloat64()
		}
		e := estimate(values)
		if math.Abs(mean-1) > e.Half {
			narrow++
		}
		if math.Abs(mean-1) > e.Widened().Half {
			wide++
		}
	}
	t.Logf("misses: %.1f%% narrow, %.1f%% widened", 100*float64(narrow)/runs, 100*float64(wide)/runs)
	require.Greater(t, narrow, runs/3)
	require.Less(t, wide, runs/5)
}
