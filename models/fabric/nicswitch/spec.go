package nicswitch

import (
	"errors"
	"fmt"
	"slices"

	"nictwin/models/fabric/nicswitch/route"
	"nictwin/models/fabric/pcielink"
	"nictwin/models/nic/nicspec"
	"nictwin/models/sim/field"
	"nictwin/models/sim/simcore"
)

// NICLink selects what the ports of the NIC share.
type NICLink string

// Values of NICLink.
const (
	Shared NICLink = "shared" // one channel for all of the NIC's ports
	Wide   NICLink = "wide"   // a channel for each of the NIC's ports
)

// Spec configures a Switch.
type Spec struct {
	Latency simcore.Ps `yaml:"latency_ps"` // from input to output port; see the presets
	Ports   []PortSpec `yaml:"ports"`
	Queue   Queue      `yaml:"queue"` // of a pair of input and output
	ID      uint16     `yaml:"id"`    // completer ID of the UR answers

	NICLink   NICLink      `yaml:"nic_link"`
	NICRate   simcore.Rate `yaml:"nic_rate"`       // of each direction of the NIC link; zero: infinite
	NICBuffer int          `yaml:"nic_wire_bytes"` // bytes that wait before a NIC link with a rate

	pcielink.Overhead `yaml:",inline"` // of each TLP: part of the bytes counted, and of the time taken on the NIC link
}

// PortSpec configures a port.
type PortSpec struct {
	Name       string `yaml:"name"`
	route.Port `yaml:",inline"`
	NIC        bool `yaml:"nic"`      // lies behind the NIC link
	Capacity   int  `yaml:"capacity"` // number of TLPs that have arrived and were not taken yet
}

// Queue bounds the TLPs of each class that wait between one input and one output.
type Queue struct {
	Posted     int `yaml:"posted"`
	NonPosted  int `yaml:"non_posted"`
	Completion int `yaml:"completion"`
}

// Names of the presets' ports.
const (
	PortNIC  = "NIC"
	PortArm  = "Arm"
	PortHost = "Host"
)

// LinkLatency is the NIC-side link's share of the latency of switch and NIC-side link in the
// presets; the rest is the switch's. The split is ours (assumption); the sum, 175 ns, is in
// bf2.switch_oneway (150 to 200 ns one way). Most of it is on the link, as a device that runs ahead
// of the engine can run ahead by its link's latency.
const LinkLatency = 150 * simcore.Nanosecond

// Default returns a switch with the ports NIC, Arm and Host, the contract's bus addresses [P1] and
// requester IDs, and a wide NIC link.
//
// Sources: Latency 25 ns, see LinkLatency. Queue: posted and completions 32 a pair, reads as many
// as there are tags, 256 (assumption). UR answers: the ID 0x0300, which no function has
// (assumption).
func Default() Spec {
	const functions = 0xff // last ID of a bus minus its first: an ID is bus number, device and function (8 bits)
	return Spec{
		Latency: 25 * simcore.Nanosecond, ID: 0x300, NICLink: Wide, NICBuffer: 2048,
		Queue: Queue{Posted: 32, NonPosted: 256, Completion: 32}, Overhead: pcielink.DefaultOverhead(),
		Ports: []PortSpec{
			{Name: PortNIC, NIC: true, Capacity: 1024, Port: route.Port{
				Memory: []route.Range{{From: nicspec.BarBase, Bytes: nicspec.BarBytes}},
				IDs:    []route.IDRange{{From: nicspec.RequesterNic, To: nicspec.RequesterNic + functions}},
			}},
			{Name: PortArm, Capacity: 1024, Port: route.Port{
				Memory: []route.Range{{From: nicspec.EndpointArm << nicspec.EndpointShift,
					Bytes: 1 << nicspec.EndpointShift}},
				IDs: []route.IDRange{{From: nicspec.RequesterArm, To: nicspec.RequesterArm + functions}}, Root: true,
			}},
			{Name: PortHost, Capacity: 1024, Port: route.Port{
				Memory: []route.Range{{From: nicspec.EndpointHost << nicspec.EndpointShift,
					Bytes: 1 << nicspec.EndpointShift}},
				IDs: []route.IDRange{{From: nicspec.RequesterHost, To: nicspec.RequesterHost + functions}},
			}},
		},
	}
}

