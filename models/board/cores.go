package board

import (
	"strings"

	"nictwin/models/fabric/root"
	"nictwin/models/memory/mem"
	"nictwin/models/nic/nicspec"
	"nictwin/models/server/cpu/tlb"
	"nictwin/models/server/host"
	"nictwin/models/server/host/mmio"
	"nictwin/models/sim/field"
)

// coresSuffix, appended to a card's preset name, selects the variant whose Arm side and server have
// cores.
const coresSuffix = "-cores"

// machines maps cards and plain NICs to the preset of their host's memory: bf2.host with
// BlueField-2 and ConnectX-6, rb.cpu with ConnectX-5. ConnectX-4 is missing: it sits in client
// machines, whose memory no paper measures.
var machines = map[string]string{"bf2": "host-op", "bf3": "host-fn", "connectx5": "host-rb", "connectx6": "host-op",
	"connectx7": "host-fn"}

// HostPreset returns a machine of host.Preset adapted to a board: the memory of DefaultEndpoint,
// the host's or the Arm's, is divided among its sockets, and pages have 2 MB, as user-space drivers
// use them (assumption).
func HostPreset(name string) (host.Spec, error) {
	endpoint, bytes := nicspec.EndpointHost, DefaultEndpoint().HostBytes
	if !strings.HasPrefix(name, "host-") {
		endpoint, bytes = nicspec.EndpointArm, DefaultEndpoint().ArmBytes
	}
	s, err := host.Preset(name, mem.Bus(endpoint, 0), tlb.Page2M)
	if err != nil {
		return s, err
	}
	s.SocketBytes, s.TLB.Covers = bytes/uint64(s.Sockets), bytes
	s.TLB.Tables = s.Base + (s.SocketBytes-s.TLB.TableBytes())&^4095
	return s, nil
}

// withCores replaces the caches and DRAM of the Arm side and of the server by machines with cores.
// It also adds the paths by which the cores of one side reach the memory of the other, where the
// papers' cards have them: HostMMIO on BlueField-3 only (bf3.mmio_rate).
func (s *CardSpec) withCores(name string) error {
	of, ok := machines[name]
	if !ok {
		return field.Errorf("preset", "%q: no paper measures cores of its server: want a preset without %s",
			name+coresSuffix, coresSuffix)
	}
	if s.Direct != nil {
		return s.Direct.withCores(of)
	}
	if err := s.Switch.Arm.withCores(name); err != nil {
		return err
	}
	outbound := root.DefaultOutboundSpec()
	s.Switch.ArmOutbound = &outbound
	if name == "bf3" {
		emulated := mmio.Emulated()
		s.Switch.HostMMIO = &emulated
	}
	return s.Switch.Host.withCores(of)
}

func (d *Downlink) withCores(name string) error {
	h, err := HostPreset(name)
	d.MemorySpec = MemorySpec{Host: &h}
	return err
}
