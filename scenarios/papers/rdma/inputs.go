package rdma

import (
	"nictwin/models/board"
	"nictwin/models/format/tlp"
	"nictwin/models/nic/nicspec"
	"nictwin/models/rnic"
	"nictwin/models/sim/simcore"
	"nictwin/scenarios/papers/study"
)

// nicInputs are the inputs that every experiment of this package uses.
var nicInputs = []study.Input{
	{Name: "host.mps", Value: 512, Unit: "B", Source: "offpath.hw.mtu, Table 3", Anchors: []string{"offpath.hw.mtu"}},
	{Name: "arm.mps", Value: 128, Unit: "B", Source: "offpath.hw.mtu, Table 3", Anchors: []string{"offpath.hw.mtu"}},
	{Name: "pcie.rate", Value: 256, Unit: "Gbps", Source: "offpath.hw.pcie, as the paper counts (252 coded)",
		Anchors: []string{"offpath.hw.pcie"}},
	{Name: "net.rate", Value: 200, Unit: "Gbps", Source: "offpath.hw.nic: two ports of 100 Gbps, here one of 200",
		Anchors: []string{"offpath.hw.nic"}},
	{Name: "client.rate", Value: 100, Unit: "Gbps", Source: "offpath.hw.cli_pcie: ConnectX-4",
		Anchors: []string{"offpath.hw.cli_pcie"}},
	{Name: "net.mtu", Value: 1024, Unit: "B", Source: "assumption: InfiniBand PMTU of the testbed, declared"},
	{Name: "net.cable", Value: 10, Unit: "ns", Source: "latency budget: two cables and a switch of 90 ns are " +
		"0.11 us one way"},
	{
		Name: "nic.packets", Value: 195, Unit: "M/s", Source: "offpath.bg.nic_core_mpps, the packet cap",
		Anchors: []string{"offpath.bg.nic_core_mpps"},
	},
	{Name: "nic.hold", Value: 350, Unit: "ns", Source: "assumption: time in a context, from the latency budget; " +
		"300 to 400 ns work"},
	{
		Name: "nic.alone", Value: 176, Unit: "M/s", Source: "half of offpath.c12.sum_alone: contexts of an " +
			"endpoint are this times the hold", Anchors: []string{"offpath.c12.sum_alone"},
		Instead: &study.Instead{Value: 195, Source: "one endpoint reaches the packet cap"},
	},
	{
		Name: "nic.reserve", Value: 19, Unit: "M/s", Source: "offpath.c12.concurrent less nic.alone: the reserve " +
			"of an endpoint is this times the hold", Anchors: []string{"offpath.c12.concurrent"},
		Instead: &study.Instead{Value: 0, Source: "endpoints share all contexts"},
	},
	{
		Name: "bf2.rc", Value: 50, Unit: "ns", Source: "offpath.p1.abs_write: the card adds 0.4 us to a WRITE, " +
			"less the links there and back; to any RC request, outside of contexts",
		Anchors: []string{"offpath.p1.abs_write"},
		Instead: &study.Instead{Value: 0, Source: "no addition"},
	},
	{
		Name: "nic.latency", Value: 50, Unit: "ns", Source: "offpath.bg.rdma_latency: what requester and responder " +
			"add apart from all that is modelled, so that a small READ of the plain NIC takes 2 us; the same for " +
			"every operation",
		Anchors: []string{"offpath.bg.rdma_latency"}, Instead: &study.Instead{Value: 0, Source: "nothing is added"},
	},
	{
		Name: "nic.table", Value: 72 << 10, Unit: "PCIe packets",
		Source:  "offpath.p2.large_read_collapse: 9 MB at 128 B",
		Anchors: []string{"offpath.p2.large_read_collapse"},
	},
	{Name: "range", Value: 64, Unit: "MB", Source: "assumption: stands for the 10 GB of offpath.cfg.address_space; " +
		"larger than the cache, and translations hit in both"},
	{Name: "host.window", Value: 8, Unit: "requests a thread",
		Source: "assumption: the power of two that covers 2.6 us at a post each 469 ns; clients alike. " +
			"path/together has 16, too"},
	{Name: "arm.window", Value: 16, Unit: "requests a thread",
		Source: "assumption: likewise, 2.6 us at a post each 276 ns; it is the most READs that a queue pair has in " +
			"flight, too"},
	{Name: "signal", Value: 2, Unit: "requests", Source: "assumption: unsignalled, but for one request of so many; " +
		"few, so that a window is not taken by requests that have ended"},
	{Name: "client.threads", Value: 24, Unit: "threads", Source: "bf2.cli: two processors of 12 cores"},
	{Name: "host.threads", Value: 24, Unit: "threads", Source: "offpath.c13.requester_threads",
		Anchors: []string{"offpath.c13.requester_threads"}},
	{Name: "arm.threads", Value: 8, Unit: "threads", Source: "offpath.hw.soc_cores",
		Anchors: []string{"offpath.hw.soc_cores"}},
	{Name: "host.build", Value: 76, Unit: "ns", Source: "assumption: as the Arm's"},
	{Name: "host.poll", Value: 273, Unit: "ns", Source: "OP Advice 4: a request takes a host 469 ns, less entry " +
		"and MMIO: polling and the remote socket; clients alike. It stands for the printed rate of path 3",
		Anchors: []string{"offpath.p3.bottleneck_small"}},
	{Name: "host.mmio", Value: 120, Unit: "ns", Source: "assumption: the MMIO's share of those 469 ns; clients alike",
		Anchors: []string{"offpath.db.mmio_dominates"}},
	{Name: "arm.poll", Value: 0, Unit: "ns", Source: "assumption: in the 276 ns"},
	{Name: "arm.build", Value: 76, Unit: "ns", Source: "OP Advice 4: posting takes the Arm 276 ns, less its " +
		"MMIO. It stands for the printed rate of path 3", Anchors: []string{"offpath.p3.bottleneck_small"}},
	{Name: "arm.mmio", Value: 200, Unit: "ns", Source: "assumption: the MMIO's share of those 276 ns",
		Anchors: []string{"offpath.db.mmio_dominates"}},
}

