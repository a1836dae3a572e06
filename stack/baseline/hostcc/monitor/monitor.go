package monitor

import (
	"errors"
	"fmt"
	"slices"

	"nictwin/models/server/cpu"
	"nictwin/models/server/host"
	"nictwin/models/server/host/iio"
	"nictwin/models/sim/simcore"
	"nictwin/stack/baseline/hostcc/control"
	"nictwin/stack/driver/corebus"
)

// Config configures a Monitor.
type Config struct {
	Spec Spec
	Bus  *corebus.Bus // of the core that runs the control loop
	Host *host.Server // whose cores are throttled
	IIO  *iio.Buffer  // through which the device writes

	// Mark starts or stops marking packets and reports whether that has been carried out. It is called after each
	// sample, on the core of the loop, which does not rest before it returns true. nil: nobody marks.
	Mark func(marking bool) bool

	// Rests is called when the loop comes to rest, so that the caller can arrange for Wake. nil: it calls Wake for each
	// packet.
	Rests func()
}

// Monitor runs the control loop of a host.
type Monitor struct {
	c       Config
	control *control.Loop
	loop    *cpu.Loop
	cores   []*cpu.Core // of flows
	resting bool

	before iio.Stats // of the sample before
	at     simcore.Ps
	stats  Stats
	err    error
}

// Stats counts what a control loop did.
type Stats struct {
	Samples uint64
	Raised  uint64 // steps to a higher level of the throttle
	Lowered uint64
	Level   int   // highest level
	Lines   int64 // highest moving average of the occupancy, in cache lines
}

// New returns a monitor whose loop rests.
func New(c Config) (*Monitor, error) {
	errs := []error{c.Spec.Validate()}
	if c.Bus == nil || c.Host == nil || c.IIO == nil {
		errs = append(errs, errors.New("want a core for the control loop, a host and its IIO buffer"))
	}
	if err := errors.Join(errs...); err != nil {
		return nil, err
	}
	m := &Monitor{c: c, control: control.New(c.Spec.Spec), resting: true}
	const poll = 60
	var err error
	m.loop, err = c.Bus.Core().Add(cpu.LoopSpec{Name: "hostcc", Poll: poll}, func(*cpu.Core) bool { return m.step() })
	return m, err
}

// Stats returns the counters.
func (m *Monitor) Stats() Stats { return m.stats }

// Level returns the level of the throttle.
func (m *Monitor) Level() int { return m.control.Level() }

// Lines returns the moving average of the occupancy in cache lines.
func (m *Monitor) Lines() int64 { return m.control.Lines() }

// Marking reports whether packets should be marked.
func (m *Monitor) Marking() bool { return m.control.Marking() }

// Err returns the first error of the loop, or nil. A loop that has failed samples no more.
func (m *Monitor) Err() error { return m.err }

// Stop ends the loop.
func (m *Monitor) Stop() { m.loop.Stop() }

// Spare exempts a core that runs a flow from ThrottleOthers. It refuses the core of the loop.
func (m *Monitor) Spare(c *cpu.Core) error {
	if c == m.c.Bus.Core() {
		return errors.New("a flow on the core of the control loop: want it on another")
	}
	m.cores = append(m.cores, c)
	return nil
}

// Wake ends the loop's rest: packets arrive.
func (m *Monitor) Wake() {
	if m.resting {
		m.resting = false
		now, period := m.c.Bus.Core().Now(), simcore.Ps(m.c.Spec.PeriodPs)
		m.control.Resume(int64((now - m.at) / period))
		m.before, m.at = m.c.IIO.Stats(), now
		m.loop.WakeAt(now + period)
	}
}

// step takes a sample, if it is due.
func (m *Monitor) step() bool {
	if m.resting || m.err != nil {
		return false
	}
	now, period := m.c.Bus.Core().Now(), simcore.Ps(m.c.Spec.PeriodPs)
	if now < m.at+period {
		m.loop.WakeAt(m.at + period)
		return false
	}
	m.c.Bus.Core().Spend(simcore.Ps(m.c.Spec.SamplePs))
	m.sample(now)
	m.loop.Disarm()
	marked := m.c.Mark == nil || m.c.Mark(m.control.Marking())
	if m.resting = m.control.Resting() && marked; !m.resting {
		m.loop.WakeAt(now + period)
	} else if m.c.Rests != nil {
		m.c.Rests()
	}
	return true
}

// sample reads the counters and carries out what the control loop decides.
func (m *Monitor) sample(now simcore.Ps) {
	x, before := m.c.IIO.Stats(), m.control.Level()
	m.control.Step(Ps(now), control.Sample{Elapsed: Ps(now - m.at), Occupied: x.OccupiedPs - m.before.OccupiedPs,
		Link: x.WrittenBytes - m.before.WrittenBytes})
	m.before, m.at = x, now
	level := m.control.Level()
	m.stats.Samples++
	m.stats.Level, m.stats.Lines = max(m.stats.Level, level), max(m.stats.Lines, m.control.Lines())
	switch {
	case level > before:
		m.stats.Raised++
	case level < before:
		m.stats.Lowered++
	default:
		return
	}
	m.throttle(m.c.Spec.RateOf(level))
}

// throttle sets the rate of the cores that Spec.Throttle selects.
func (m *Monitor) throttle(r simcore.Rate) {
	if m.c.Spec.Throttle == ThrottleAll {
		m.check(m.c.Host.Throttle(r))
		return
	}
	for _, c := range m.c.Host.Used() {
		if c.Core != m.c.Bus.Core() && !slices.Contains(m.cores, c.Core) {
			m.check(c.Throttle.SetRate(r))
		}
	}
}

func (m *Monitor) check(err error) {
	if m.err == nil && err != nil {
		m.err = fmt.Errorf("throttle: %w", err)
	}
}
