package hostcc

import (
	"errors"
	"fmt"

	"nictwin/models/nic/nicspec"
	"nictwin/models/server/cpu"
	"nictwin/models/server/host"
	"nictwin/models/server/host/iio"
	"nictwin/stack/baseline/hostcc/monitor"
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
	*monitor.Monitor
	mark   Mark
	paths  []*path
	rules  *rules // nil: the NIC does not mark
	marked uint64
	err    error
}

// Stats counts what the control loop of a server did.
type Stats struct {
	monitor.Stats
	Marked uint64
}

// New returns a server without paths, whose loop rests.
func New(c Config) (*Server, error) {
	s := &Server{mark: c.Spec.Mark}
	err := c.Spec.Validate()
	if err == nil && c.Spec.Mark == MarkQueue && c.Bus != nil {
		s.rules, err = newRules(c.Bus, c.Build)
	}
	if err == nil {
		s.Monitor, err = monitor.New(monitor.Config{Spec: c.Spec.Spec, Bus: c.Bus, Host: c.Host, IIO: c.IIO,
			Mark: s.rules.set})
	}
	if err != nil {
		return nil, fmt.Errorf("hostcc: %w", err)
	}
	return s, nil
}

// Stats returns the counters.
func (s *Server) Stats() Stats { return Stats{s.Monitor.Stats(), s.marked} }

// Open implements hostnet.Opener: it opens the path of a flow.
func (s *Server) Open(c hostnet.PathConfig) (hostnet.Path, error) {
	p := &path{s: s, core: c.Bus.Core()}
	err := s.Spare(p.core)
	switch {
	case err != nil:
	case s.rules == nil:
		p.Path, err = hostnet.Direct(c)
	default:
		if p.marked, err = hostnet.OpenMarked(c); err == nil {
			p.Path = p.marked
			s.rules.flows = append(s.rules.flows, p.marked)
		}
	}
	if err != nil {
		return nil, fmt.Errorf("hostcc: %w", err)
	}
	s.paths = append(s.paths, p)
	return p, nil
}

// failed returns the first error of the loop and its marks.
func (s *Server) failed() error {
	err := errors.Join(s.err, s.Monitor.Err(), s.rules.err())
	if err != nil {
		err = fmt.Errorf("hostcc: %w", err)
	}
	return err
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
	if p.s.err != nil || p.s.Monitor.Err() != nil || !p.Path.Next(x) {
		return false
	}
	p.s.Wake()
	switch {
	case p.marked != nil:
		if p.marked.Marks(x) {
			p.s.marked++
		}
	case p.s.mark == MarkHeader && p.s.Marking():
		marked, err := p.marker.Mark(p.core, x)
		if p.s.err == nil {
			p.s.err = err
		}
		if marked {
			p.s.marked++
		}
	}
	return true
}

// Err implements hostnet.Path. The first path reports the errors of the loop.
func (p *path) Err() error {
	if p == p.s.paths[0] {
		return errors.Join(p.s.failed(), p.Path.Err())
	}
	return p.Path.Err()
}

// Close implements hostnet.Path.
func (p *path) Close() {
	p.s.Stop()
	p.Path.Close()
}
