package board

import (
	"errors"
	"fmt"
	"regexp"
	"strconv"
	"strings"

	"nictwin/models/fabric/nicswitch"
	"nictwin/models/fabric/pcielink"
	"nictwin/models/fabric/root"
	"nictwin/models/format/msg"
	"nictwin/models/inject"
	"nictwin/models/nic/nicspec"
	"nictwin/models/server/host/mmio"
	"nictwin/models/sim/field"
	"nictwin/models/sim/simcore"
)

// CardSpec configures a card.
type CardSpec struct {
	Name   string     `yaml:"name"`   // of the card; a prefix of its parts' names
	Device DeviceSpec `yaml:"device"` // the device in the slot

	// Second is a device beside the one in the slot, at the card's switch; nil: none.
	Second *SecondSpec `yaml:"second"`

	Build   *nicspec.Build `yaml:"build"`    // sizes and parts of the NIC; nil: the NIC's own
	Ports   int            `yaml:"ports"`    // Ethernet ports; 0 is 1
	EthBits int            `yaml:"eth_bits"` // width of an Ethernet stream; 0: the NIC's own
	Period  simcore.Ps     `yaml:"period_ps"`

	PCIe simcore.LinkSpec `yaml:"pcie"` // from the NIC to its endpoint or switch; ignored with Direct
	// what this card contributes to the links of the cables plugged into its ports: latency, rate, credits; see
	// Slot.Eth
	Eth  simcore.LinkSpec `yaml:"eth"`
	Bond *BondSpec        `yaml:"bond"` // joins several cables at each port; nil: a port has one cable

	Endpoint Endpoint `yaml:"endpoint"`
	// PCIe switch between the NIC's link and one root per endpoint; nil: one root serves both
	// endpoints
	Switch *SwitchSpec `yaml:"switch"`
	// link to the host's root, for a plain NIC in a PCIe slot of the host, which sees host memory
	// only; nil: a card
	Direct *Downlink `yaml:"direct"`

	Seed  uint64 `yaml:"seed"`
	Stall int    `yaml:"stall"` // percent of the cycles in which the NIC's streams stall
	Burst int    `yaml:"burst"` // streams stall, or flow, for 2^burst cycles at a time; see Slot.Burst
}

// MaxPorts is the largest number of Ethernet ports of a NIC [B2].
const MaxPorts = 2

// MaxStall bounds CardSpec.Stall, in percent of the cycles: above it, streams make too little
// progress.
const MaxStall = 90

// MaxBurst bounds the length of a stall, so that it ends before software and referee give up
// waiting.
const MaxBurst = 10

// Validate returns every error of the spec, each a field.Error.
func (s *CardSpec) Validate() error {
	var errs []error
	bad := func(ok bool, path field.Path, got any, want string) {
		if !ok {
			errs = append(errs, field.Errorf(path, "%v: want %s", got, want))
		}
	}
	bad(nameForm.MatchString(s.Name), "name", strconv.Quote(s.Name), wantName)
	bad(s.Ports >= 0 && s.Ports <= MaxPorts, "ports", s.Ports, fmt.Sprintf("1 to %d", MaxPorts))
	bad(s.EthBits == 0 || nicspec.ValidEthBits(s.EthBits), "eth_bits", s.EthBits, nicspec.WantEthBits)
	bad(s.Stall >= 0 && s.Stall <= MaxStall, "stall", s.Stall, fmt.Sprintf("0 to %d percent", MaxStall))
	bad(s.Burst >= 0 && s.Burst <= MaxBurst, "burst", s.Burst, fmt.Sprintf("0 to %d", MaxBurst))
	bad(s.Period == 0 || simcore.ValidPeriod(s.Period), "period_ps", int64(s.Period),
		simcore.WantPeriod+", or 0 for the NIC's own")
	errs = append(errs, s.validateAnswer())
	if s.Build != nil {
		errs = append(errs, field.Under("build", s.Build.Validate()))
	}
	if s.Switch != nil {
		errs = append(errs, againstEndpoint(field.Under("switch", s.Switch.validate(&s.Endpoint))))
	}
	if s.Direct != nil {
		errs = append(errs, s.validateDirect())
	}
	if s.Bond != nil {
		errs = append(errs, field.Under("bond", s.Bond.validate()))
	}
	errs = append(errs, s.validateSecond())
	errs = append(errs, field.Under("device", s.Device.Validate()))
	errs = append(errs, field.Under("pcie", s.PCIe.Validate()), field.Under("eth", s.Eth.Validate()),
		field.Under("endpoint", s.Endpoint.Validate()))
	// an rnic has no completion timeout that memory could be too slow for
	if err := errors.Join(errs...); err != nil || s.Device.Kind == DeviceRNIC {
		return err
	}
	_, err := s.Waits()
	return err
}