// inputs returns own followed by nicInputs.
func inputs(own ...study.Input) []study.Input { return append(own, nicInputs...) }

func ns(v float64) simcore.Ps { return simcore.Ps(v * float64(simcore.Nanosecond)) }

// Names of the targets.
const (
	plain = "RNIC"
	snic  = "SNIC"
)

// nicSpec returns the NIC of a target.
func nicSpec(s *study.Session, target string) (rnic.Spec, error) {
	preset := "connectx6"
	if target == snic {
		preset = "bluefield2"
	}
	x, err := rnic.Preset(preset)
	if err != nil {
		return x, err
	}
	perMicro := func(v float64) int { return int(v*s.Input("nic.hold")/1e3 + 0.5) }
	x.Ports, x.Line = 1, simcore.Gbps(int64(s.Input("net.rate")))
	x.PacketTime = simcore.Ps(1e6 / s.Input("nic.packets"))
	x.Contexts = rnic.Contexts{Endpoint: perMicro(s.Input("nic.alone")), Reserve: perMicro(s.Input("nic.reserve")),
		Hold: ns(s.Input("nic.hold"))}
	x.Latency = latencies(s)
	if target == snic {
		x.Latency.RC = ns(s.Input("bf2.rc"))
	}
	x.Table = int(s.Input("nic.table"))
	x.Limits[nicspec.EndpointArm].MPS, x.Limits[nicspec.EndpointHost].MPS = int(s.Input("arm.mps")),
		int(s.Input("host.mps"))
	return x, nil
}

func latencies(s *study.Session) rnic.Latency {
	t := ns(s.Input("nic.latency"))
	return rnic.Latency{Requester: t, Read: t, Write: t, Send: t, Datagram: t, Atomic: t}
}

// clientSpec returns the NIC of a client.
func clientSpec(s *study.Session) (rnic.Spec, error) {
	x, err := rnic.Preset("connectx4")
	x.Line, x.Latency = simcore.Gbps(int64(s.Input("client.rate"))), latencies(s)
	return x, err
}

// memoryBytes is the size of the address space, more than software here uses. Only written pages are allocated.
const memoryBytes = 1 << 34

// cardSpec returns the card of a target or a client, in its server.
func cardSpec(s *study.Session, name, preset string) (board.CardSpec, error) {
	c, err := board.CardPreset(preset)
	if err != nil {
		return c, err
	}
	c.Name, c.Ports, c.Period, c.EthBits, c.Eth = name, 1, 0, 0, simcore.LinkSpec{}
	c.Endpoint.Ahead = 0 // the root complex requests all bytes of a read from memory at once
	c.Endpoint.ArmBytes, c.Endpoint.HostBytes = memoryBytes, memoryBytes
	if c.Switch != nil {
		host := c.Endpoint.Limits
		c.Endpoint.Limits.MPS, host.MPS = int(s.Input("arm.mps")), int(s.Input("host.mps"))
		c.Switch.Host.Limits = &host
		c.Switch.NICRate = simcore.Gbps(int64(s.Input("pcie.rate")))
		return c, nil
	}
	const rcb = 64
	c.Endpoint.Limits = tlp.Limits{MPS: int(s.Input("host.mps")), MRRS: int(s.Input("host.mps")), RCB: rcb}
	return c, nil
}
