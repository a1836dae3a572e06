package pcielink

import "nictwin/models/sim/simcore"

// Wire is a transmitter with the DLLPs that share its bandwidth.
type Wire struct {
	simcore.Serial

	// DLLPs that have not been sent: due before the instant dueAt, and due at it. Those due at
	// dueAt take bandwidth only from TLPs of later instants, so that the order of events within an
	// instant does not matter.
	due, dueNow int
	dueAt       simcore.Ps
}

// NewWire returns a transmitter of a finite rate.
func NewWire(r simcore.Rate) Wire { return Wire{Serial: simcore.NewSerial(r)} }

// owe records a DLLP that is due now.
func (w *Wire) owe(now simcore.Ps) {
	if now != w.dueAt {
		w.due += w.dueNow
		w.dueNow, w.dueAt = 0, now
	}
	w.dueNow++
}

// takeDue returns the number of DLLPs that go on the wire before a TLP sent now, and removes them.
func (w *Wire) takeDue(now simcore.Ps) int {
	n := w.due
	w.due = 0
	if w.dueAt < now {
		n += w.dueNow
		w.dueNow = 0
	}
	return n
}
