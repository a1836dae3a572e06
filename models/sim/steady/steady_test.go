package steady

import (
	"math"
	"math/rand/v2"
	"slices"
	"testing"

	"github.com/stretchr/testify/require"

	"nictwin/models/sim/simcore"
)

func TestWindow(t *testing.T) {
	w := NewWindow(1000, 20_000, WindowBatches)
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
	w = NewWindow(0, 20_000, WindowBatches)
	for now := simcore.Ps(0); now < 20_000; now += 10 {
		w.Done(now, map[bool]int{true: 64, false: 128}[now < 10_000])
	}
	e = w.Estimate()
	require.InDelta(t, 9.6, e.Rate, 1e-9)
	require.False(t, e.Converged)
	require.False(t, w.Whole(), "the traffic ended before the window")
}

// The sum of two estimates is that of all completions.
func TestWindowsAdd(t *testing.T) {
	a := NewWindow(0, 20_000, WindowBatches)
	b, both := a.Empty(), a.Empty()
	for now := simcore.Ps(0); now <= 20_000; now += 10 {
		w, n := a, 64
		if now%3000 < 1000 {
			w, n = b, 32
		}
		w.Done(now, n)
		both.Done(now, n)
	}
	a.Add(b)
	require.Equal(t, both, a)
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
	w := NewWindow(simcore.Second, simcore.MaxPs, WindowBatches)
	w.Done(2*simcore.Second, 64)
	require.False(t, w.Whole())
	require.Equal(t, 1, w.Estimate().RoundTrips)

	const length = simcore.MaxPs / 2
	w = NewWindow(0, length, WindowBatches)
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
	e.settle(paces, MinBatches)
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
// independent miss it in four of ten cases. The widened interval misses it less than half as often, but in more than
// one of twenty cases, since twenty batches show only a part of their correlation.
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

// waves feeds a meter completions whose rate alternates between waves of the given length, longer than a batch.
func waves(m *Meter, length, waves int) Estimate {
	now := simcore.Ps(0)
	for i := range length * waves {
		now += map[bool]simcore.Ps{true: 100, false: 300}[i/length%2 == 0]
		if !m.Done(now, 64) {
			break
		}
	}
	return m.Estimate()
}

// TestDoubling checks that a rate with waves is known from merged batches of as many completions, and that the meter
// goes on only as often as it may.
func TestDoubling(t *testing.T) {
	const length, many = 20, 1000
	plain := waves(New(1, 20, 10, 60), length, many)
	require.False(t, plain.Converged)
	require.Equal(t, 60*20, plain.RoundTrips)
	e := waves(New(1, 20, 10, 60).Doubling(0), length, many)
	require.True(t, e.Converged, "batches of whole waves")
	require.InEpsilon(t, 64.0/200, e.Rate, 0.01)
	require.Less(t, e.RoundTrips, plain.RoundTrips, "earlier than without")
	drift := func(m *Meter) Estimate { // each interval is longer than the one before: no rate
		now := simcore.Ps(0)
		for i := range 1 << 20 {
			if now += simcore.Ps(i); !m.Done(now, 64) {
				break
			}
		}
		return m.Estimate()
	}
	for times, trips := range []int{1200, 2400, 4800} {
		e := drift(New(1, 20, 10, 60).Doubling(times))
		require.False(t, e.Converged)
		require.Equal(t, trips, e.RoundTrips)
	}
}

// TestRatio checks the rate and the interval from marks at uneven times.
func TestRatio(t *testing.T) {
	at, bytes := []simcore.Ps{100}, []uint64{1000}
	for i := range 40 {
		step := simcore.Ps(1 + 99*(i%2)) // completions in pairs
		at, bytes = append(at, at[i]+step), append(bytes, bytes[i]+uint64(2*step))
	}
	e := Ratio(at, bytes)
	require.InDelta(t, 2, e.Rate, 1e-9)
	require.True(t, e.Converged)
	require.Equal(t, 40, e.RoundTrips)
	bytes[40] += 3000
	require.False(t, Ratio(at, bytes).Converged)
	require.False(t, Ratio(at[:9], bytes[:9]).Converged, "too few batches for an interval")
	require.Equal(t, Estimate{}, Ratio(at[:1], bytes[:1]))
}

// The half width is that of the mean of all values.
func TestMean(t *testing.T) {
	e := Mean(slices.Repeat([]float64{9, 11}, 10))
	require.InDelta(t, 10, e.Rate, 1e-9)
	require.InDelta(t, 2.093*1.026/math.Sqrt(20), e.Half, 1e-3)
	require.False(t, e.Converged)
	require.True(t, Mean(slices.Repeat([]float64{9.99, 10.01}, 10)).Converged)
	require.Zero(t, Mean([]float64{1, 1}).Half, "too few")
	require.False(t, Mean([]float64{1, 1}).Converged)
	require.Zero(t, Mean(nil).Rate)
}

// TestBatchesOfCycles estimates a rate that goes in cycles: from four batches of a cycle each its mean is known to 1%,
// from twenty parts of cycles it is not.
func TestBatchesOfCycles(t *testing.T) {
	const cycle, cycles = 10_000, 4
	estimate := func(batches int) Estimate {
		w := NewWindow(0, cycle*cycles, batches)
		for now := simcore.Ps(0); now < cycle*cycles; now++ {
			if now%cycle < cycle/2 || now%2 == 0 { // half as many in the second half
				w.Done(now, 1)
			}
		}
		return w.Estimate()
	}
	whole, parts := estimate(cycles), estimate(WindowBatches)
	require.True(t, whole.Converged)
	require.InDelta(t, 0.75, whole.Rate, 1e-3)
	require.False(t, parts.Converged)
	require.Equal(t, whole.Rate, parts.Rate)
}
