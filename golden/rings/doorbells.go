package rings

import (
	"math"

	"nictwin/models/nic/nicspec"
)

// kept is the number of doorbells remembered per ring.
const kept = 32

// Doorbells holds the recently accepted doorbells of a ring. The zero value has none.
type Doorbells struct {
	last [kept]doorbell
	n    uint64
	lost uint64
}

type doorbell struct {
	cycle int64
	pi    uint16
}

// Reset forgets all doorbells, for a ring that was enabled anew.
func (d *Doorbells) Reset() { d.n = 0 }

// Rung records a doorbell that set the producer index.
func (d *Doorbells) Rung(pi uint16, cycle int64) {
	d.last[d.n%kept] = doorbell{cycle, pi}
	d.n++
}

// Before returns the producer index set by the latest doorbell accepted before a cycle. If that doorbell is no longer
// kept, because too many followed, Before counts that (Lost) and returns `instead`: an index with which the device is
// not blamed.
func (d *Doorbells) Before(cycle int64, instead uint16) uint16 {
	for k := d.n; k > 0 && k+kept > d.n; k-- {
		if b := &d.last[(k-1)%kept]; b.cycle < cycle {
			return b.pi
		}
	}
	if d.n < kept {
		return 0
	}
	d.lost++
	return instead
}

// Lost returns how often `Before` no longer knew the producer index.
func (d *Doorbells) Lost() uint64 { return d.lost }

// Recent contains the cycles of a ring's last eight accepted doorbells, latest first. If a read of the ring fails
// before one of them took effect [G4], the device may or may not count that doorbell as DB_BAD. Reset a Recent before
// use.
type Recent [8]int64

// Reset forgets all doorbells.
func (f *Recent) Reset() {
	for i := range f {
		f[i] = math.MinInt64
	}
}

// Note records a doorbell.
func (f *Recent) Note(cycle int64) {
	copy(f[1:], f[:])
	f[0] = cycle
}

// Take returns how many of the recorded doorbells may not have taken effect by a cycle, and forgets all doorbells.
func (f *Recent) Take(cycle int64) (n uint64) {
	for _, at := range f {
		if at != math.MinInt64 && at+nicspec.VisibleCycles >= cycle {
			n++
		}
	}
	f.Reset()
	return n
}
