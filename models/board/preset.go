package board

import (
	"maps"
	"slices"
	"strings"

	"nictwin/models/format/ether"
	"nictwin/models/sim/field"
	"nictwin/models/sim/simcore"
)

// CardPresetNames are the names that CardPreset takes: two cards, and plain RDMA NICs of the kind
// rnic.
var CardPresetNames = []string{"bf2", "bf3", "connectx4", "connectx5", "connectx6", "connectx7"}

// CardPreset returns a card or plain NIC of the papers by name.
//
// BlueField-3 (bf3.link, bf3.ports): two ports, limited to 200 Gbps each by the link; streams of 256 bits, clock 1.1
// GHz, so that the one TLP port carries 400 Gbps twice, as a frame to the Arm and as a copy to the host
// (docs/board.md). BlueField-2 (bf2.nic): 200 Gbps; two ports of 100 Gbps, streams of 256 bits at 400 MHz. Ethernet
// latency: 150 ns for each card, with MAC, PHY and FEC (assumption). MPS is the Arm's, 256 and 128 (bf2.mtu_soc):
// the NIC has one for all destinations, and its reset value is 256, so that software of bf2 writes DEVCTL first.
//
// For plain NICs see plainNICs. With the suffix -cores, the Arm side and the server have cores (see
// MemorySpec.Host), and the Arm's cores reach host memory.
func CardPreset(name string) (CardSpec, error) {
	of, cores := strings.CutSuffix(name, coresSuffix)
	if !slices.Contains(CardPresetNames, of) {
		return CardSpec{}, field.Errorf("preset", "%q: want one of %q, those of %q with %s behind them", name,
			CardPresetNames, slices.Sorted(maps.Keys(machines)), coresSuffix)
	}
	if !cores {
		return cardPreset(name)
	}
	s, err := cardPreset(of)
	if err == nil {
		err = s.withCores(of)
	}
	return s, err
}

// cardPreset returns the variant of a card without cores.
func cardPreset(name string) (CardSpec, error) {
	if x, ok := plainNICs[name]; ok {
		return x.card(name)
	}
	sw, err := SwitchPreset(name)
	if err != nil {
		return CardSpec{}, err
	}
	c := CardSpec{
		Name: "Card", Ports: 2, EthBits: 256, Period: 909, PCIe: NICLinkSpec(), Switch: sw, Endpoint: DefaultEndpoint(),
		Eth: ethPreset(200),
	}
	if name == "bf2" {
		c.Period, c.Eth, c.Endpoint.Limits.MPS = simcore.DefaultPeriodPs, ethPreset(100), 128
	}
	return c, nil
}

// ethPreset returns what a card contributes to the link of a cable at one port (CardSpec.Eth).
func ethPreset(gbps int64) simcore.LinkSpec {
	const latency, credits = 150 * simcore.Nanosecond, 4096
	return simcore.LinkSpec{Latency: latency, Rate: simcore.Gbps(gbps), Credits: credits, CreditLatency: latency,
		OverheadBytes: ether.WireOverhead}
}

// plainNIC is a NIC in the PCIe slot of a server.
type plainNIC struct {
	ports, gbps, generation int
	memory                  string // presets of the host's cache and DRAM; empty: memory answers at once
}

// plainNICs are the plain NICs of the papers. ConnectX-4: bf2.cli, of the client machines, whose
// memory no paper measures (it answers at once: assumption). ConnectX-5: rb.nic in rb.cpu; PCIe 3.0
// is an assumption, but even that is wider than its port. ConnectX-6: bf2.nic in bf2.host, two
// ports of 100 Gbps on PCIe 4.0. ConnectX-7: host.mot_nic, 400 Gbps on PCIe 5.0.
var plainNICs = map[string]plainNIC{
	"connectx4": {1, 100, 3, ""},
	"connectx5": {1, 100, 3, "host-rb"},
	"connectx6": {2, 100, 4, "host-op"},
	"connectx7": {1, 400, 5, "host-fn"},
}

// card returns the spec of the NIC: a card without Arm, which sees host memory only. MPS and MRRS
// are its host's.
func (x plainNIC) card(name string) (CardSpec, error) {
	d, err := DirectPreset(x.generation, x.memory)
	if err != nil {
		return CardSpec{}, err
	}
	e := DefaultEndpoint()
	e.Limits = d.PCIe.Ends[1]
	return CardSpec{
		Name: "Card", Device: DeviceSpec{Kind: DeviceRNIC, Model: name}, Ports: x.ports, Direct: d, Endpoint: e,
		Eth: ethPreset(int64(x.gbps)),
	}, nil
}

// ServerPreset returns a server with one card or NIC of CardPreset.
func ServerPreset(name string) (ServerSpec, error) {
	c, err := CardPreset(name)
	return ServerSpec{Name: "Server", Cards: []CardSpec{c}}, err
}
