package pcielink

import "nictwin/models/sim/simcore"

// Wire is a transmitter, and what the data link layer takes of it.
type Wire struct {
	simcore.Serial

	// DLLPs that are to be sent: those that were due before the instant dueAt, and those due in it. The latter go on
	// the wire after it, so that the order of events within an instant does not matter.
	due, dueNow int
	dueAt       simcore.Ps
}

// NewWire makes a transmitter of a rate that is not infinite.
func NewWire(r simcore.Rate) Wire { return Wire{Serial: simcore.NewSerial(r)} }

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
