package rings

import "nictwin/models/nic/nicspec"

// State is the progress of a ring entry.
type State uint8

// States of a ring entry.
const (
	Idle    State = iota // not read, whether posted or not
	Asked                // being read
	Fetched              // the device has the entry
	Bad                  // the read of the entry failed
	Pushed               // a work entry that came with its doorbell and was not read
)

// Failed is a read of a ring that failed, or may have failed.
type Failed struct {
	First  uint16 // first entry of the read
	Status nicspec.Status
	Sure   bool
	Cycle  int64 // cycle in which the failure became known
	From   int64 // earliest cycle in which the read may have failed
}

// Failures lists the reads of a ring that failed, or may have.
type Failures []Failed

// AllBehind reports whether all reads that failed, or may have, come after an entry. Such an entry ends as if no read
// had failed [T2]: its doorbell was accepted before those reads, which fetched later blocks, failed.
func (l Failures) AllBehind(i uint16) bool {
	for k := range l {
		if int16(i-l[k].First) >= 0 {
			return false
		}
	}
	return true
}

// Reach reports whether an entry was part of a read that surely failed, or comes after one.
func (l Failures) Reach(i uint16) bool {
	for k := range l {
		if l[k].Sure && int16(i-l[k].First) >= 0 {
			return true
		}
	}
	return false
}

// SureBefore returns the first read that surely failed early enough to have taken effect before a cycle, or nil.
func (l Failures) SureBefore(cycle int64) *Failed {
	for k := range l {
		if f := &l[k]; f.Sure && f.Cycle+nicspec.VisibleCycles < cycle {
			return f
		}
	}
	return nil
}
