package pause

import (
	"slices"

	"nictwin/models/nic/core"
	"nictwin/models/nic/nicspec"
)

// Stops is the pause frames that came in on a port of late.
type Stops struct {
	came [keptPauses]In
	n    int // that came
}

const keptPauses = 64

// In is a pause frame that came in, and may have been honoured.
type In struct {
	Seq     uint32 // ordinal on its port
	Last    int64  // cycle of its last beat
	Frame   core.PauseFrame
	Classes uint8 // stopped by it
	Sure    bool  // it was honoured, and for these classes
}

// Clear says that there are no stops.
func (k *Stops) Clear() { k.n = 0 }

// Came notes a pause frame, anew if it is known. It reports false if one was forgotten for it that may still count.
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

// Stopped reports whether nothing may begin in a cycle: on the port, or, with
// class 0 to 7, of that class [F3, F4]. since is the cycle from which on the
// stop had to hold.
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
			return 0, false // it may have been the latest to count
		}
		since = in.Last + nicspec.VisibleCycles
		if in.Sure && cycle > since {
			return since, true
		}
	}
	return 0, false
}
