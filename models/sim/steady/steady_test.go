package steady

import (
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
