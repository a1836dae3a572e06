package simcore

// Serial is a transmitter that sends one message at a time at an exact rate. The fraction of a
// picosecond carries over while messages are back to back.
type Serial struct {
	psNum, psDen int64 // serialisation time of n bytes is n*psNum/psDen
	busy         Ps    // the last message ends at busy + frac/psDen
	frac         int64

	// The serialisation time of lastBytes: sizes repeat, and caching it saves the division.
	lastBytes, rem int64
	whole          Ps
}

// NewSerial makes a transmitter of a valid rate; the zero rate is infinitely fast.
func NewSerial(r Rate) Serial {
	g := gcd(int64(r.Ps), r.Bytes)
	if g == 0 {
		return Serial{psDen: 1}
	}
	return Serial{psNum: int64(r.Ps) / g, psDen: r.Bytes / g}
}

// Busy returns when the last message has left, rounded down: a message sent from then on is back to
// back with it.
func (s *Serial) Busy() Ps { return s.busy }

// Transmit occupies the transmitter from the given time, or from when it is free, and returns when
// the last byte has left, rounded up.
func (s *Serial) Transmit(from Ps, bytes int64) Ps {
	if from > s.busy {
		s.busy, s.frac = from, 0
	}
	if bytes != s.lastBytes {
		t := bytes * s.psNum
		s.lastBytes, s.whole, s.rem = bytes, Ps(t/s.psDen), t%s.psDen
	}
	s.busy += s.whole
	if s.frac += s.rem; s.frac >= s.psDen {
		s.frac -= s.psDen
		s.busy++
	}
	if s.frac != 0 {
		return s.busy + 1
	}
	return s.busy
}

// TimeOf returns the serialisation time of n bytes, rounded up.
func (s *Serial) TimeOf(n int) Ps {
	return Ps((int64(n)*s.psNum + s.psDen - 1) / s.psDen)
}
