package pcielink

import "nictwin/models/sim/simcore"

// Wire is a transmitter with the DLLPs that share its bandwidth.
type Wire struct {
	simcore.Serial

	// DLLPs not yet sent: those due before the instant dueAt, and those due in it. The latter take
	// their bandwidth after it, so that the order of events within an instant does not matter.
	due, dueNow int
	dueAt       simcore.Ps
}

// NewWire returns a transmitter of a finite rate.
func NewWire(r simcore.Rate) Wire { return Wire{Serial: simcore.NewSerial(r)} }

// owe records a DLLP that falls due now.
func (w *Wire) owe(now simcore.Ps) {
	if now != w.dueAt {
		w.due += w.dueNow
		w.dueNow, w.dueAt = 0, now
	}
	w.dueNow++
}

// paid returns how many DLLPs go on the wire before a TLP sent now, and removes them.
func (w *Wire) paid(now simcore.Ps) int {
	n := w.due
	w.due = 0
	if w.dueAt < now {
		n += w.dueNow
		w.dueNow = 0
	}
	return n
}
