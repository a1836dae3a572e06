package background

import (
	"errors"
	"fmt"

	"nictwin/models/board"
	"nictwin/models/sim/field"
	"nictwin/models/sim/quantity"
	"nictwin/models/sim/simcore"
	"nictwin/models/sim/specfile"
	"nictwin/scenarios/run/phase"
)

var _ specfile.Single = (*List)(nil)

// Spec describes a capture that is played beside the traffic.
type Spec struct {
	Capture string         `yaml:"capture"` // file; a relative path begins at the folder of the scenario
	Server  int            `yaml:"server"`  // whose NIC receives the frames
	Port    int            `yaml:"port"`    // of the NIC
	Repeat  *int           `yaml:"repeat"`  // passes; nil: as many as fit before Until or, without one, a single pass
	Rate    *quantity.Rate `yaml:"rate"`    // of frames on the cable; nil: as captured

	phase.Spec `yaml:",inline"`
}

// List is the captures of a scenario.
type List []Spec

// TakesOne implements specfile.Single.
func (*List) TakesOne() {}

// Limits of a spec.
const (
	maxCaptures = 64
	maxRepeat   = 1 << 30
	leastRate   = quantity.Rate(1000) // bit/s
)

// path returns the path of an entry in a scenario file.
func path(i int) field.Path { return field.Path(fmt.Sprintf("background[%d]", i)) }

// Validate returns every error of the list, each a field.Error. It opens no file.
func (l List) Validate() error {
	if len(l) > maxCaptures {
		return field.Errorf("background", ": %d of them: want %d at most", len(l), maxCaptures)
	}
	var errs []error
	for i := range l {
		errs = append(errs, field.Under(path(i), l[i].validate()))
	}
	return errors.Join(errs...)
}

func (s *Spec) validate() error {
	var errs []error
	bad := func(ok bool, path field.Path, format string, a ...any) {
		if !ok {
			errs = append(errs, field.Errorf(path, format, a...))
		}
	}
	bad(s.Capture != "", "capture", ": none: want a pcap or pcapng file")
	bad(s.Server >= 0, "server", "%d: want 0 or more", s.Server)
	bad(s.Port >= 0, "port", "%d: want 0 or more", s.Port)
	errs = append(errs, phase.Validate(s.Spec))
	if n := s.Repeat; n != nil {
		bad(*n >= 1 && *n <= maxRepeat, "repeat", "%d: want 1 to %d passes, or none", *n, maxRepeat)
	}
	bad(s.Rate == nil || *s.Rate >= leastRate, "rate", "%v: want %v or more, or none for the pace of the capture",
		s.Rate,
		leastRate)
	return errors.Join(errs...)
}

// Check returns an error for each capture that a board's servers cannot take, with its path in the scenario. If there
// are applications that take every frame which the stacks do not take, raw is the path of their transport; otherwise it
// is empty.
func (l List) Check(rack *board.RackSpec, raw field.Path) error {
	if raw != "" && len(l) > 0 {
		return field.Errorf("background", ": with %v raw, applications take every frame that is no RoCE packet: "+
			"want none, or another transport", raw)
	}
	var errs []error
	for i := range l {
		if err := l[i].check(rack); err != nil {
			errs = append(errs, field.Against(field.Under(path(i), err), "board", "devices"))
		}
	}
	return errors.Join(errs...)
}

func (s *Spec) check(rack *board.RackSpec) error {
	if n := len(rack.Servers); s.Server >= n {
		return field.Errorf("server", "%d: the board has %d servers: want 0 to %d", s.Server, n, n-1)
	}
	v := &rack.Servers[s.Server]
	c := &v.Cards[0]
	switch ports := max(c.Ports, 1); {
	case c.Device.Kind == board.DeviceRNIC:
		return field.Errorf("server", "%d: server %s has a device of kind %s, which no referee judges: want a "+
			"server with "+
			"the contract's NIC", s.Server, v.Name, board.DeviceRNIC)
	case s.Port >= ports:
		return field.Errorf("port", "%d: the NIC of server %s has %d: want 0 to %d", s.Port, v.Name, ports, ports-1)
	case c.Bond != nil:
		return field.Errorf("port", "%d: the ports of server %s are bonds of cables: want a server without", s.Port,
			v.Name)
	}
	if r := c.Eth.Rate; s.Rate != nil && r != (simcore.Rate{}) {
		most := quantity.Rate(float64(r.Bytes) * 8 * float64(simcore.Second) / float64(r.Ps))
		if *s.Rate > most {
			return field.Errorf("rate", "%v: the cable of server %s carries %v: want that at most", s.Rate, v.Name,
				most)
		}
	}
	return nil
}

// Ports lists the ports that captures are played into, for board.NetworkSpec.Inserts, each once. A server has one card.
func (l List) Ports() (list []board.CardPort) {
	seen := map[board.CardPort]bool{}
	for i := range l {
		p := board.CardPort{Card: l[i].Server, Port: l[i].Port}
		if !seen[p] {
			seen[p] = true
			list = append(list, p)
		}
	}
	return list
}
