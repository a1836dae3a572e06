package pause

import (
	"slices"

	"nictwin/models/nic/core"
	"nictwin/models/nic/nicspec"
)

// Stops keeps the latest pause frames that a port received, and computes when they stop it.
type Stops struct {
	came [keptPauses]In
	n    int // number of frames received in all
}

const keptPauses = 64

// In is a received pause frame that the device may have honoured.
type In struct {
	Seq     uint32 // ordinal of the pause frame on its port
	Last    int64  // cycle of the last beat of the pause frame
	Frame   core.PauseFrame
	Classes uint8 // classes that the pause frame stops
	Sure    bool  // the device must have honoured the pause frame, for exactly these classes
}

// Clear ends all stops.
func (k *Stops) Clear() { k.n = 0 }

// Came records a received pause frame, or updates it if its number is known. It reports false if that displaced a
// frame that may still stop the port.
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

// Stopped reports whether a frame must not begin in the given cycle: on this port if class is -1, else in that
// class [F3, F4]. since is the cycle from which the stop had to hold.
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
			return 0, false // the time of this frame is over, and it may have replaced an earlier stop
		}
		since = in.Last + nicspec.VisibleCycles
		if in.Sure && cycle > since {
			return since, true
		}
	}
	return 0, false
}
