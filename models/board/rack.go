package board

import (
	"cmp"
	"errors"
	"fmt"
	"reflect"

	"nictwin/models/fabric/etherlink"
	"nictwin/models/inject"
	"nictwin/models/sim/field"
	"nictwin/models/sim/simcore"
)

// RackSpec is a board file: servers with their cards, client machines, and the network between
// them.
type RackSpec struct {
	Name    string       `yaml:"name"`
	Servers []ServerSpec `yaml:"servers"`
	Fleet   *FleetSpec   `yaml:"fleet"`   // identical machines, such as clients; nil: none
	Network NetworkSpec  `yaml:"network"` // between the cards' Ethernet ports
}

// FleetSpec configures identical machines: Client[0], Client[1] and so on.
type FleetSpec struct {
	Name     string   `yaml:"name"` // before the index of each machine; empty: Client
	Machines int      `yaml:"machines"`
	Card     CardSpec `yaml:"card"`
}

// MaxMachines is the largest number of machines of a fleet.
const MaxMachines = 16

// NetworkKind selects how Ethernet ports are connected.
type NetworkKind string

// Values of NetworkKind.
const (
	NetworkOpen       NetworkKind = "open"         // no port is connected: players are plugged in
	NetworkBackToBack NetworkKind = "back_to_back" // port i of one card to port i of the other
	NetworkSwitch     NetworkKind = "switch"       // every port to one of an Ethernet switch, in card order
)

// NetworkSpec configures the cables and the switch between Ethernet ports.
type NetworkSpec struct {
	Kind    NetworkKind `yaml:"kind"`
	Latency simcore.Ps  `yaml:"latency_ps"` // of a cable itself; each card adds the latency of its field eth

	// Loss makes every cable lose random frames. Each cable derives its seed from this one. nil: no
	// cable loses frames.
	Loss *inject.LossSpec `yaml:"loss"`

	// Faults makes every cable drop or corrupt frames selected by their contents. Each cable
	// derives its seed from this one. nil: no faults. A cable has loss or faults, not both.
	Faults *inject.WireSpec `yaml:"faults"`

	// Switch configures the switch of a network of kind switch; nil for other kinds. Ports 0 means
	// as many as the cards have.
	Switch *etherlink.Spec `yaml:"switch"`

	// Inserts lists ports of cards whose cables have an inject.Insert in front of them, for traffic that no card sends.
	// These ports need a network of another kind than open, and cards without bonds.
	Inserts []CardPort `yaml:"-"`
}

// CardPort is an Ethernet port of a card; cards are numbered in the order of their servers.
type CardPort struct{ Card, Port int }

// DeviceKind selects the device in a NIC's slot.
type DeviceKind string

// Values of DeviceKind.
const (
	DeviceAny     DeviceKind = ""        // from the command line
	DeviceModel   DeviceKind = "model"   // the Go NIC
	DeviceRTL     DeviceKind = "rtl"     // RTL, built and started by nictwin
	DeviceAddress DeviceKind = "address" // a device that is already running
	DeviceRNIC    DeviceKind = "rnic"    // an RDMA NIC, which does not follow the contract
)

// DeviceSpec selects the device in a NIC's slot. The board only passes it to the factory.
type DeviceSpec struct {
	Kind      DeviceKind `yaml:"kind"`
	DUT       string     `yaml:"dut"`        // rtl: manifest, its folder or name; empty: from the command line
	Address   string     `yaml:"address"`    // address: unix:PATH or tcp:A.B.C.D:PORT
	TokenFile string     `yaml:"token_file"` // address: file of mode 0600 with the device's token
	Model     string     `yaml:"model"`      // rnic: connectx4, connectx5, connectx6, connectx7 or bluefield2
}

// Validate returns every error of the spec, each a field.Error.
func (s *DeviceSpec) Validate() error {
	var errs []error
	bad := func(ok bool, path field.Path, format string, a ...any) {
		if !ok {
			errs = append(errs, field.Errorf(path, format, a...))
		}
	}
	switch s.Kind {
	case DeviceAny, DeviceModel, DeviceRTL, DeviceAddress, DeviceRNIC:
	default:
		bad(false, "kind", "%q: want %s, %s, %s or %s, or none for that of the command line", s.Kind, DeviceModel,
			DeviceRTL, DeviceAddress, DeviceRNIC)
	}
	bad(s.DUT == "" || s.Kind == DeviceRTL || s.Kind == DeviceAny, "dut", "%q: a device of kind %q has none", s.DUT,
		s.Kind)
	bad((s.Address != "") == (s.Kind == DeviceAddress), "address", "%q: want one for kind %s, and else none", s.Address,
		DeviceAddress)
	bad((s.TokenFile != "") == (s.Kind == DeviceAddress), "token_file", "%q: want one for kind %s, and else none",
		s.TokenFile, DeviceAddress)
	if (s.Model != "") != (s.Kind == DeviceRNIC) {
		err := field.Errorf("model", "%q: want one for kind %s, and else none", s.Model, DeviceRNIC)
		if s.Model != "" { // a preset may have set it
			_ = field.Against(err, "kind") // adds field kind to err
		}
		errs = append(errs, err)
	}
	return errors.Join(errs...)
}

