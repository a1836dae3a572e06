package golden

import (
	"fmt"

	"nictwin/golden/cycles"
	"nictwin/models/boundary"
)

// backpressure records when the streams out of the device were held back, as
// observers reported it.
type backpressure struct {
	tlp  cycles.Set   // m_axis_tlp was held back
	used cycles.Set   // m_axis_tlp was held back, or carried a TLP
	eth  []cycles.Set // m_axis_eth of a port was held back
}

// How many cycles outside of a set of spans its spans are kept for: more than any
// bound that is checked with them.
const (
	keptTLP  = 1 << 14 // [L3]
	keptUsed = 1 << 11 // [M3], fetchSlack
	keptEth  = 1 << 11 // [F6]
)

func (s *backpressure) init(ports int) {
	s.tlp, s.used, s.eth = cycles.NewSet(keptTLP), cycles.NewSet(keptUsed), make([]cycles.Set, ports)
	for i := range s.eth {
		s.eth[i] = cycles.NewSet(keptEth)
	}
}

// Held takes an interval in which a stream was held back. A referee that gets none
// takes every delay for the device's own.
func (r *Referee) Held(x boundary.Held) {
	if r.fault != "" {
		return
	}
	if x.First > x.Last || x.Kind >= boundary.NumKinds || uint(x.Port) >= uint(len(r.held.eth)) {
		r.fault = fmt.Sprintf("%v is no time of a stream of this build", x)
		return
	}
	s := &r.held.tlp
	switch x.Kind {
	case boundary.FrameOut:
		s = &r.held.eth[x.Port]
	case boundary.TLPOut:
		r.held.used.Add(x.First, x.Last)
	default:
		return // inputs that are slow give the device time
	}
	if x.First <= s.Latest() {
		r.fault = fmt.Sprintf("%v is out of order after cycle %d", x, s.Latest())
		return
	}
	s.Add(x.First, x.Last)
}

var _ boundary.HeldObserver = (*Referee)(nil).Held

// waited counts the cycles from a former one to the first beat of the current TLP,
// without those in which m_axis_tlp was held back or carried other TLPs.
func (r *Referee) waited(since int64) int64 { return r.held.used.Free(since, r.x.First-1) + 1 }

// begun is the cycle in which the current frame was offered.
func (r *Referee) begun() int64 { return r.held.eth[r.x.Port].Begin(r.x.First) }
