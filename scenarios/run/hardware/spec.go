package hardware

import (
	"errors"

	"nictwin/models/rnic"
	"nictwin/models/rnic/rnicspec"
	"nictwin/models/sim/field"
	"nictwin/stack/baseline/hostcc/rdma"
	"nictwin/stack/cc"
	"nictwin/stack/ceio/bypass"
	"nictwin/stack/driver/corebus"
)

// Spec holds the options of stacks of kind rnic.
type Spec struct {
	CC CongestionSpec `yaml:"cc"`

	// Accounts gives RC queue pairs credits for what they receive, as CEIO has them. The NIC keeps packets without one
	// in memory of its card.
	Accounts bypass.Spec `yaml:"accounts"`

	// HostCC runs the control loop of HostCC on a core of the host, which has the NIC mark packets; nil: none does.
	HostCC *rdma.Spec `yaml:"hostcc"`

	// Burst is the number of completion entries that a core of the host takes before the application gets them, and
	// before what has arrived meanwhile is seen; 0: all that have arrived.
	Burst int `yaml:"burst"`

	// Core holds the costs of the driver on a core of the host, besides memory accesses and register writes.
	Core corebus.Spec `yaml:"core"`
}

// CongestionKind names a congestion control algorithm.
type CongestionKind string

// Kinds of congestion control.
const (
	None  CongestionKind = "none"
	DCQCN CongestionKind = "dcqcn"
	DCTCP CongestionKind = "dctcp"
)

// CongestionSpec is the congestion control of RC queue pairs. Both ends of a connection need the same kind, because the
// receiver reports marks.
type CongestionSpec struct {
	Kind CongestionKind `yaml:"kind"`

	// DCQCN holds the paper's constants; stack/cc gives their sources. line_bps 0 stands for the rate of the port.
	DCQCN cc.DCQCNSpec `yaml:"dcqcn"`

	// DCTCP holds the paper's constants; segment 0 stands for the path MTU.
	DCTCP cc.DCTCPSpec `yaml:"dctcp"`
}

// Default returns a spec without congestion control.
func Default() Spec {
	return Spec{CC: CongestionSpec{Kind: None, DCQCN: cc.DefaultDCQCN(0), DCTCP: cc.DefaultDCTCP(0)},
		Accounts: bypass.DefaultSpec(), Core: corebus.DefaultSpec()}
}

// Validate returns every error of the spec, by field.
func (s *Spec) Validate() error {
	var errs []error
	c := &s.CC
	if c.Kind != None && c.Kind != DCQCN && c.Kind != DCTCP {
		errs = append(errs, field.Errorf("cc.kind", "%q: want %s, %s or %s", c.Kind, None, DCQCN, DCTCP))
	}
	const fastest = 1000 * cc.Gbps
	errs = append(errs, s.Fits(fastest), field.Under("accounts", s.Accounts.Validate()),
		field.Within("burst", s.Burst, 0, 1<<rnicspec.MaxLogRing), field.Under("core", s.Core.Validate()))
	return errors.Join(append(errs, s.validateHostCC())...)
}

// validateHostCC checks the options of HostCC, whose marks need congestion control that tells senders of them.
func (s *Spec) validateHostCC() error {
	h := s.HostCC
	if h == nil {
		return nil
	}
	err := field.Under("hostcc", h.Validate())
	if h.Mark == rdma.MarkRegister && s.CC.Kind == None {
		err = errors.Join(err, field.Errorf("hostcc.mark", "%s: with %v %s the NIC tells no sender of marks: want %s, "+
			"or %s or %s there", h.Mark, field.Path("cc.kind"), None, rdma.MarkNone, DCQCN, DCTCP))
	}
	return err
}

// Fits returns every error of the congestion control on a port of the given rate, by field.
func (s *Spec) Fits(line cc.Bps) error {
	const segment = 4096
	dcqcn, dctcp := s.CC.at(line, segment)
	return errors.Join(field.Under("cc.dcqcn", dcqcn.Validate()), field.Under("cc.dctcp", dctcp.Validate()))
}

// at returns the specs for a port of the given rate and a path MTU.
func (c *CongestionSpec) at(line cc.Bps, pmtu int) (cc.DCQCNSpec, cc.DCTCPSpec) {
	dcqcn, dctcp := c.DCQCN, c.DCTCP
	if dcqcn.Line == 0 {
		dcqcn.Line = line
	}
	if dctcp.Segment == 0 {
		dctcp.Segment = int64(pmtu)
	}
	return dcqcn, dctcp
}

// Congestion returns the congestion control for a NIC.
func (s *Spec) Congestion() rnic.Congestion {
	if s.CC.Kind == None {
		return rnic.Congestion{}
	}
	return rnic.Congestion{Windowed: s.CC.Kind == DCTCP, New: s.controller}
}

// controller returns the controller of a queue pair and, for DCQCN, its notification point.
func (s *Spec) controller(line int64, pmtu int) (rnic.Controller, rnic.Notifier, error) {
	dcqcn, dctcp := s.CC.at(line, pmtu)
	if s.CC.Kind == DCTCP {
		c, err := cc.NewDCTCP(dctcp)
		return c, nil, err
	}
	c, err := cc.NewDCQCN(dcqcn)
	if err != nil {
		return nil, nil, err
	}
	m, err := cc.NewMarker(dcqcn)
	return c, m, err
}

var (
	_ rnic.Controller = (*cc.DCQCN)(nil)
	_ rnic.Controller = (*cc.DCTCP)(nil)
	_ rnic.Notifier   = (*cc.Marker)(nil)
)
