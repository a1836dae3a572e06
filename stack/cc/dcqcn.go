package cc

import (
	"errors"

	"nictwin/models/sim/field"
	"nictwin/models/sim/quantity"
)

// DCQCNSpec holds the constants of DCQCN.
type DCQCNSpec struct {
	// Line is the rate of the port: flows start at it, and never exceed it (DCQCN 3.1: no slow start).
	Line Bps `yaml:"line_bps"`

	// MinRate is the lowest rate of a flow: assumption.
	MinRate Bps `yaml:"least_bps"`

	// GainInverse is 1/g of the moving average of notifications, g = 1/256 (DCQCN 5.2).
	GainInverse int64 `yaml:"gain_inverse"`

	// AlphaPeriod is K, the time without a notification after which alpha decays: 55 µs (DCQCN 5.2; it must exceed
	// CNPInterval).
	AlphaPeriod Ps `yaml:"alpha_period_ps"`

	// Timer is T, the time after which the rate rises: 55 µs (DCQCN 5.2).
	Timer Ps `yaml:"timer_ps"`

	// ByteCounter is B, the bytes after which the rate rises: 10 MB (DCQCN 5.2).
	ByteCounter int64 `yaml:"byte_counter" unit:"bytes"`

	// FastRecovery is F, the number of events of either kind that only recover half of the cut: 5 (DCQCN 3.1).
	FastRecovery int `yaml:"fast_recovery"`

	// AdditiveIncrease is R_AI: 40 Mb/s (DCQCN 3.1).
	AdditiveIncrease Bps `yaml:"additive_increase_bps"`

	// HyperIncrease is R_HAI, added whenever both counters exceed F. The paper has the phase but no number: ten times
	// R_AI, as QCN has 50 Mb/s beside 5 Mb/s. Assumption.
	HyperIncrease Bps `yaml:"hyper_increase_bps"`

	// CNPInterval is N, the least time between a flow's notifications: 50 µs (DCQCN 3.1).
	CNPInterval Ps `yaml:"cnp_interval_ps"`
}

// minCounter is the smallest valid ByteCounter. Like the minima of the periods it limits how many steps must be caught
// up with after a pause.
const minCounter = 1000

// DefaultDCQCN returns the paper's settings for a port of the given rate.
func DefaultDCQCN(line Bps) DCQCNSpec {
	return DCQCNSpec{
		Line: line, MinRate: 10 * Mbps, GainInverse: 256, AlphaPeriod: 55 * Microsecond, Timer: 55 * Microsecond,
		ByteCounter:  10e6,
		FastRecovery: 5, AdditiveIncrease: 40 * Mbps, HyperIncrease: 400 * Mbps, CNPInterval: 50 * Microsecond,
	}
}

// Validate returns every error of the spec.
func (s DCQCNSpec) Validate() error {
	err := atLeast(bound{"line_bps", s.Line, 1}, bound{"least_bps", s.MinRate, 1},
		bound{"gain_inverse", s.GainInverse, 1},
		bound{"alpha_period_ps", s.AlphaPeriod, Microsecond}, bound{"timer_ps", s.Timer, Microsecond},
		bound{"byte_counter", s.ByteCounter, minCounter},
		bound{"fast_recovery", int64(s.FastRecovery), 1}, bound{"additive_increase_bps", s.AdditiveIncrease, 1},
		bound{"hyper_increase_bps", s.HyperIncrease, 0}, bound{"cnp_interval_ps", s.CNPInterval, 1})
	if s.MinRate > s.Line {
		err = errors.Join(err, field.Errorf("least_bps", "%v: want %v at most, %v",
			quantity.Rate(s.MinRate), quantity.Rate(s.Line), field.Path("line_bps")))
	}
	if s.AlphaPeriod <= s.CNPInterval {
		err = errors.Join(err, field.Errorf("alpha_period_ps", "%v: want more than %v, %v, else alpha falls between "+
			"notifications", quantity.Time(s.AlphaPeriod), quantity.Time(s.CNPInterval), field.Path("cnp_interval_ps")))
	}
	return err
}

// DCQCN is the reaction point of a flow: the sender (DCQCN 3.1). The limiter is inactive until the first notification,
// and again once the flow is back at line rate; in the latter case, alpha continues to decay.
type DCQCN struct {
	spec    DCQCNSpec
	current Bps // R_C: current rate
	target  Bps // R_T: target rate
	alpha   fraction

	limited bool // the rate is below line rate: timer and byte counter run
	alphaAt Ps   // when alpha decays next; Never before the first notification
	timerAt Ps
	bytes   int64 // progress of the byte counter
	timers  int   // T, timer expirations since the last notification
	counts  int   // BC, byte counter expirations since the last notification
}

