package pause

import (
	"slices"

	"nictwin/models/nic/core"
	"nictwin/models/nic/nicspec"
)

// Stops keeps the latest pause frames that came in on a port, to find out when they stop it.
type Stops struct {
	came [keptPauses]In
	n    int // frames that came in all
}

const keptPauses = 64

// In is a pause frame that came in and that the device may have honoured.
type In struct {
	Seq     uint32 // ordinal on its port
	Last    int64  // cycle of its last beat
	Frame   core.PauseFrame
	Classes uint8 // stopped by it
	Sure    bool  // the device must have honoured it, for exactly these classes
}

// Clear ends all stops.
func (k *Stops) Clear() { k.n = 0 }

// Came records a pause frame, or updates it if its ordinal is known. It reports false if it took the place of a frame
// that may still count.
func (k *Stops) Came(in In, ethBits int) bool {
	for i := max(0, k.n-keptPauses); i < k.n; i++ {
		if at := &k.came[i%keptPauses]; at.Seq == in.Seq {
			*at = in
			return true
		}
	}
	old := &k.came[k.n%keptPauses]
	counts := k.n >= keptPauses && in.Last < old.Last+core.PauseCycles(slices.Max(old.Frame.Quanta[:]), ethBits)
	*old = in
	k.n++
	return !counts
}

// Stopped reports whether no frame may begin in that cycle: on the port, or, with class 0 to 7, of that class [F3, F4].
// since is the cycle from which the stop had to hold.
func (k *Stops) Stopped(ethBits, class int, cycle int64) (since int64, stopped bool) {
	for i := k.n - 1; i >= max(0, k.n-keptPauses); i-- {
		in := &k.came[i%keptPauses]
		quanta := in.Frame.Quanta[0]
		if class >= 0 {
			quanta = in.Frame.Quanta[class]
		}
		if in.Last >= cycle || in.Frame.Priority != (class >= 0) || class >= 0 && in.Classes>>class&1 == 0 {
			continue
		}
		if cycle >= in.Last+core.PauseCycles(quanta, ethBits) {
			return 0, false // this frame, whose time is over, may be the latest that counts
		}
		since = in.Last + nicspec.VisibleCycles
		if in.Sure && cycle > since {
			return since, true
		}
	}
	return 0, false
}
