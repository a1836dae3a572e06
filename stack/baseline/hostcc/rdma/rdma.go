package rdma

import (
	"errors"
	"fmt"

	"nictwin/models/server/cpu"
	"nictwin/models/server/host"
	"nictwin/models/server/host/iio"
	"nictwin/models/sim/field"
	"nictwin/stack/baseline/hostcc/monitor"
	"nictwin/stack/driver/corebus"
	"nictwin/stack/rnicverbs"
)

// Mark selects how packets are marked.
type Mark string

// Ways to mark packets.
const (
	MarkRegister Mark = "register" // by the NIC, while its register says so
	MarkNone     Mark = "none"
)

// Spec holds the parameters of a server.
type Spec struct {
	monitor.Spec `yaml:",inline"`

	Mark Mark `yaml:"mark"`
}

// DefaultSpec returns the parameters of the published implementation, as far as it has them.
func DefaultSpec() Spec { return Spec{Spec: monitor.DefaultSpec(), Mark: MarkRegister} }

// SetDefaults sets the defaults before the fields are read (specfile.Defaulter).
func (s *Spec) SetDefaults() { *s = DefaultSpec() }

// Validate returns every error of the spec, each a field.Error.
func (s *Spec) Validate() error {
	var mark error
	if s.Mark != MarkRegister && s.Mark != MarkNone {
		mark = field.Errorf("mark", "%q: want %s or %s", s.Mark, MarkRegister, MarkNone)
	}
	return errors.Join(s.Spec.Validate(), mark)
}

// Config configures a Server.
type Config struct {
	Spec   Spec
	Bus    *corebus.Bus // of the core that runs the control loop
	Host   *host.Server // whose cores are throttled
	IIO    *iio.Buffer  // through which the NIC writes
	Device *rnicverbs.Device
	Flows  []*cpu.Core // cores of applications
}

// Server runs the control loop of a host with an RDMA NIC.
type Server struct {
	*monitor.Monitor
	c       Config
	marking bool // the register's value
}

// New returns a server whose loop rests until the NIC writes.
func New(c Config) (*Server, error) {
	s := &Server{c: c}
	err := c.Spec.Validate()
	if err == nil && c.Device == nil {
		err = errors.New("want the driver of the NIC")
	}
	if err == nil {
		s.Monitor, err = monitor.New(monitor.Config{Spec: c.Spec.Spec, Bus: c.Bus, Host: c.Host, IIO: c.IIO,
			Mark: s.set, Rests: s.await})
	}
	for i := 0; err == nil && i < len(c.Flows); i++ {
		err = s.Spare(c.Flows[i])
	}
	if err != nil {
		return nil, fmt.Errorf("hostcc: %w", err)
	}
	s.await()
	return s, nil
}

// await makes the next write of the NIC wake the loop.
func (s *Server) await() { s.c.IIO.OnWrite(s.Wake) }

// set writes the register if the decision has changed.
func (s *Server) set(marking bool) bool {
	if s.c.Spec.Mark == MarkRegister && marking != s.marking {
		s.marking = marking
		s.c.Device.MarkArriving(s.c.Bus, marking)
	}
	return true
}

// Err returns the first error of the loop, or nil.
func (s *Server) Err() error {
	if err := s.Monitor.Err(); err != nil {
		return fmt.Errorf("hostcc: %w", err)
	}
	return nil
}

// Close ends the loop.
func (s *Server) Close() {
	s.c.IIO.OnWrite(nil)
	s.Stop()
}
