package cc

import (
	"errors"

	"nictwin/models/sim/field"
)

// DCQCNSpec are the constants of DCQCN.
type DCQCNSpec struct {
	// Line is the rate of the port: flows begin at it, and never exceed it (DCQCN 3.1: no slow start).
	Line Bps `yaml:"line_bps"`

	// Least is the lowest rate that a flow is cut to: assumption.
	Least Bps `yaml:"least_bps"`

	// GainInverse is 1/g of the average of notifications, g = 1/256 (DCQCN 5.2).
	GainInverse int64 `yaml:"gain_inverse"`

	// AlphaPeriod is K, the time without notification after which alpha falls: 55 µs (DCQCN 5.2; it must exceed
	// CNPInterval).
	AlphaPeriod Ps `yaml:"alpha_period_ps"`

	// Timer is T, the time after which the rate rises: 55 µs (DCQCN 5.2).
	Timer Ps `yaml:"timer_ps"`

	// ByteCounter is B, the bytes sent after which the rate rises: 10 MB (DCQCN 5.2).
	ByteCounter int64 `yaml:"byte_counter"`

	// FastRecovery is F, the events of either kind for which the rate only goes half of the way back: 5 (DCQCN 3.1).
	FastRecovery int `yaml:"fast_recovery"`

	// AdditiveIncrease is R_AI: 40 Mb/s (DCQCN 3.1).
	AdditiveIncrease Bps `yaml:"additive_increase_bps"`

	// HyperIncrease is R_HAI, added as often as both counters are beyond F. The paper has the phase and no number: ten
	// times R_AI, as QCN has 50 beside 5 Mb/s. Assumption.
	HyperIncrease Bps `yaml:"hyper_increase_bps"`

	// CNPInterval is N, the least time between notifications of a flow: 50 µs (DCQCN 3.1).
	CNPInterval Ps `yaml:"cnp_interval_ps"`
}

// leastCounter and the least of periods keep what has to be caught up with after a pause in bounds.
const leastCounter = 1000

// DefaultDCQCN is the paper's setting for a port of some rate.
func DefaultDCQCN(line Bps) DCQCNSpec {
	return DCQCNSpec{
		Line: line, Least: 10 * Mbps, GainInverse: 256, AlphaPeriod: 55 * Microsecond, Timer: 55 * Microsecond,
		ByteCounter:  10e6,
		FastRecovery: 5, AdditiveIncrease: 40 * Mbps, HyperIncrease: 400 * Mbps, CNPInterval: 50 * Microsecond,
	}
}

// Validate returns every error of the spec.
func (s DCQCNSpec) Validate() error {
	err := atLeast(bound{"line_bps", s.Line, 1}, bound{"least_bps", s.Least, 1},
		bound{"gain_inverse", s.GainInverse, 1},
		bound{"alpha_period_ps", s.AlphaPeriod, Microsecond}, bound{"timer_ps", s.Timer, Microsecond},
		bound{"byte_counter", s.ByteCounter, leastCounter},
		bound{"fast_recovery", int64(s.FastRecovery), 1}, bound{"additive_increase_bps", s.AdditiveIncrease, 1},
		bound{"hyper_increase_bps", s.HyperIncrease, 0}, bound{"cnp_interval_ps", s.CNPInterval, 1})
	if s.Least > s.Line {
		err = errors.Join(err, field.Errorf("least_bps", "%d: want %d at most, %v", s.Least, s.Line,
			field.Path("line_bps")))
	}
	if s.AlphaPeriod <= s.CNPInterval {
		err = errors.Join(err, field.Errorf("alpha_period_ps", "%d: want more than %d, %v, else alpha falls between "+
			"notifications",
			s.AlphaPeriod, s.CNPInterval, field.Path("cnp_interval_ps")))
	}
	return err
}

// DCQCN is the reaction point of a flow: the sender (DCQCN 3.1). The limiter rests until the first notification, and
// again once the flow is back at the line's rate; alpha goes on falling by then.
type DCQCN struct {
	spec    DCQCNSpec
	current Bps // R_C
	target  Bps // R_T
	alpha   fraction

	limited bool // below the line's rate: timer and byte counter run
	alphaAt Ps   // when alpha falls next; Never before the first notification
	timerAt Ps
	bytes   int64 // of the byte counter
	timers  int   // T, expirations since the last notification
	counts  int   // BC, those of the byte counter
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

// Target is R_T: the rate that recovery goes to.
func (d *DCQCN) Target() Bps { return d.target }

// Window implements Controller.
func (d *DCQCN) Window() int64 { return Unlimited }

// Notified implements Controller (DCQCN, equation 1: the rate is cut by the alpha of before).
func (d *DCQCN) Notified(now Ps) {
	d.Tick(now)
	d.decay(now)
	d.target = d.current
	d.current = max(d.current-(d.alpha/2).of(d.current), d.spec.Least)
	g := fraction(d.spec.GainInverse)
	d.alpha += one/g - d.alpha/g
	d.limited, d.bytes, d.timers, d.counts = true, 0, 0, 0
	d.alphaAt, d.timerAt = now+d.spec.AlphaPeriod, now+d.spec.Timer
}

// decay lets alpha fall for the periods that have passed (DCQCN, equation 2).
func (d *DCQCN) decay(now Ps) {
	for d.alphaAt <= now {
		fall := d.alpha / fraction(d.spec.GainInverse)
		if fall == 0 { // it falls no more
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
	d.current = (d.target + d.current + 1) / 2 // rounded up: the line's rate is reached
	if d.current == s.Line {
		d.limited, d.timerAt = false, Never
	}
}

// hyperSteps bounds the steps of hyper increase, so that no rate overflows: the line's rate is reached long before.
const hyperSteps = 1 << 10

// Next implements Controller. Alpha needs no timer: it is brought up to date when it counts.
func (d *DCQCN) Next() Ps { return d.timerAt }

// Alpha is the estimate of congestion at a time, in units of 2^-32.
func (d *DCQCN) Alpha(now Ps) uint64 {
	d.decay(now)
	return uint64(d.alpha)
}

// Acked implements Controller.
func (d *DCQCN) Acked(Ps, int, bool) {}

// Lost implements Controller: DCQCN runs where nothing is lost (PFC), and has no rule for it.
func (d *DCQCN) Lost(Ps, int, bool) {}

// Marker is the notification point of a flow: the receiver. A CNP leaves with the first marked packet; then at most
// one in each interval, at its end, if a marked packet came in it (DCQCN 3.1, figure 6).
type Marker struct {
	interval Ps
	endsAt   Ps // of the interval; Never: none runs
	marked   bool
}

// NewMarker returns the notification point of a flow.
func NewMarker(s DCQCNSpec) (*Marker, error) {
	if err := s.Validate(); err != nil {
		return nil, err
	}
	return &Marker{interval: s.CNPInterval, endsAt: Never}, nil
}

// Arrived tells of a packet, and reports whether a CNP leaves.
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

// Next is when Tick wants to be called.
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
