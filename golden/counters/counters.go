package counters

import (
	"fmt"

	"nictwin/models/nic/nicspec"
	"nictwin/models/sim/fifo"
)

// Bounds holds a lower and an upper bound, lo and hi, for each of the device's counters. The zero value is that of
// a device after reset.
type Bounds struct {
	lo, hi  [Num]uint64
	settled [Num]uint64      // steps that a read must show by now [G5]
	waiting fifo.Queue[step] // steps not yet settled, oldest first
	seen    [Num]reading
}

// Indices of counters: the COUNTER registers come first, RULE_HITS from HitsBase on; there are Num in all.
const (
	HitsBase = nicspec.RegCounterCount
	Num      = HitsBase + nicspec.RegRuleHitsCount
)

// step is an increment that may not be visible yet.
type step struct {
	cycle int64
	index int32
	by    uint32
}

// reading is the result of the latest read of a counter.
type reading struct {
	value uint64
	asked int64 // cycle at which the read was accepted
	known bool
}

// Sure counts steps that the device certainly makes, now or later.
func (b *Bounds) Sure(index int, by uint64) {
	b.lo[index] += by
	b.hi[index] += by
}

// May counts steps that the device may make or have made.
func (b *Bounds) May(index int, by uint64) { b.hi[index] += by }

// Confirm records that steps counted by method May were made.
func (b *Bounds) Confirm(index int, by uint64) { b.lo[index] += by }

// Due records that a read accepted more than VisibleCycles after a cycle must show a step.
func (b *Bounds) Due(index int, by uint64, cycle int64) {
	b.waiting.Push(step{cycle, int32(index), uint32(by)})
}

// Step records a step by calling both methods, Sure and Due.
func (b *Bounds) Step(index int, by uint64, cycle int64) {
	b.Sure(index, by)
	b.Due(index, by, cycle)
}

// Withdraw takes back one step counted by Sure.
func (b *Bounds) Withdraw(index int) {
	b.lo[index]--
	b.hi[index]--
}

// Unsure records that one step counted by Sure may not have been made.
func (b *Bounds) Unsure(index int) { b.lo[index]-- }

// Between returns the bounds of a counter.
func (b *Bounds) Between(index int) (lo, hi uint64) { return b.lo[index], b.hi[index] }

// Least returns the lowest value that a read accepted now may return.
func (b *Bounds) Least(index int) uint64 { return b.settled[index] }

// Read records the value returned by a read that was accepted in cycle asked.
func (b *Bounds) Read(index int, value uint64, asked int64) {
	b.seen[index] = reading{value: value, asked: asked, known: true}
}

// Latest returns the value of the latest read and the cycle in which it was accepted; known is
// false if there was none.
func (b *Bounds) Latest(index int) (value uint64, asked int64, known bool) {
	s := &b.seen[index]
	return s.value, s.asked, s.known
}

// Settle moves the steps that a read accepted in the given cycle must show into the values of method Least.
func (b *Bounds) Settle(cycle int64) {
	for b.waiting.Len() > 0 && b.waiting.Front().cycle+nicspec.VisibleCycles < cycle {
		s := b.waiting.Pop()
		b.settled[s.index] += uint64(s.by)
	}
}

// Trim bounds the number of steps not yet settled, in runs that never read a counter.
func (b *Bounds) Trim(cycle int64) {
	if b.waiting.Len() > 1<<9 {
		b.Settle(cycle)
	}
}

// NameOf returns the name of a counter.
func NameOf(index int) string {
	if index >= HitsBase {
		return fmt.Sprintf("RULE_HITS[%d]", index-HitsBase)
	}
	return nicspec.CounterName(index)
}

// At returns the counter whose register is at an offset in BAR0, and which 32-bit half of it.
func At(off uint32) (index, word int, ok bool) {
	const bytes, half = 8, 4
	for _, a := range [...]struct{ base, count, first int }{
		{nicspec.RegCounterBase, nicspec.RegCounterCount, 0},
		{nicspec.RegRuleHitsBase, nicspec.RegRuleHitsCount, HitsBase},
	} {
		if at := int(off) - a.base; at >= 0 && at < a.count*bytes {
			return a.first + at/bytes, at % bytes / half, true
		}
	}
	return 0, 0, false
}