// NewDCQCN returns the controller of a flow.
func NewDCQCN(s DCQCNSpec) (*DCQCN, error) {
	if err := s.Validate(); err != nil {
		return nil, err
	}
	return &DCQCN{spec: s, current: s.Line, target: s.Line, alpha: one, alphaAt: Never, timerAt: Never}, nil
}

// Rate implements Controller.
func (d *DCQCN) Rate() Bps { return d.current }

// Target returns R_T, the rate that recovery approaches.
func (d *DCQCN) Target() Bps { return d.target }

// Window implements Controller.
func (d *DCQCN) Window() int64 { return Unlimited }

// Notified implements Controller (DCQCN, equation 1: the cut uses the previous alpha).
func (d *DCQCN) Notified(now Ps) {
	d.Tick(now)
	d.decay(now)
	d.target = d.current
	d.current = max(d.current-(d.alpha/2).of(d.current), d.spec.MinRate)
	g := fraction(d.spec.GainInverse)
	d.alpha += one/g - d.alpha/g
	d.limited, d.bytes, d.timers, d.counts = true, 0, 0, 0
	d.alphaAt, d.timerAt = now+d.spec.AlphaPeriod, now+d.spec.Timer
}

// decay reduces alpha for the periods that have passed (DCQCN, equation 2).
func (d *DCQCN) decay(now Ps) {
	for d.alphaAt <= now {
		fall := d.alpha / fraction(d.spec.GainInverse)
		if fall == 0 { // alpha cannot decay further
			d.alphaAt += (now - d.alphaAt) / d.spec.AlphaPeriod * d.spec.AlphaPeriod
		}
		d.alpha -= fall
		d.alphaAt += d.spec.AlphaPeriod
	}
}

// Sent implements Controller.
func (d *DCQCN) Sent(now Ps, bytes int) {
	d.Tick(now)
	if !d.limited {
		return
	}
	for d.bytes += int64(bytes); d.limited && d.bytes >= d.spec.ByteCounter; d.bytes -= d.spec.ByteCounter {
		d.counts++
		d.increase()
	}
}

// Tick implements Controller.
func (d *DCQCN) Tick(now Ps) {
	for d.limited && d.timerAt <= now {
		d.timerAt += d.spec.Timer
		d.timers++
		d.increase()
	}
}

// increase raises the rate after an expiration of either counter (DCQCN 3.1, figure 7; equations 3 and 4).
func (d *DCQCN) increase() {
	s := &d.spec
	switch least := min(d.timers, d.counts); {
	case max(d.timers, d.counts) < s.FastRecovery:
	case least > s.FastRecovery:
		d.target += Bps(min(least-s.FastRecovery, hyperSteps)) * s.HyperIncrease
	default:
		d.target += s.AdditiveIncrease
	}
	d.target = min(d.target, s.Line)
	d.current = (d.target + d.current + 1) / 2 // rounded up, so that line rate is reached
	if d.current == s.Line {
		d.limited, d.timerAt = false, Never
	}
}

// hyperSteps is the largest factor of hyper increase, so that no rate overflows. Line rate is reached long before.
const hyperSteps = 1 << 10

// Next implements Controller. Alpha needs no timer: it is updated when it is used.
func (d *DCQCN) Next() Ps { return d.timerAt }

// Alpha returns the congestion estimate at a time, in units of 2^-32.
func (d *DCQCN) Alpha(now Ps) uint64 {
	d.decay(now)
	return uint64(d.alpha)
}

// Acked implements Controller.
func (d *DCQCN) Acked(Ps, int, bool) {}

// Lost implements Controller: DCQCN runs on lossless networks (PFC), and has no rule for losses.
func (d *DCQCN) Lost(Ps, int, bool) {}

// Marker is the notification point of a flow: the receiver. A CNP leaves with the first marked packet; after that at
// most one per interval, at its end, if a marked packet arrived in it (DCQCN 3.1, figure 6).
type Marker struct {
	interval Ps
	endsAt   Ps // end of the interval; Never: none runs
	marked   bool
}

// NewMarker returns the notification point of a flow.
func NewMarker(s DCQCNSpec) (*Marker, error) {
	if err := s.Validate(); err != nil {
		return nil, err
	}
	return &Marker{interval: s.CNPInterval, endsAt: Never}, nil
}

// Arrived reports whether a CNP leaves after a packet.
func (m *Marker) Arrived(now Ps, marked bool) bool {
	send := m.Tick(now)
	switch {
	case !marked:
	case m.endsAt == Never:
		m.endsAt = now + m.interval
		send = true
	default:
		m.marked = true
	}
	return send
}

// Next returns the time at which to call Tick.
func (m *Marker) Next() Ps { return m.endsAt }

// Tick ends the interval if that is due, and reports whether a CNP leaves.
func (m *Marker) Tick(now Ps) bool {
	if now < m.endsAt {
		return false
	}
	send := m.marked
	m.marked = false
	if m.endsAt = Never; send {
		m.endsAt = now + m.interval
	}
	return send
}