// PresetNames lists the names that Preset takes.
var PresetNames = []string{"bf2", "bf3"}

// Preset returns the switch of a card. BlueField-2's ports share one NIC-side channel, of 256 Gbps in each direction
// (bf2.pcie); BlueField-3's do not ("wide": assumption).
func Preset(name string) (Spec, error) {
	s := Default()
	switch name {
	case "bf2":
		s.NICLink, s.NICRate = Shared, simcore.Gbps(256)
	case "bf3":
	default:
		return Spec{}, field.Errorf("preset", "%q: want one of %q", name, PresetNames)
	}
	return s, nil
}

// Validate returns every error of the spec, each a field.Error.
func (s *Spec) Validate() error {
	var errs []error
	bad := func(ok bool, path field.Path, got any, want string) {
		if !ok {
			errs = append(errs, field.Errorf(path, "%v: want %s", got, want))
		}
	}
	bad(s.Latency >= 0 && s.Latency <= simcore.Millisecond, "latency_ps", int64(s.Latency), "0 to 1 ms")
	bad(len(s.Ports) >= 2 && len(s.Ports) <= MaxPorts, "ports", fmt.Sprintf("%d of them", len(s.Ports)),
		fmt.Sprintf("2 to %d", MaxPorts))
	bad(s.NICLink == Shared || s.NICLink == Wide, "nic_link", fmt.Sprintf("%q", string(s.NICLink)), "shared or wide")
	zero := s.NICRate == simcore.Rate{}
	bad(s.NICLink != Shared || !zero, "nic_rate", "0", "a rate for a NIC link that is shared")
	bad(zero || s.NICRate.Bytes > 0 && s.NICRate.Ps > 0 && s.NICRate.Bytes <= 1<<30 && s.NICRate.Ps <= simcore.Second,
		"nic_rate", fmt.Sprintf("%d bytes in %v", s.NICRate.Bytes, s.NICRate.Ps),
		"1 to 2^30 bytes in 1 ps to 1 s, or both 0 for infinite")
	bad(s.NICBuffer >= 0 && s.NICBuffer <= 1<<20, "nic_wire_bytes", s.NICBuffer, "0 to 2^20")
	const most = 1 << 16
	for _, q := range [...]struct {
		path field.Path
		n    int
	}{{"queue.posted", s.Queue.Posted}, {"queue.non_posted", s.Queue.NonPosted},
		{"queue.completion", s.Queue.Completion}} {
		bad(q.n >= 1 && q.n <= most, q.path, q.n, fmt.Sprintf("1 to %d", most))
	}
	for i := range s.Ports {
		at, p := fmt.Sprintf("ports[%d].", i), &s.Ports[i]
		bad(p.Capacity >= 1 && p.Capacity <= most, field.Path(at+"capacity"), p.Capacity, fmt.Sprintf("1 to %d", most))
		twice := slices.ContainsFunc(s.Ports[:i], func(o PortSpec) bool { return o.Name == p.Name })
		bad(!twice, field.Path(at+"name"), fmt.Sprintf("%q", p.Name), "a name that no other port has")
		bad(p.Name != "", field.Path(at+"name"), `""`, "a name")
	}
	_, err := route.NewTable(s.Routes())
	return errors.Join(append(errs, s.Overhead.Validate(), err)...)
}

// MaxPorts is the largest number of ports of a switch.
const MaxPorts = 32

// Routes returns the address and ID ranges of each port, by its number.
func (s *Spec) Routes() []route.Port {
	var ports []route.Port
	for i := range s.Ports {
		ports = append(ports, s.Ports[i].Port)
	}
	return ports
}
