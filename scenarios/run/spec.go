package run

import (
	"errors"
	"fmt"
	"reflect"
	"regexp"
	"strings"

	"nictwin/models/board"
	"nictwin/models/sim/field"
	"nictwin/models/sim/quantity"
	"nictwin/models/sim/simcore"
	"nictwin/models/sim/specfile"
	"nictwin/scenarios/run/background"
	"nictwin/scenarios/run/hardware"
	udp "nictwin/scenarios/run/hostnet"
	"nictwin/scenarios/run/load"
	"nictwin/scenarios/run/workload"
	"nictwin/scenarios/shell/files"
	"nictwin/stack/apps"
	"nictwin/stack/baseline/hostcc"
	"nictwin/stack/baseline/shring"
	ceio "nictwin/stack/ceio/path"
	"nictwin/stack/flexins/node"
	"nictwin/stack/hostnet"
)

var _ specfile.Defaulter = (*StackSpec)(nil)

// Spec is a scenario file.
type Spec struct {
	Name        string         `yaml:"name"`
	Description string         `yaml:"description"`
	Board       board.RackSpec `yaml:"board"`
	// one for each card slot, in order; a single one is for every slot; empty: the devices that the board names
	Devices    []board.DeviceSpec `yaml:"devices"`
	Stacks     []StackSpec        `yaml:"stacks"`     // one for each server; if there is only one, for all
	Addresses  AddressFamily      `yaml:"addresses"`  // network layer of the ports' addresses
	Workload   *workload.Spec     `yaml:"workload"`   // the only workload; nil: Workloads has them
	Workloads  []workload.Spec    `yaml:"workloads"`  // run side by side; empty: Workload is the only one
	Load       load.List          `yaml:"load"`       // of memories and cores, beside the traffic
	Background background.List    `yaml:"background"` // captures, beside the traffic
	Faults     FaultSpec          `yaml:"faults"`
	Expect     ExpectSpec         `yaml:"expect"`
	Measure    *MeasureSpec       `yaml:"measure"` // nil: the window that the messages give
	Limits     LimitSpec          `yaml:"limits"`
	Sweep      SweepSpec          `yaml:"sweep"`
}

// StackSpec is the network stack of a server.
type StackSpec struct {
	Kind    StackKind     `yaml:"kind"`
	FlexiNS node.Spec     `yaml:"flexins"` // options of kind flexins
	RNIC    hardware.Spec `yaml:"rnic"`    // options of kind rnic

	CEIO   ceio.Spec    `yaml:"ceio"`    // options of kind ceio
	ShRing shring.Spec  `yaml:"shring"`  // options of kind shring
	HostCC hostcc.Spec  `yaml:"hostcc"`  // options of kind hostcc
	Host   hostnet.Spec `yaml:"hostnet"` // options of all kinds over UDP
}

// SetDefaults sets the defaults before a stack's fields are read (specfile.Defaulter).
func (s *StackSpec) SetDefaults() {
	s.FlexiNS, s.CEIO, s.Host = node.DefaultSpec(), ceio.DefaultSpec(), hostnet.DefaultSpec()
	s.RNIC = hardware.Default()
	s.ShRing, s.HostCC = shring.DefaultSpec(), hostcc.DefaultSpec()
}

// StackKind names a stack.
type StackKind string

const (
	StackFlexiNS StackKind = "flexins" // stack/flexins, on the Arm cores of a card
	StackRNIC    StackKind = "rnic"    // stack/rnicverbs/provider, over a NIC with a hardware transport

	// stack/hostnet, on the cores of a host
	StackCEIO StackKind = StackKind(udp.CEIO) // a server with stack/ceio/path
	StackDDIO StackKind = StackKind(udp.DDIO) // a server without
	StackUDP  StackKind = StackKind(udp.UDP)  // a client

	StackHostCC StackKind = StackKind(udp.HostCC) // a server with stack/baseline/hostcc
	StackShRing StackKind = StackKind(udp.ShRing) // a server with stack/baseline/shring
)

// LimitSpec bounds the simulated time of a case. Limits that are not given follow from the stacks' timers and the
// board.
type LimitSpec struct {
	SetUp   *simcore.Ps `yaml:"set_up_ps"`  // limit of each wait before the traffic: control verbs, NICs that start up
	Traffic *simcore.Ps `yaml:"traffic_ps"` // limit of the traffic
	// time after which nothing more is expected if no connection has advanced
	Quiet *simcore.Ps `yaml:"quiet_ps"`
	// time for what is in flight when the applications have ended, such as acknowledgements and reposted buffers
	Settle *simcore.Ps `yaml:"settle_ps"`
}

