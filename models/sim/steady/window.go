package steady

import (
	"math/bits"

	"nictwin/models/sim/simcore"
)

// WindowBatches is the usual number of batches of a given window, and the largest; LeastBatches is the smallest, with a
// half width of 1.6 standard deviations of a batch. Few batches are for rates that go in cycles, one in each batch.
const (
	WindowBatches = 20
	LeastBatches  = 4
)

// Window estimates the rate in a given window of time: the rates of its equal parts are the batches.
type Window struct {
	from, to simcore.Ps
	last     simcore.Ps // time of the latest completion, also outside of the window
	trips    int
	total    uint64
	batches  uint64
	bytes    [WindowBatches]uint64
}

// NewWindow returns an estimate of the rate from a time on, for the given length, or until simcore.MaxPs if that is
// earlier. Neither is negative. It has so many batches, LeastBatches to WindowBatches.
func NewWindow(from, length simcore.Ps, batches int) *Window {
	return &Window{from: from, to: from + min(length, simcore.MaxPs-from), batches: uint64(batches)}
}

// Empty returns a window like this one, without completions.
func (w *Window) Empty() *Window { return &Window{from: w.from, to: w.to, batches: w.batches} }

// Done counts a completion, if it lies in the window.
func (w *Window) Done(now simcore.Ps, bytes int) {
	w.last = now
	if now < w.from || now >= w.to {
		return
	}
	w.trips++
	w.total += uint64(bytes)
	high, low := bits.Mul64(uint64(now-w.from), w.batches)
	part, _ := bits.Div64(high, low, uint64(w.to-w.from))
	w.bytes[part] += uint64(bytes)
}

// Add adds the completions of another estimate, which has the same window.
func (w *Window) Add(x *Window) {
	w.AddTrips(x)
	w.total += x.total
	for i, n := range x.bytes {
		w.bytes[i] += n
	}
}

// AddTrips adds completions as Add does, but none of their bytes.
func (w *Window) AddTrips(x *Window) {
	w.last = max(w.last, x.last)
	w.trips += x.trips
}

// Whole reports whether there was a completion at or after the end of the window, so that it was open to its end.
func (w *Window) Whole() bool { return w.last >= w.to }

// Estimate returns the estimate so far.
func (w *Window) Estimate() Estimate {
	e := Estimate{RoundTrips: w.trips, Bytes: w.total, Batches: int(w.batches), From: w.from, Span: w.to - w.from}
	if e.Span <= 0 {
		return e
	}
	e.Rate = float64(w.total) / float64(e.Span)
	var rates [WindowBatches]float64
	for i, n := range w.bytes {
		rates[i] = float64(n)
	}
	e.settle(rates[:w.batches], LeastBatches)
	return e
}
