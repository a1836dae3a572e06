package counters

import "nictwin/models/nic/nicspec"

// Fates lists the counters of received frames that are not delivered: the drop counters and RX_PAUSE. Each such frame
// steps exactly one of them.
var Fates = append(nicspec.DropCounters[:], nicspec.CntRxPause)

// Drops is a set of drop counters, or causes of a drop, as a bit mask. It may contain RX_PAUSE.
type Drops uint32

// Pause is the set of RX_PAUSE alone: the counter of pause frames that were honoured.
const Pause = Drops(1) << nicspec.CntRxPause

// Drop returns the set of one counter.
func Drop(c nicspec.PortCounter) Drops { return 1 << c }

// Has reports whether a counter is in the set.
func (m Drops) Has(c nicspec.PortCounter) bool { return m&Drop(c) != 0 }

// Single returns the only counter of the set.
func (m Drops) Single() (c nicspec.PortCounter, ok bool) {
	if m == 0 || m&(m-1) != 0 {
		return 0, false
	}
	for m>>c != 1 {
		c++
	}
	return c, true
}

// String lists the counters as alternatives.
func (m Drops) String() string {
	s := ""
	for _, c := range Fates {
		if m.Has(c) {
			if s != "" {
				s += " or "
			}
			s += c.String()
		}
	}
	if s == "" {
		return "no drop"
	}
	return s
}
