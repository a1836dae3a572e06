package golden

import (
	"fmt"

	"nictwin/models/fifo"
	"nictwin/models/nicspec"
)

// tallies is what the device's counters may say: each is a number between lo
// and hi. They are indexed as the COUNTER registers, RULE_HITS following.
type tallies struct {
	lo, hi  [numTallies]uint64
	settled [numTallies]uint64 // steps that are to be seen by now [G5]
	waiting fifo.Queue[step]   // steps not settled, oldest first
	seen    [numTallies]reading
}

const (
	hitsBase   = nicspec.RegCounterCount
	numTallies = hitsBase + nicspec.RegRuleHitsCount
)

// step is an increment that may not be visible yet.
type step struct {
	cycle int64
	index int32
	by    uint32
}

// reading is the latest value that a read of a counter returned.
type reading struct {
	value uint64
	asked int64 // cycle at which the read was accepted
	known bool
}

// sure adds to a counter that the device steps, or has stepped, for certain.
func (t *tallies) sure(index int, by uint64) {
	t.lo[index] += by
	t.hi[index] += by
}

// may adds to a counter that the device may have stepped.
func (t *tallies) may(index int, by uint64) { t.hi[index] += by }

// confirm says that steps which the device may have made were made.
func (t *tallies) confirm(index int, by uint64) { t.lo[index] += by }

// due says that a step has to be visible VisibleCycles after a cycle.
func (t *tallies) due(index int, by uint64, cycle int64) {
	t.waiting.Push(step{cycle, int32(index), uint32(by)})
}

// step is sure and due.
func (t *tallies) step(index int, by uint64, cycle int64) {
	t.sure(index, by)
	t.due(index, by, cycle)
}

func portIndex(c nicspec.PortCounter, port int) int { return c.Index(port) }

// settle lets steps become visible that a read accepted in a cycle must see.
func (t *tallies) settle(cycle int64) {
	for t.waiting.Len() > 0 && t.waiting.Front().cycle+nicspec.VisibleCycles < cycle {
		s := t.waiting.Pop()
		t.settled[s.index] += uint64(s.by)
	}
}

// trim keeps the queue of steps short in runs that never read a counter.
func (t *tallies) trim(cycle int64) {
	if t.waiting.Len() > 1<<9 {
		t.settle(cycle)
	}
}

// tallyName names an index of tallies.
func tallyName(index int) string {
	if index >= hitsBase {
		return fmt.Sprintf("RULE_HITS[%d]", index-hitsBase)
	}
	return nicspec.CounterName(index)
}

// tallyAt finds the counter behind an offset in BAR0; word is its half.
func tallyAt(off uint32) (index, word int, ok bool) {
	const bytes, half = 8, 4
	for _, a := range [...]struct{ base, count, first int }{
		{nicspec.RegCounterBase, nicspec.RegCounterCount, 0},
		{nicspec.RegRuleHitsBase, nicspec.RegRuleHitsCount, hitsBase},
	} {
		if at := int(off) - a.base; at >= 0 && at < a.count*bytes {
			return a.first + at/bytes, at % bytes / half, true
		}
	}
	return 0, 0, false
}

// fates are the counters of which every frame moves one that is not delivered.
var fates = append(nicspec.DropCounters[:], nicspec.CntRxPause)

// dropMask is a set of them.
type dropMask uint32

// pauseBit is a pause frame that was honoured.
const pauseBit = dropMask(1) << nicspec.CntRxPause

func dropBit(c nicspec.PortCounter) dropMask { return 1 << c }

func (m dropMask) has(c nicspec.PortCounter) bool { return m&dropBit(c) != 0 }

// single returns the only counter of the set.
func (m dropMask) single() (c nicspec.PortCounter, ok bool) {
	if m == 0 || m&(m-1) != 0 {
		return 0, false
	}
	for m>>c != 1 {
		c++
	}
	return c, true
}

func (m dropMask) String() string {
	s := ""
	for _, c := range fates {
		if m.has(c) {
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
