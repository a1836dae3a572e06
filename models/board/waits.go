package board

import (
	"math"
	"time"

	"nictwin/models/format/ether"
	"nictwin/models/nic/nicspec"
	"nictwin/models/sim/field"
	"nictwin/models/sim/simcore"
)

// Waits are limits derived from the rates and latencies of a card. A card whose parts work never
// reaches them.
type Waits struct {
	// Read bounds the duration of a read by the NIC, or by software of a register.
	Read simcore.Ps

	// Turn bounds the card's reaction to a doorbell: the entry and its data are read, and the
	// result is written and seen by software.
	Turn simcore.Ps

	// CplTimeout is the value of the NIC's register [P6]: the reset value, or more if reads may
	// take longer.
	CplTimeout uint32

	// Polls is a number of consecutive reads of a register that take longer than Turn.
	Polls int
}

// Waits returns the limits of a card, or the field of the part that is too slow for the NIC:
// CPL_TIMEOUT has 32 bits.
func (s *CardSpec) Waits() (Waits, error) {
	const reads = 4 // of a Turn: entry, data, a completion behind them, and a register read to be sure of it
	t := s.readTime(s.load())
	w := Waits{Read: t.longest, Turn: reads * t.longest, CplTimeout: nicspec.ResetCplTimeout}
	w.Polls = int(w.Turn / s.shortestRead())
	cycles := times(1, t.longest, int64(s.period()))
	if cycles > math.MaxUint32 {
		most := math.MaxUint32 * s.period()
		return w, field.Errorf(t.part, ": a read of the NIC may take %v, most of it here: want %v or less, as long "+
			"as it can wait for completions (CPL_TIMEOUT, 2^32 - 1 cycles of %s %d)",
			people(t.longest), people(most), field.Path("period_ps"), int64(s.period()))
	}
	w.CplTimeout = max(w.CplTimeout, uint32(cycles))
	return w, nil
}

// people converts a duration for error messages.
func people(t simcore.Ps) time.Duration { return time.Duration(t / simcore.Nanosecond) }

// shortestRead returns the least duration of a register read by software.
func (s *CardSpec) shortestRead() simcore.Ps {
	const cycles = 8 // of the NIC (assumption)
	way := s.pcie().Latency
	if sw := s.Switch; sw != nil {
		way += sw.Latency
		if sw.Arm.PCIe != nil {
			way += sw.Arm.PCIe.Latency
		} else if sw.Arm.Fabric != nil {
			way += sw.Arm.Fabric.Latency
		}
	}
	return 2*way + cycles*s.period()
}

// FrameTime returns how long a frame of the greatest length takes over a cable.
func FrameTime(s simcore.LinkSpec) simcore.Ps {
	return sum(s.Latency, paced(int64(ether.MaxLen+s.OverheadBytes), s.Rate))
}

// CableTime bounds how long a frame waits for a cable and takes over it, until its credit is back.
func CableTime(s simcore.LinkSpec) simcore.Ps { return sum(2*FrameTime(s), s.CreditLatency) }