// DefaultSpec returns the defaults of a scenario file.
func DefaultSpec() Spec {
	return Spec{Board: board.DefaultRackSpec(), Addresses: IPv4, Expect: ExpectSpec{Compare: apps.Exact}}
}

// Load reads a scenario file and returns its cases.
func Load(file string) ([]*Case, error) {
	text, err := files.Read(file, specfile.MaxBytes)
	if err != nil {
		return nil, err
	}
	return Parse(file, text)
}

// Parse reads a scenario and returns its cases. Errors give `name` as the file's name, the line and the field's path.
func Parse(name string, text []byte) ([]*Case, error) {
	s := DefaultSpec()
	places, err := specfile.Decode(name, text, presets, &s)
	if err != nil {
		return nil, err
	}
	if s.Workload == nil && !places.Gives("workloads") {
		s.Workload = &workload.Spec{}
		s.Workload.SetDefaults()
	}
	if err := errors.Join(places.Locate(s.Validate()), s.readSweep(name)); err != nil {
		return nil, err
	}
	cases, err := s.cases(name)
	for _, c := range cases {
		c.places = places
	}
	return cases, places.Locate(err)
}

// presets holds the presets of a scenario file.
var presets = func() specfile.Presets {
	p := board.Presets()
	p[reflect.TypeFor[board.RackSpec]()] = specfile.Of(board.RackPreset)
	return p
}()

// nameForm matches names of scenarios. They become names of folders and the beginnings of case names.
var nameForm = regexp.MustCompile(`^[A-Za-z0-9][A-Za-z0-9_-]*$`)

// Limits of case names, which become names of folders together with the NIC: a file system allows 255 bytes.
const (
	maxName     = 64
	maxCaseName = 240
)

// Validate returns every error of the spec, each a field.Error.
func (s *Spec) Validate() error {
	errs := []error{
		field.Under("board", s.Board.Validate()), s.validateWorkloads(),
		field.Under("faults", s.Faults.validate(len(s.Board.All()))), s.Load.Validate(), s.Background.Validate(),
		field.Under("expect", s.Expect.validate()), field.Under("limits", s.Limits.validate()),
		s.validateMeasure(), s.validateGiven(),
	}
	bad := func(ok bool, path field.Path, format string, a ...any) {
		if !ok {
			errs = append(errs, field.Errorf(path, format, a...))
		}
	}
	bad(nameForm.MatchString(s.Name) && len(s.Name) <= maxName, "name",
		"%q: want a word of letters, digits, - and _, of at most %d characters", s.Name, maxName)
	bad(strings.TrimSpace(s.Description) != "", "description",
		": empty: want a sentence that says what the scenario shows")
	bad(s.Addresses == IPv4 || s.Addresses == IPv6, "addresses", "%q: want %s or %s", s.Addresses, IPv4, IPv6)
	servers := s.Board.All()
	n := len(servers)
	bad(n != 1 && n <= workload.MaxServers, "board", ": %d servers: want 2 to %d", n, workload.MaxServers)
	for i := range servers {
		bad(len(servers[i].Cards) == 1, field.Path(fmt.Sprintf("board.servers[%d].cards", i)), ": %d: want 1",
			len(servers[i].Cards))
	}
	net := &s.Board.Network
	bad(n < 2 || net.Kind != board.NetworkOpen, "board.network.kind", "%s: want %s for two servers, or %s", net.Kind,
		board.NetworkBackToBack, board.NetworkSwitch)
	bad(len(s.Devices) <= 1 || len(s.Devices) == n, "devices", ": %d of them: want one for all servers, or one "+
		"for each of the %d", len(s.Devices), n)
	for i := range s.Devices {
		errs = append(errs, field.Under(field.Path(fmt.Sprintf("devices[%d]", i)), s.Devices[i].Validate()))
	}
	bad(len(s.Stacks) == 1 || len(s.Stacks) == n, "stacks", ": %d of them: want one for all servers, or one "+
		"for each of the %d", len(s.Stacks), n)
	bad(s.Faults.Wire == nil || net.Faults == nil && net.Loss == nil, "faults.wire",
		": the board's network has faults of its own: want one or the other")
	if err := errors.Join(errs...); err != nil {
		return err
	}
	if err := s.validateModels(servers); err != nil {
		return err
	}
	rack := s.rack()
	if err := errors.Join(s.Load.Check(s.loaded(rack.Servers)), s.Background.Check(&rack, s.rawPath())); err != nil {
		return err
	}
	if err := rack.Validate(); err != nil {
		return field.Against(field.Under("board", err), "devices", "faults")
	}
	return errors.Join(s.validateStacks(&rack), s.validateRemotes(&rack))
}