// againstEndpoint completes errors of fields that must agree with a field of the endpoint: the
// error then names that field, too.
func againstEndpoint(err error) error {
	for _, one := range field.Each(err) {
		e, ok := one.(*field.Error)
		switch {
		case ok &&
			(strings.HasSuffix(string(e.Path), ".socket_bytes") || strings.HasSuffix(string(e.Path), ".tlb.tables")):
			_ = field.Against(e, "endpoint.arm_bytes", "endpoint.host_bytes") // adds these fields to e
		case ok && strings.HasSuffix(string(e.Path), ".pcie.ends"):
			_ = field.Against(e, "endpoint.limits.mps")
		}
	}
	return err
}

// answerCycles is the least number of cycles that the endpoint must allow a NIC to answer a
// register read.
const answerCycles = 1000

// validateAnswer checks that the endpoint's limit for a register read (reg_timeout_ps) is at least
// answerCycles of the NIC's clock.
func (s *CardSpec) validateAnswer() error {
	period := s.Period
	if period == 0 {
		period = simcore.DefaultPeriodPs
	}
	switch limit := s.Endpoint.Timeout; {
	// a bad limit or a bad period is reported by other checks
	case limit <= 0 || !simcore.ValidPeriod(period) || limit/answerCycles >= period:
		return nil
	case s.Period == 0:
		return field.Errorf("endpoint.reg_timeout_ps", "%d: want %d or more, the %d cycles in which a NIC answers",
			int64(limit), int64(answerCycles*period), answerCycles)
	default:
		return field.Errorf("period_ps", "%d: want the %d cycles in which a NIC answers within %v %d", int64(period),
			answerCycles, field.Path("endpoint.reg_timeout_ps"), int64(limit))
	}
}

// nameForm matches the component names that the engine accepts.
var nameForm = regexp.MustCompile(`^[A-Z][A-Za-z0-9]*(\[[0-9]+\])*(\.[A-Z][A-Za-z0-9]*(\[[0-9]+\])*)*$`)

const wantName = "a capital letter, then letters and digits, such as Card or Card[0]"

// Card is a NIC in its slot, with the switch, roots and memories behind its PCIe port.
type Card struct {
	Name   string
	NIC    NIC
	Second NIC // device beside the NIC; nil: none
	Memory *Memory
	Root   *root.Root     // root of Arm and host memory; with a switch: of Arm memory; on a plain NIC: same as Host
	Host   *root.Root     // with a switch or on a plain NIC: root of host memory; else same as Root
	Faults *inject.Faults // decorator that corrupts reads of the NIC; nil: the spec has none
	Gate   *inject.Gate   // decorator that holds back TLPs of the NIC; nil: the spec has none

	Switch            *nicswitch.Switch // nil: the card has no switch
	ArmLink, HostLink *pcielink.Link    // between the switch and each root; nil: no switch, or no PCIe link there
	NICLink           *simcore.Link     // between the NIC and the switch or root; nil: HostLink is this link
	SecondLink        *simcore.Link     // between the second device and the switch; nil: no second device

	ArmOutbound *root.Outbound // the Arm cores' path to host memory; nil: none
	HostMMIO    *mmio.Path     // the host cores' path to Arm memory; nil: none

	shared *end // host memory that the server's cards share; nil: the card has its own
}

// Pools are the message pools shared by everything on one engine.
type Pools struct {
	Frames msg.Frames
	TLPs   msg.TLPs
}

// NewCard assembles a card; factory fills its slot. The caller must Close it.
func NewCard(e *simcore.Engine, p *Pools, s CardSpec, factory Factory) (*Card, error) {
	if err := s.validateOwnMemory(); err != nil {
		return nil, fmt.Errorf("card %s: %w", s.Name, err)
	}
	return newCard(e, p, s, factory, nil)
}

