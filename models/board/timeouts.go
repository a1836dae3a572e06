package board

import (
	"math"
	"time"

	"nictwin/models/format/ether"
	"nictwin/models/nic/nicspec"
	"nictwin/models/sim/field"
	"nictwin/models/sim/simcore"
)

// Waits holds timeouts that are derived from the rates and latencies of a card: a card that works
// never reaches them.
type Waits struct {
	// Read bounds the duration of a read by the NIC, and of a register read by software.
	Read simcore.Ps

	// Turn bounds the time from a doorbell until software sees the result: entry and data are read,
	// and the completion entry is written.
	Turn simcore.Ps

	// CplTimeout is the value for the NIC's register CPL_TIMEOUT [P6], in cycles: the reset value,
	// or more if reads may take longer.
	CplTimeout uint32

	// Polls is the number of consecutive register reads that are sure to take longer than Turn.
	Polls int
}

// Waits returns the timeouts of a card. The error names the field of the slowest part if a read may
// take longer than CPL_TIMEOUT, which has 32 bits, can express.
func (s *CardSpec) Waits() (Waits, error) {
	const reads = 4 // read times in a Turn: entry, data, a completion behind them, and a register read as a margin
	t := s.readTime(s.load())
	w := Waits{Read: t.longest, Turn: reads * t.longest, CplTimeout: nicspec.ResetCplTimeout}
	w.Polls = int(w.Turn / s.shortestRead())
	cycles := times(1, t.longest, int64(s.period()))
	if cycles > math.MaxUint32 {
		most := math.MaxUint32 * s.period()
		return w, field.Errorf(t.part, ": a read of the NIC may take %v, most of it here: want %v or less, as long "+
			"as it can wait for completions (CPL_TIMEOUT, 2^32 - 1 cycles of %s %d)",
			toDuration(t.longest), toDuration(most), field.Path("period_ps"), int64(s.period()))
	}
	w.CplTimeout = max(w.CplTimeout, uint32(cycles))
	return w, nil
}

// toDuration converts a time for error messages.
func toDuration(t simcore.Ps) time.Duration { return time.Duration(t / simcore.Nanosecond) }

// shortestRead returns the least duration of a register read by software.
func (s *CardSpec) shortestRead() simcore.Ps {
	const cycles = 8 // cycles that the NIC takes to answer (assumption)
	oneWay := s.pcie().Latency
	if sw := s.Switch; sw != nil {
		oneWay += sw.Latency
		if sw.Arm.PCIe != nil {
			oneWay += sw.Arm.PCIe.Latency
		} else if sw.Arm.Fabric != nil {
			oneWay += sw.Arm.Fabric.Latency
		}
	}
	return 2*oneWay + cycles*s.period()
}

// FrameTime returns how long a frame of the greatest length takes to cross a cable.
func FrameTime(s simcore.LinkSpec) simcore.Ps {
	return sum(s.Latency, paced(int64(ether.MaxLen+s.OverheadBytes), s.Rate))
}

// CableTime bounds the time from handing a frame to a cable until its credit is back: it may wait
// for one frame before it.
func CableTime(s simcore.LinkSpec) simcore.Ps { return sum(2*FrameTime(s), s.CreditLatency) }
