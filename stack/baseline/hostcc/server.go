package hostcc

import (
	"errors"
	"fmt"
	"slices"

	"nictwin/models/nic/nicspec"
	"nictwin/models/server/cpu"
	"nictwin/models/server/host"
	"nictwin/models/server/host/iio"
	"nictwin/models/sim/simcore"
	"nictwin/stack/baseline/hostcc/control"
	"nictwin/stack/driver/corebus"
	"nictwin/stack/hostnet"
)

// Config configures the paths of a node.
type Config struct {
	Spec Spec
	Bus  *corebus.Bus // of the core that runs the control loop
	Host *host.Server // whose cores are throttled
	IIO  *iio.Buffer  // through which the NIC writes

	Build nicspec.Build // of the NIC; with mark `queue` only
}

// Server opens the paths of one node, and runs the control loop of its host.
type Server struct {
	c       Config
	control *control.Loop
	loop    *cpu.Loop
	paths   []*path
	cores   []*cpu.Core // of flows
	resting bool
	rules   *rules // nil: the NIC does not mark

	before iio.Stats // of the sample before
	at     simcore.Ps
	stats  Stats
	err    error
}

// Stats counts what the control loop of a server did.
type Stats struct {
	Samples uint64
	Raised  uint64 // steps to a higher level of the throttle
	Lowered uint64
	Level   int   // highest level
	Lines   int64 // highest moving average of the occupancy, in cache lines
	Marked  uint64
}

// New returns a server without paths, whose loop rests.
func New(c Config) (*Server, error) {
	errs := []error{c.Spec.Validate()}
	if c.Bus == nil || c.Host == nil || c.IIO == nil {
		errs = append(errs, errors.New("want a core for the control loop, a host and its IIO buffer"))
	}
	if err := errors.Join(errs...); err != nil {
		return nil, fmt.Errorf("hostcc: %w", err)
	}
	s := &Server{c: c, control: control.New(c.Spec.Spec), resting: true}
	const poll = 60
	var err error
	if c.Spec.Mark == MarkQueue {
		if s.rules, err = newRules(c.Bus, c.Build); err != nil {
			return nil, fmt.Errorf("hostcc: %w", err)
		}
	}
	s.loop, err = c.Bus.Core().Add(cpu.LoopSpec{Name: "hostcc", Poll: poll}, func(*cpu.Core) bool { return s.step() })
	return s, err
}

// Stats returns the counters.
func (s *Server) Stats() Stats { return s.stats }

// Level returns the level of the throttle.
func (s *Server) Level() int { return s.control.Level() }

// Lines returns the moving average of the occupancy in cache lines.
func (s *Server) Lines() int64 { return s.control.Lines() }

// Open implements hostnet.Opener: it opens the path of a flow.
func (s *Server) Open(c hostnet.PathConfig) (hostnet.Path, error) {
	p := &path{s: s, core: c.Bus.Core()}
	if p.core == s.c.Bus.Core() {
		return nil, errors.New("hostcc: a flow on the core of the control loop: want it on another")
	}
	var err error
	if s.rules == nil {
		p.Path, err = hostnet.Direct(c)
	} else if p.marked, err = hostnet.OpenMarked(c); err == nil {
		p.Path = p.marked
		s.rules.flows = append(s.rules.flows, p.marked)
	}
	if err != nil {
		return nil, fmt.Errorf("hostcc: %w", err)
	}
	s.paths, s.cores = append(s.paths, p), append(s.cores, p.core)
	return p, nil
}

// arrived wakes the loop if it rests: a core has taken a packet.
func (s *Server) arrived() {
	if s.resting {
		s.resting = false
		now, period := s.c.Bus.Core().Now(), simcore.Ps(s.c.Spec.PeriodPs)
		s.control.Resume(int64((now - s.at) / period))
		s.before, s.at = s.c.IIO.Stats(), now
		s.loop.WakeAt(now + period)
	}
}

// step takes a sample, if it is due.
func (s *Server) step() bool {
	if s.resting || s.err != nil {
		return false
	}
	now, period := s.c.Bus.Core().Now(), simcore.Ps(s.c.Spec.PeriodPs)
	if now < s.at+period {
		s.loop.WakeAt(s.at + period)
		return false
	}
	s.c.Bus.Core().Spend(simcore.Ps(s.c.Spec.SamplePs))
	s.sample(now)
	s.loop.Disarm()
	set := s.rules.set(s.control.Marking())
	if s.resting = s.control.Resting() && set; !s.resting {
		s.loop.WakeAt(now + period)
	}
	return true
}

// sample reads the counters and carries out what the control loop decides.
func (s *Server) sample(now simcore.Ps) {
	x, before := s.c.IIO.Stats(), s.control.Level()
	s.control.Step(Ps(now), control.Sample{Elapsed: Ps(now - s.at), Occupied: x.OccupiedPs - s.before.OccupiedPs,
		Link: x.WrittenBytes - s.before.WrittenBytes})
	s.before, s.at = x, now
	level := s.control.Level()
	s.stats.Samples++
	s.stats.Level, s.stats.Lines = max(s.stats.Level, level), max(s.stats.Lines, s.control.Lines())
	switch {
	case level > before:
		s.stats.Raised++
	case level < before:
		s.stats.Lowered++
	default:
		return
	}
	s.throttle(s.c.Spec.RateOf(level))
}

// throttle sets the rate of the cores that Spec.Throttle selects.
func (s *Server) throttle(r simcore.Rate) {
	if s.c.Spec.Throttle == ThrottleAll {
		s.check(s.c.Host.Throttle(r))
		return
	}
	for _, c := range s.c.Host.Used() {
		if c.Core != s.c.Bus.Core() && !slices.Contains(s.cores, c.Core) {
			s.check(c.Throttle.SetRate(r))
		}
	}
}

func (s *Server) check(err error) {
	if s.err == nil && err != nil {
		s.err = fmt.Errorf("hostcc: %w", err)
	}
}

// path is the path of one flow of a node.
type path struct {
	hostnet.Path
	s      *Server
	core   *cpu.Core
	marked *hostnet.Marked // Path, if the NIC marks
	marker hostnet.Marker
}

// Next implements hostnet.Path.
func (p *path) Next(x *hostnet.Packet) bool {
	if p.s.err != nil || !p.Path.Next(x) {
		return false
	}
	p.s.arrived()
	switch {
	case p.marked != nil:
		if p.marked.Marks(x) {
			p.s.stats.Marked++
		}
	case p.s.c.Spec.Mark == MarkHeader && p.s.control.Marking():
		marked, err := p.marker.Mark(p.core, x)
		p.s.check(err)
		if marked {
			p.s.stats.Marked++
		}
	}
	return true
}

// Err implements hostnet.Path. The first path reports the errors of the loop.
func (p *path) Err() error {
	if p == p.s.paths[0] {
		return errors.Join(p.s.err, p.s.rules.err(), p.Path.Err())
	}
	return p.Path.Err()
}

// Close implements hostnet.Path.
func (p *path) Close() {
	p.s.loop.Stop()
	p.Path.Close()
}
