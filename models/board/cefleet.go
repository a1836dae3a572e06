package board

import (
	"nictwin/models/fabric/etherlink"
	"nictwin/models/fabric/etherlink/core"
	"nictwin/models/memory/armcache"
	"nictwin/models/sim/simcore"
)

// Rack presets of CEIO's testbed: the server with all clients, and with one of them.
const (
	ceFleet = "ce-fleet"
	cePair  = "ce-pair"
)

// ceioFleet returns a server with a BlueField-3, whose devices may fill 6 of the 12 ways of the last-level cache
// (ce.ddio), and eight client machines with plain NICs of the contract, one for each of the paper's client threads
// (ce.clients), on a switch with 200 Gbps a port (ce.link). The paper has one client machine; eight are ours, so that
// clients never limit a run.
//
// The switch marks as DCTCP wants it: every frame that joins a queue of 97,500 bytes or more, 65 packets of 1,500
// (DCTCP 3.4, K at 10 Gbps; that it holds at 200 Gbps is an assumption).
func ceioFleet() (RackSpec, error) {
	s, err := ServerPreset("bf3" + coresSuffix)
	if err != nil {
		return RackSpec{}, err
	}
	s.Cards[0].Ports = 1
	if err := s.Cards[0].Switch.Host.withDeviceWays("host-ce", "host-ce-6"); err != nil {
		return RackSpec{}, err
	}
	client, err := ceioClient(&s.Cards[0])
	if err != nil {
		return RackSpec{}, err
	}
	sw, err := etherlink.Preset(string(etherlink.CutThrough))
	if err != nil {
		return RackSpec{}, err
	}
	const mark = 97_500
	sw.Classes[0].ECN = core.ECN{KminBytes: mark, KmaxBytes: mark, Pmax: 1}
	return RackSpec{Name: "Rack", Servers: []ServerSpec{s}, Fleet: &FleetSpec{Machines: 8, Card: client},
		Network: NetworkSpec{Kind: NetworkSwitch, Latency: 10 * simcore.Nanosecond, Switch: &sw}}, nil
}

// ceioPair returns the server and one client machine back to back. Their NICs have two ports, as those of other pairs,
// for which the RTL is built; only the first one is used.
func ceioPair() (RackSpec, error) {
	s, err := ceioFleet()
	if err != nil {
		return RackSpec{}, err
	}
	s.Servers[0].Cards[0].Ports, s.Fleet.Card.Ports, s.Fleet.Machines = 2, 2, 1
	s.Network = NetworkSpec{Kind: NetworkBackToBack, Latency: s.Network.Latency}
	return s, nil
}

// withDeviceWays replaces the memory by a machine whose last-level cache is another preset, with other ways for
// devices.
func (d *Downlink) withDeviceWays(machine, cache string) error {
	llc, err := armcache.Preset(cache)
	if err == nil {
		err = d.withCores(machine)
	}
	if err == nil {
		d.Host.LLC = &llc
	}
	return err
}

// ceioClient returns the NIC of a client machine: without Arm, on PCIe 5.0, with streams and clock of the server's.
// Clients have the server's processors; devices may fill as many cache ways: assumption.
func ceioClient(server *CardSpec) (CardSpec, error) {
	d, err := DirectPreset(5, "")
	if err != nil {
		return CardSpec{}, err
	}
	if err := d.withDeviceWays("host-ce", "host-ce-6"); err != nil {
		return CardSpec{}, err
	}
	// The NICs here need a link without PCIe's credits by class: one with the rate of PCIe 5.0 x16 after encoding, and
	// 24 bytes of framing, header and LCRC for each TLP.
	const latency, credits, tlpBytes = 150 * simcore.Nanosecond, 1024, 24
	d.PCIe, d.Fabric = nil, &simcore.LinkSpec{Latency: latency, Rate: simcore.Gbps(504), Credits: credits,
		CreditLatency: latency, OverheadBytes: tlpBytes}
	e := DefaultEndpoint()
	e.Limits = server.Switch.Host.limits(&server.Endpoint)
	return CardSpec{Name: "Card", Ports: 1, EthBits: server.EthBits, Period: server.Period, Direct: d, Endpoint: e,
		Eth: server.Eth}, nil
}
