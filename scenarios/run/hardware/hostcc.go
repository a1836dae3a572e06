package hardware

import (
	"nictwin/models/board"
	"nictwin/models/nic/nicspec"
	"nictwin/models/rnic/rnicspec"
	"nictwin/models/server/cpu"
	"nictwin/scenarios/run/hostnet"
	"nictwin/scenarios/run/probe"
	"nictwin/scenarios/run/stats"
	"nictwin/stack/baseline/hostcc/rdma"
	"nictwin/stack/driver/corebus"
	"nictwin/stack/rnicverbs"
)

// HostCC is the control loop of HostCC on the host of a card with an RDMA NIC.
type HostCC struct {
	*rdma.Server
	card *board.Card
}

// OpenHostCC starts a control loop on a core of the first socket. flows has the cores of applications.
func OpenHostCC(s rdma.Spec, c *board.Card, core int, dev *rnicverbs.Device, flows []*cpu.Core) (*HostCC, error) {
	h := c.Memory.Host(nicspec.EndpointHost)
	own, err := h.Core(0, core)
	if err != nil {
		return nil, err
	}
	bus, err := corebus.New(own.Core, c.Host.MMIO(nicspec.RequesterHost), corebus.HostSpec())
	if err != nil {
		return nil, err
	}
	loop, err := rdma.New(rdma.Config{Spec: s, Bus: bus, Host: h, IIO: c.Memory.IIO(nicspec.EndpointHost), Device: dev,
		Flows: flows})
	if err != nil {
		return nil, err
	}
	return &HostCC{loop, c}, nil
}

// marked returns the number of packets that the NIC has marked by itself.
func (h *HostCC) marked() uint64 {
	if n, ok := h.card.NIC.(interface {
		Counter(rnicspec.Counter) uint64
	}); ok {
		return n.Counter(rnicspec.CntSelfMarked)
	}
	return 0
}

// Counters lists what a series shows of the loop.
func (h *HostCC) Counters(server string) []probe.Counter {
	return hostnet.HostControlCounters(server, h.Monitor, h.marked)
}

// Row returns the statistics of the loop.
func (h *HostCC) Row(server string) stats.HostCC {
	return hostnet.HostControl(server, h.Stats(), h.marked())
}
