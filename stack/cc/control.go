package cc

import (
	"errors"
	"math"
	"math/bits"

	"nictwin/models/sim/field"
)

// Ps is a time in picoseconds.
type Ps = int64

// Bps is a rate in bits per second.
type Bps = int64

// Unlimited is a rate or window without a limit. Never is the time of a timer that does not run.
const (
	Unlimited = math.MaxInt64
	Never     = Ps(math.MaxInt64)
)

// Units of times and rates.
const (
	Microsecond Ps  = 1e6
	second      Ps  = 1e12
	Mbps        Bps = 1e6
	Gbps        Bps = 1e9
)

// Controller is a congestion control algorithm for one connection.
type Controller interface {
	// Rate returns the rate at which packets may leave; Unlimited if only the window counts.
	Rate() Bps

	// Window returns the most bytes that may be unacknowledged; Unlimited if only the rate counts.
	Window() int64

	// Sent reports bytes that have left, for the first time or again.
	Sent(now Ps, bytes int)

	// Acked reports acknowledged bytes, and whether the packets that carried them were marked (ECN).
	Acked(now Ps, bytes int, marked bool)

	// Notified reports a congestion notification packet.
	Notified(now Ps)

	// Lost reports bytes that are considered lost and will be retransmitted; timeout says that nothing came back for
	// the whole retransmission timeout.
	Lost(now Ps, bytes int, timeout bool)

	// Next returns the time at which to call Tick; Never if no timer runs.
	Next() Ps

	// Tick handles timers that are due.
	Tick(now Ps)
}

// Gap returns the time to send bytes at a rate, rounded up; 0 if the rate is unlimited.
func Gap(bytes int, rate Bps) Ps {
	if rate == Unlimited || bytes <= 0 {
		return 0
	}
	hi, lo := bits.Mul64(uint64(bytes)*8, uint64(second))
	lo, carry := bits.Add64(lo, uint64(rate)-1, 0)
	if hi += carry; hi >= uint64(rate) {
		return Never
	}
	gap, _ := bits.Div64(hi, lo, uint64(rate))
	return Ps(min(gap, uint64(Never)))
}

// fraction is a number from 0 to 1, in units of 2^-32.
type fraction uint64

const one fraction = 1 << 32

// of returns the fraction of a value, rounded down.
func (f fraction) of(v int64) int64 {
	hi, lo := bits.Mul64(uint64(v), uint64(f))
	return int64(hi<<32 | lo>>32)
}

// ratio returns a/b, where a is at most b.
func ratio(a, b int64) fraction {
	hi, lo := bits.Mul64(uint64(a), uint64(one))
	q, _ := bits.Div64(hi, lo, uint64(b))
	return fraction(q)
}

// Fixed sends at a constant rate.
type Fixed struct{ rate Bps }

// NewFixed returns a controller with a fixed rate, which may be Unlimited.
func NewFixed(rate Bps) (*Fixed, error) {
	if rate < 1 {
		return nil, field.Errorf("rate", "%d bit/s: want 1 or more", rate)
	}
	return &Fixed{rate}, nil
}

// Rate implements Controller.
func (f *Fixed) Rate() Bps { return f.rate }

// Window implements Controller.
func (f *Fixed) Window() int64 { return Unlimited }

// Sent implements Controller.
func (f *Fixed) Sent(Ps, int) {}

// Acked implements Controller.
func (f *Fixed) Acked(Ps, int, bool) {}

// Notified implements Controller.
func (f *Fixed) Notified(Ps) {}

// Lost implements Controller.
func (f *Fixed) Lost(Ps, int, bool) {}

// Next implements Controller.
func (f *Fixed) Next() Ps { return Never }

// Tick implements Controller.
func (f *Fixed) Tick(Ps) {}

var (
	_ Controller = (*Fixed)(nil)
	_ Controller = (*DCQCN)(nil)
	_ Controller = (*DCTCP)(nil)
)

// atLeast returns an error for each value below its minimum or too large for the arithmetic here.
func atLeast(checks ...bound) error {
	const most = 1e15
	var errs []error
	for _, c := range checks {
		errs = append(errs, field.Within(c.path, c.is, c.least, most))
	}
	return errors.Join(errs...)
}

// bound is a value of a spec with its minimum, for atLeast.
type bound struct {
	path      field.Path
	is, least int64
}
