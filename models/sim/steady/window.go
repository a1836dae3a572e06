package steady

import (
	"math/bits"

	"nictwin/models/sim/simcore"
)

// windowBatches is the number of equal parts of a given window.
const windowBatches = 20

// Window estimates the rate in a given window of time: the rates of its equal parts are the batches.
type Window struct {
	from, to simcore.Ps
	last     simcore.Ps // time of the latest completion, also outside of the window
	trips    int
	total    uint64
	bytes    [windowBatches]uint64
}

// NewWindow returns an estimate of the rate from a time on, for the given length, or until simcore.MaxPs if that is
// earlier. Neither is negative.
func NewWindow(from, length simcore.Ps) *Window {
	return &Window{from: from, to: from + min(length, simcore.MaxPs-from)}
}

// Range returns the window's begin and length.
func (w *Window) Range() (from, length simcore.Ps) { return w.from, w.to - w.from }

// Done counts a completion, if it lies in the window.
func (w *Window) Done(now simcore.Ps, bytes int) {
	w.last = now
	if now < w.from || now >= w.to {
		return
	}
	w.trips++
	w.total += uint64(bytes)
	high, low := bits.Mul64(uint64(now-w.from), windowBatches)
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
	e := Estimate{RoundTrips: w.trips, Bytes: w.total, Batches: windowBatches, From: w.from, Span: w.to - w.from}
	if e.Span <= 0 {
		return e
	}
	e.Rate = float64(w.total) / float64(e.Span)
	var rates [windowBatches]float64
	for i, n := range w.bytes {
		rates[i] = float64(n)
	}
	e.settle(rates[:])
	return e
}
