package rings

import "nictwin/models/nic/nicspec"

// State is how far an entry of a ring is.
type State uint8

// The states of an entry.
const (
	Idle   State = iota // posted or not, not read
	Asked               // being read
	There               // read
	Bad                 // its read failed
	Pushed              // a work entry that came with its doorbell, not read
)

// Failed is a read of a ring that failed, or may have failed.
type Failed struct {
	First  uint16 // entry that it read
	Status nicspec.Status
	Sure   bool
	Cycle  int64 // in which it was known
	From   int64 // in which it may have failed, at the earliest
}

// Failures is the reads of a ring that failed, or may have.
type Failures []Failed

// AllBehind reports whether an entry comes before all whose reads failed, or may
// have: its doorbell was taken, and it ends as usual [T2].
func (l Failures) AllBehind(i uint16) bool {
	for k := range l {
		if int16(i-l[k].First) >= 0 {
			return false
		}
	}
	return true
}

// Reach reports whether an entry is one whose read surely failed, or comes after
// one.
func (l Failures) Reach(i uint16) bool {
	for k := range l {
		if l[k].Sure && int16(i-l[k].First) >= 0 {
			return true
		}
	}
	return false
}

// SureBefore is the first that surely failed so long before a cycle that it has
// taken effect, nil if there is none.
func (l Failures) SureBefore(cycle int64) *Failed {
	for k := range l {
		if f := &l[k]; f.Sure && f.Cycle+nicspec.VisibleCycles < cycle {
			return f
		}
	}
	return nil
}