// newCard is NewCard on a server whose cards share host memory; shared is nil if the card has its
// own.
func newCard(e *simcore.Engine, p *Pools, s CardSpec, factory Factory, shared *end) (*Card, error) {
	if err := s.Validate(); err != nil {
		return nil, fmt.Errorf("card %s: %w", s.Name, err)
	}
	c := &Card{Name: s.Name, shared: shared}
	w, _ := s.Waits() // cannot fail: Validate has rejected cards that are too slow
	s.Endpoint.Timeout = sum(s.Endpoint.Timeout, 2*w.Read)
	nic, err := factory(Slot{
		Name: s.Name + ".NIC", Device: s.Device, Engine: e, Period: s.Period, Build: s.Build, Ports: max(s.Ports, 1),
		EthBits: s.EthBits,
		PCIe:    s.pcie(), Eth: s.portShare(), Limits: s.limits(), Turn: w.Turn, Seed: s.Seed,
		Stall: s.Stall, Burst: s.Burst,
		Frames: &p.Frames, TLPs: &p.TLPs,
	})
	if err != nil {
		return nil, err
	}
	c.NIC = nic
	port, err := s.build(e, p, c)
	if err == nil {
		err = s.plug(e, c, port)
	}
	if err == nil && s.Second != nil {
		err = s.addSecond(e, p, c, factory)
	}
	if err != nil {
		return nil, errors.Join(fmt.Errorf("card %s: %w", s.Name, err), c.Close())
	}
	return c, nil
}

// Idle reports whether switch, links, roots, memories and the second device have nothing to send and
// nothing in flight.
func (c *Card) Idle() bool {
	if c.Switch != nil && !c.Switch.Idle() || c.Second != nil && !c.secondIdle() {
		return false
	}
	for _, l := range [...]*pcielink.Link{c.ArmLink, c.HostLink} {
		if l != nil && !l.Idle() {
			return false
		}
	}
	return c.Root.Idle() && c.Host.Idle() && c.Memory.idle() && (c.HostMMIO == nil || c.HostMMIO.Idle()) &&
		(c.Faults == nil || c.Faults.Idle())
}

// Err returns the first error of each part behind the NIC's PCIe port, joined; nil if there was
// none.
func (c *Card) Err() error {
	if c.HostLink == nil && c.Switch == nil {
		return c.Root.Err()
	}
	errs := []error{c.Root.Err()}
	if c.Switch != nil {
		errs = append(errs, c.Host.Err(), c.Switch.Err())
	}
	for _, l := range [...]*pcielink.Link{c.ArmLink, c.HostLink} {
		if l != nil {
			errs = append(errs, l.Err())
		}
	}
	if c.Second != nil {
		errs = append(errs, c.Second.Check())
	}
	return errors.Join(append(errs, c.Memory.err())...)
}

// Overdue returns an error when a register read has waited longer than the endpoint's limit.
func (c *Card) Overdue() error {
	err := c.Root.Overdue()
	if c.Host != c.Root {
		err = errors.Join(err, c.Host.Overdue())
	}
	return err
}

// Close closes the devices of the card.
func (c *Card) Close() error {
	err := c.NIC.Close()
	if c.Second != nil {
		err = errors.Join(err, c.Second.Close())
	}
	return err
}

// Cable connects two Ethernet ports: of a NIC, a player or a switch.
func Cable(name string, e *simcore.Engine, s simcore.LinkSpec, a, b *simcore.Port) error {
	_, err := cable(name, e, s, a, b)
	return err
}

func cable(name string, e *simcore.Engine, s simcore.LinkSpec, a, b *simcore.Port) (*simcore.Link, error) {
	if err := s.Validate(); err != nil {
		return nil, fmt.Errorf("cable %s: %w", name, err)
	}
	if a == b {
		return nil, fmt.Errorf("cable %s: both ends are %s: want two ports", name, a.Name())
	}
	for _, p := range []*simcore.Port{a, b} {
		if p.Plugged() {
			return nil, fmt.Errorf("cable %s: port %s has a cable already: want one that is open", name, p.Name())
		}
	}
	return simcore.Connect(name, e, s, a, b)
}
