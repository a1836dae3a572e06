package replay

// deliverySpan is the number of frames for which a port's deliveries are recorded: ten milliseconds of minimum-size
// frames at full rate, far longer than a NIC can hold one.
const deliverySpan = 1 << 20

// deliveryRecord records which of a port's latest deliverySpan frames have been delivered. Its size does not depend on
// the length of the run.
type deliveryRecord struct {
	bits [deliverySpan / 64]uint64
	next int // one more than the highest ordinal delivered so far
}

// deliveryKind classifies the delivery of a frame.
type deliveryKind int

const (
	firstTime deliveryKind = iota
	again
	tooLate // the frame is too old for the record
)

// mark records the delivery of a frame, and reports whether it is the first one.
func (s *deliveryRecord) mark(ordinal int) deliveryKind {
	if ordinal < s.next-deliverySpan {
		return tooLate
	}
	if ordinal >= s.next+deliverySpan {
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

func (s *deliveryRecord) at(ordinal int) (word *uint64, bit uint64) {
	i := uint(ordinal) % deliverySpan
	return &s.bits[i/64], 1 << (i % 64)
}

// ordinalOf returns the latest ordinal below `sent` with `seq` as its low 32 bits; it is negative if no frame sent so
// far has such an ordinal.
func ordinalOf(seq uint32, sent int) int {
	latest := sent - 1
	return latest - int(uint32(latest)-seq)
}
