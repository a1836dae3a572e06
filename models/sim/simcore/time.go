package simcore

import (
	"fmt"
	"math"
	"nictwin/models/sim/field"

	"github.com/sarchlab/akita/v3/sim"
)

// Ps is a time or a duration in picoseconds.
type Ps int64

// MaxPs is a time later than every event's.
const MaxPs = Ps(math.MaxInt64)

// Units of Ps.
const (
	Picosecond  Ps = 1
	Nanosecond     = 1000 * Picosecond
	Microsecond    = 1000 * Nanosecond
	Millisecond    = 1000 * Microsecond
	Second         = 1000 * Millisecond
)

const psPerSec = 1e12

// Sec converts to Akita's seconds.
func (p Ps) Sec() sim.VTimeInSec { return sim.VTimeInSec(float64(p) / psPerSec) }

// String prints the time in picoseconds with its unit.
func (p Ps) String() string { return fmt.Sprintf("%d ps", int64(p)) }

// Below this number of seconds, rounding t*1e12 already gives the integer that Sec converted.
const roundingIsExact = 2048

// FromSec converts Akita's seconds to the nearest picosecond. It inverts Sec
// exactly up to 8,192 s, where neighbouring picoseconds share a float64.
func FromSec(t sim.VTimeInSec) Ps {
	p := Ps(math.Round(float64(t) * psPerSec))
	if t < roundingIsExact && t > -roundingIsExact {
		return p
	}
	for _, q := range [...]Ps{p - 1, p + 1} {
		if q.Sec() == t && p.Sec() != t {
			return q
		}
	}
	return p
}

// Now returns the time of any engine in whole picoseconds, without loss.
func Now(t sim.TimeTeller) Ps {
	if e, ok := t.(*Engine); ok {
		return e.now
	}
	return FromSec(t.CurrentTime())
}

// DefaultPeriodPs is the clock period of the device: 400 MHz.
const DefaultPeriodPs Ps = 2500

// MinPeriod and MaxPeriod bound the period of every clock: of boards, in manifests and on the
// bridge. From MinPeriod on, half a cycle is at least a whole picosecond; clocks below 1 kHz have
// no use.
const (
	MinPeriod = 2 * Picosecond
	MaxPeriod = Millisecond
)

// WantPeriod is the range of periods for error messages, in picoseconds.
var WantPeriod = fmt.Sprintf("%d to %d", int64(MinPeriod), int64(MaxPeriod))

// ValidPeriod reports whether a clock can have a period.
func ValidPeriod(p Ps) bool { return p >= MinPeriod && p <= MaxPeriod }

// Freq is a clock with its rising edges at the multiples of PeriodPs.
type Freq struct {
	PeriodPs Ps `yaml:"period_ps"` // 0 means DefaultPeriodPs
}

// Period returns the clock period, with the default filled in.
func (f Freq) Period() Ps {
	if f.PeriodPs == 0 {
		return DefaultPeriodPs
	}
	return f.PeriodPs
}

// Validate rejects a period that no clock can have.
func (f Freq) Validate() error {
	if f.PeriodPs != 0 && !ValidPeriod(f.PeriodPs) {
		return field.Errorf("period_ps", "%d: want %s, or 0 for %d", int64(f.PeriodPs), WantPeriod,
			int64(DefaultPeriodPs))
	}
	return nil
}

// Cycle returns the number of the edge at or before t.
func (f Freq) Cycle(t Ps) int64 { return int64(t / f.Period()) }

// At returns the time of an edge.
func (f Freq) At(cycle int64) Ps { return Ps(cycle) * f.Period() }

// Ceil returns the first edge at or after t.
func (f Freq) Ceil(t Ps) Ps {
	p := f.Period()
	return (t + p - 1) / p * p
}

// Next returns the first edge strictly after t.
func (f Freq) Next(t Ps) Ps {
	p := f.Period()
	return (t/p + 1) * p
}