// MachineName returns the name of the machines without their index.
func (s *FleetSpec) MachineName() string { return cmp.Or(s.Name, "Client") }

// All returns the servers, followed by the machines of the fleet as servers: of more than MaxMachines, which Validate
// refuses, the first MaxMachines.
func (s *RackSpec) All() []ServerSpec {
	all := append([]ServerSpec(nil), s.Servers...)
	if s.Fleet != nil {
		for i := range min(s.Fleet.Machines, MaxMachines) {
			name := fmt.Sprintf("%s[%d]", s.Fleet.MachineName(), i)
			all = append(all, ServerSpec{Name: name, Cards: []CardSpec{s.Fleet.Card}})
		}
	}
	return all
}

// Validate returns every error of the spec, each a field.Error.
func (s *RackSpec) Validate() error {
	var errs []error
	bad := func(ok bool, path field.Path, format string, a ...any) {
		if !ok {
			errs = append(errs, field.Errorf(path, format, a...))
		}
	}
	bad(nameForm.MatchString(s.Name), "name", "%q: want %s", s.Name, wantName)
	bad(len(s.Servers) > 0 || s.Fleet != nil, "servers", ": none: want one or more")
	names := map[string]int{}
	for i := range s.Servers {
		at := field.Path(fmt.Sprintf("servers[%d]", i))
		errs = append(errs, field.Under(at, s.Servers[i].Validate()))
		if before, twice := names[s.Servers[i].Name]; twice {
			bad(false, at+".name", "%q: servers[%d] has that name already", s.Servers[i].Name, before)
		}
		names[s.Servers[i].Name] = i
	}
	if err := field.Under("fleet", s.Fleet.validate()); err != nil {
		return errors.Join(append(errs, err)...) // the network's ports follow from the fleet
	}
	return errors.Join(append(errs, s.validateNetwork())...)
}

// validate returns every error of the fleet; nil is no fleet.
func (s *FleetSpec) validate() error {
	if s == nil {
		return nil
	}
	var errs []error
	if s.Name != "" && !nameForm.MatchString(s.Name) {
		errs = append(errs, field.Errorf("name", "%q: want %s", s.Name, wantName))
	}
	errs = append(errs, field.Within("machines", s.Machines, 1, MaxMachines))
	if reflect.DeepEqual(s.Card, CardSpec{}) {
		return errors.Join(append(errs, field.Errorf("card", ": none: want one, such as {preset: bf3-cores}, or a "+
			"preset of the board that has a fleet, such as bf3-cores-rack"))...)
	}
	return errors.Join(append(errs, field.Under("card", s.Card.Validate()),
		field.Under("card", s.Card.validateOwnMemory()))...)
}

// Rack is a set of connected servers and client machines.
type Rack struct {
	Name    string
	Servers []*Server         // including the client machines, at the end
	Switch  *etherlink.Switch // connects the cards' Ethernet ports; nil: other kinds of network
	Bonds   []*etherlink.Bond // of the cards' ports, in order; empty without CardSpec.Bond
	Losses  []*inject.Loss    // decorators of the cables, in order; empty without NetworkSpec.Loss
	Cables  []PluggedCable    // cables between the Ethernet ports
}

// Cards returns all cards, in the order of their servers.
func (r *Rack) Cards() (all []*Card) {
	for _, v := range r.Servers {
		all = append(all, v.Cards...)
	}
	return all
}

// NewRack assembles a rack; factory fills every slot according to the slot's Device. The caller
// must Close it.
func NewRack(e *simcore.Engine, p *Pools, s RackSpec, factory Factory) (*Rack, error) {
	if err := s.Validate(); err != nil {
		return nil, fmt.Errorf("rack %s: %w", s.Name, err)
	}
	r := &Rack{Name: s.Name}
	all := s.All()
	for _, v := range all {
		factories := make([]Factory, len(v.Cards))
		for i := range factories {
			factories[i] = factory
		}
		server, err := NewServer(e, p, v, factories...)
		if err != nil {
			return nil, errors.Join(err, r.Close())
		}
		r.Servers = append(r.Servers, server)
	}
	if err := r.connect(e, p, &s); err != nil {
		return nil, errors.Join(err, r.Close())
	}
	return r, nil
}

// Close closes the devices in all slots.
func (r *Rack) Close() error {
	var errs []error
	for _, v := range r.Servers {
		errs = append(errs, v.Close())
	}
	return errors.Join(errs...)
}