// validateStacks checks the stacks against the devices in the slots.
func (s *Spec) validateStacks(rack *board.RackSpec) error {
	if s.overUDP() {
		return s.validateNet(rack)
	}
	errs := []error{s.validateNotice(), s.validateVerbs()}
	for i := range s.Stacks {
		at := field.Path(fmt.Sprintf("stacks[%d]", i))
		k, ok := stacks[s.Stacks[i].Kind]
		if !ok {
			errs = append(errs, field.Errorf(at+".kind", "%q: want %s", s.Stacks[i].Kind, stackNames()))
			continue
		}
		if s.Stacks[i].Kind == StackFlexiNS {
			errs = append(errs, field.Under(at+".flexins", s.Stacks[i].FlexiNS.Validate()))
		}
		errs = append(errs, s.Stacks[i].validateRNIC(at), s.Stacks[i].validateWatch(at))
		errs = append(errs, s.validateFeatures(at, &s.Stacks[i], len(rack.Servers)))
		for n := range rack.Servers {
			if &s.Stacks[i] != s.stack(n) {
				continue
			}
			if err := k.fits(&s.Stacks[i], &rack.Servers[n].Cards[0]); err != nil {
				errs = append(errs, field.Against(field.Under(at, err), "board", "devices"))
				break // the other servers with this stack would give the same error
			}
		}
	}
	if err := errors.Join(errs...); err != nil {
		return err
	}
	for n := range rack.Servers {
		card := &rack.Servers[n].Cards[0]
		if err := errors.Join(s.validateEngine(n, card), s.validateApplications(n, card),
			s.validateControlCore(n, card), s.validateMemory(n, &rack.Servers[n]),
			s.validateSlowMemory(n, rack.Servers)); err != nil {
			return err
		}
	}
	return nil
}

func (l *LimitSpec) validate() error {
	var errs []error
	for _, x := range []struct {
		path field.Path
		v    *simcore.Ps
	}{{"set_up_ps", l.SetUp}, {"traffic_ps", l.Traffic}, {"quiet_ps", l.Quiet}, {"settle_ps", l.Settle}} {
		const most = 1000 * simcore.Second
		if x.v != nil && (*x.v < simcore.Nanosecond || *x.v > most) {
			errs = append(errs, field.Errorf(x.path, "%v: want 1ns to %v, or none for what follows from timers and "+
				"board", quantity.Time(*x.v), quantity.Time(most)))
		}
	}
	return errors.Join(errs...)
}

// stack returns the stack of a server.
func (s *Spec) stack(server int) *StackSpec { return &s.Stacks[min(server, len(s.Stacks)-1)] }

// rack returns the board with the scenario's devices and injected faults.
func (s *Spec) rack() board.RackSpec {
	r := s.Board
	if s.Faults.Wire != nil {
		r.Network.Faults = s.Faults.Wire
	}
	r.Servers, r.Fleet = s.Board.All(), nil
	for i := range r.Servers {
		v := &r.Servers[i]
		v.Cards = append([]board.CardSpec(nil), v.Cards...)
		c := &v.Cards[0]
		if len(s.Devices) > 0 {
			c.Device = s.Devices[min(i, len(s.Devices)-1)]
		}
		if s.Faults.SlowMemory != nil {
			c.Endpoint.Delay = *s.Faults.SlowMemory
		}
		c.Endpoint.Faults = c.Endpoint.Faults || len(s.Faults.PCIe) > 0
		if s.Faults.Stall > 0 && c.Device.Kind != board.DeviceRNIC {
			c.Stall = s.Faults.Stall
		}
		c.Seed += s.AllWorkloads()[0].Seed
	}
	s.Load.AddTo(r.Servers)
	r.Network.Inserts = s.Background.Ports()
	resolve(&r)
	return r
}
