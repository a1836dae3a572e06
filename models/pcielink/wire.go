package pcielink

import "nictwin/models/simcore"

// Wire is a transmitter: when it is free again, and what the data link layer takes of it.
type Wire struct {
	psNum, psDen int64      // serialisation time of n bytes is n*psNum/psDen
	busy         simcore.Ps // the end of the last TLP, and frac/psDen more
	frac         int64

	// The serialisation time of lastBytes: sizes repeat, and this saves the division.
	lastBytes, rem int64
	whole          simcore.Ps

	// DLLPs that are to be sent: those that were due before the instant dueAt, and those due in it. The latter go on the
	// wire after it, so that the order of events within an instant does not matter.
	due, dueNow int
	dueAt       simcore.Ps
}

// NewWire makes a transmitter of a rate that is not infinite.
func NewWire(r simcore.Rate) (w Wire) {
	w.init(r)
	return w
}

// Busy is when the last TLP has left.
func (w *Wire) Busy() simcore.Ps { return w.busy }

func (w *Wire) init(r simcore.Rate) {
	g := gcd(int64(r.Ps), r.Bytes)
	*w = Wire{psNum: int64(r.Ps) / g, psDen: r.Bytes / g}
}

func gcd(a, b int64) int64 {
	for b != 0 {
		a, b = b, a%b
	}
	return a
}

// owe notes a DLLP that is due from a time on.
func (w *Wire) owe(now simcore.Ps) {
	if now != w.dueAt {
		w.due += w.dueNow
		w.dueNow, w.dueAt = 0, now
	}
	w.dueNow++
}

// paid takes the DLLPs that go on the wire before a TLP.
func (w *Wire) paid(now simcore.Ps) int {
	n := w.due
	w.due = 0
	if w.dueAt < now {
		n += w.dueNow
		w.dueNow = 0
	}
	return n
}

// Transmit occupies the wire from a time on, or from when it is free, and returns when the last byte has left. The
// fraction of a picosecond carries over while TLPs are back to back, so that the rate is exact.
func (w *Wire) Transmit(from simcore.Ps, bytes int64) simcore.Ps {
	if from > w.busy {
		w.busy, w.frac = from, 0
	}
	if bytes != w.lastBytes {
		t := bytes * w.psNum
		w.lastBytes, w.whole, w.rem = bytes, simcore.Ps(t/w.psDen), t%w.psDen
	}
	w.busy += w.whole
	if w.frac += w.rem; w.frac >= w.psDen {
		w.frac -= w.psDen
		w.busy++
	}
	if w.frac != 0 {
		return w.busy + 1
	}
	return w.busy
}

// TimeOf is the serialisation time of n bytes, rounded up.
func (w *Wire) TimeOf(n int) simcore.Ps {
	return simcore.Ps((int64(n)*w.psNum + w.psDen - 1) / w.psDen)
}
