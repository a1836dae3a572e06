package hostbed

import (
	"errors"
	"fmt"
	"net/netip"

	"nictwin/models/board"
	"nictwin/models/nic/nicspec"
	"nictwin/models/sim/simcore"
	"nictwin/scenarios/bed/judge"
	"nictwin/stack/driver"
	"nictwin/stack/driver/corebus"
	"nictwin/stack/hostnet"
)

// Config configures a bed.
type Config struct {
	Rack     board.RackSpec
	Factory  board.Factory // fills the slots
	Machines []Machine     // by server, client machines behind the servers; fewer: the others have no node
	Unjudged bool          // no referees

	// Quiet is the longest simulated time without progress; 0: 20 ms.
	Quiet simcore.Ps

	// MemoryBytes is the memory of a node at each endpoint; 0: 447 MB. It must end below the page tables, which are at
	// the end of the first socket's memory.
	MemoryBytes uint64

	// Open, if set, is called before a machine's node is opened, with the configuration of the node.
	Open func(machine int, c *board.Card, n *hostnet.Config) error
}

// Machine configures the node of a machine.
type Machine struct {
	Spec      hostnet.Spec
	Bus       corebus.Spec // cost of the driver's work; zero: corebus.HostSpec
	Flows     []hostnet.FlowConfig
	Reordered bool // see hostnet.Config
}

// Bed is a rack with its nodes.
type Bed struct {
	Engine *simcore.Engine
	Rack   *board.Rack
	Nodes  []*hostnet.Node // nil: the machine has none
	Judges []*judge.Judge  // by machine; nil: it has no node

	cfg  Config
	over bool
}

// Address returns the address of a machine.
func Address(machine int, v6 bool) hostnet.Address {
	a := hostnet.Address{MAC: [6]byte{2, 0, 0, 0, 0, byte(machine + 1)},
		IP: netip.AddrFrom4([4]byte{10, 0, 0, byte(machine + 1)})}
	if v6 {
		a.IP = netip.AddrFrom16([16]byte{0: 0xfd, 15: byte(machine + 1)})
	}
	return a
}

// Ends returns the addresses and ports of a flow at one end.
func Ends(local, peer int, localPort, peerPort uint16, v6 bool) hostnet.Ends {
	return hostnet.Ends{Local: Address(local, v6), Peer: Address(peer, v6), LocalPort: localPort, PeerPort: peerPort}
}

// New builds a bed. Its nodes are ready, and clients have not begun.
func New(c Config) (*Bed, error) {
	b := &Bed{Engine: simcore.NewEngine(), cfg: c}
	if b.cfg.Quiet == 0 {
		b.cfg.Quiet = 20 * simcore.Millisecond
	}
	if b.cfg.MemoryBytes == 0 {
		b.cfg.MemoryBytes = 447 << 20
	}
	var err error
	if b.Rack, err = board.NewRack(b.Engine, new(board.Pools), c.Rack, c.Factory); err != nil {
		return nil, err
	}
	if err := b.open(); err != nil {
		return nil, errors.Join(err, b.Rack.Close())
	}
	return b, nil
}

func (b *Bed) open() error {
	specs := b.cfg.Rack.All()
	for i, v := range b.Rack.Servers {
		card, spec := v.Cards[0], &specs[i].Cards[0]
		b.Nodes, b.Judges = append(b.Nodes, nil), append(b.Judges, nil)
		has := i < len(b.cfg.Machines) && len(b.cfg.Machines[i].Flows) > 0
		if has && !b.cfg.Unjudged {
			var err error
			if b.Judges[i], err = judge.Attach(card.NIC, judge.Options{Name: v.Name,
				Build: build(spec, card.NIC)}); err != nil {
				return err
			}
		}
		if err := card.Begin(func() bool { return b.over }); err != nil {
			return err
		}
		if !has {
			continue
		}
		if err := b.openNode(i, card, spec); err != nil {
			return fmt.Errorf("machine %s: %w", v.Name, err)
		}
	}
	return b.Await("the nodes to be ready", func() bool {
		for _, n := range b.Nodes {
			if n != nil && !n.Ready() {
				return false
			}
		}
		return true
	})
}

// build returns the sizes and parts of a NIC.
func build(spec *board.CardSpec, nic board.NIC) nicspec.Build {
	b := nicspec.DefaultBuild()
	if spec.Build != nil {
		b = *spec.Build
	}
	b.Ports, b.EthBits = max(spec.Ports, 1), nic.EthBits()
	return b
}

// firstByte is the offset of a node's memory in its endpoint.
const firstByte = 1 << 20

func (b *Bed) openNode(machine int, card *board.Card, spec *board.CardSpec) error {
	c, err := b.cfg.Machines[machine].Configure(card, spec, b.cfg.MemoryBytes)
	if err != nil {
		return err
	}
	if b.cfg.Open != nil {
		if err := b.cfg.Open(machine, card, &c); err != nil {
			return err
		}
	}
	b.Nodes[machine], err = hostnet.New(c)
	return err
}

// Configure returns the configuration of the machine's node on a card, with so many bytes of memory at each endpoint.
func (m *Machine) Configure(card *board.Card, spec *board.CardSpec, memory uint64) (c hostnet.Config, err error) {
	waits, err := spec.Waits()
	if err != nil {
		return c, err
	}
	c = hostnet.Config{Spec: m.Spec, Build: build(spec, card.NIC), Limits: spec.Endpoint.Limits,
		Timeout: waits.CplTimeout, Polls: waits.Polls, Flows: m.Flows, Reordered: m.Reordered}
	c.Memory[nicspec.EndpointHost] = driver.Range{From: firstByte, Bytes: memory}
	if spec.Switch != nil {
		c.Memory[nicspec.EndpointArm] = driver.Range{From: firstByte, Bytes: memory}
	}
	c.Port = m.Flows[0].Ends.Local
	if c.Cores, err = m.buses(card); err != nil {
		return c, err
	}
	c.Control = c.Cores[0]
	return c, nil
}

// buses returns the buses of the cores that the machine's flows use.
func (m *Machine) buses(card *board.Card) (buses []*corebus.Bus, err error) {
	host := card.Memory.Host(nicspec.EndpointHost)
	if host == nil {
		return nil, errors.New("its board has no cores: want switch.host.host or direct.host")
	}
	cores, costs := 1, m.Bus
	for i := range m.Flows {
		cores = max(cores, m.Flows[i].Core+1)
	}
	if costs == (corebus.Spec{}) {
		costs = corebus.HostSpec()
	}
	for i := range cores {
		core, err := host.Core(0, i)
		if err != nil {
			return nil, err
		}
		bus, err := corebus.New(core.Core, card.Host.MMIO(nicspec.RequesterHost), costs)
		if err != nil {
			return nil, err
		}
		buses = append(buses, bus)
	}
	return buses, nil
}
