package replay

// seenSpan is how far back a port's deliveries are remembered, in frames: ten milliseconds of the smallest at full
// rate, far longer than a NIC can keep one.
const seenSpan = 1 << 20

// seen remembers which frames of a port were delivered, of the latest seenSpan: runs may be of any length.
type seen struct {
	bits [seenSpan / 64]uint64
	next int // ordinal after the highest that was marked
}

// sighting is what is known of a frame that is being delivered.
type sighting int

const (
	firstTime sighting = iota
	again
	tooLate // so late that it is not remembered
)

// mark notes that a frame was delivered.
func (s *seen) mark(ordinal int) sighting {
	if ordinal < s.next-seenSpan {
		return tooLate
	}
	if ordinal >= s.next+seenSpan {
		clear(s.bits[:])
		s.next = ordinal
	}
	for ; s.next <= ordinal; s.next++ {
		word, bit := s.at(s.next)
		*word &^= bit
	}
	word, bit := s.at(ordinal)
	if *word&bit != 0 {
		return again
	}
	*word |= bit
	return firstTime
}

func (s *seen) at(ordinal int) (word *uint64, bit uint64) {
	i := uint(ordinal) % seenSpan
	return &s.bits[i/64], 1 << (i % 64)
}

// ordinalOf is the ordinal that a completion entry's 32 bits stand for, when so many frames were sent; negative when
// they stand for none that was.
func ordinalOf(seq uint32, sent int) int {
	latest := sent - 1
	return latest - int(uint32(latest)-seq)
}
