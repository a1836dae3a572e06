package hostnet

import (
	"nictwin/models/board"
	"nictwin/models/nic/nicspec"
	"nictwin/scenarios/bed/hostbed"
	"nictwin/stack/ceio/manager"
	"nictwin/stack/ceio/path"
	"nictwin/stack/driver"
	"nictwin/stack/driver/corebus"
	"nictwin/stack/hostnet"
)

// Node is the stack of a server.
type Node struct {
	rival

	name  string
	kind  Kind
	node  *hostnet.Node
	card  *board.Card
	paths *path.Server   // of kind ceio; nil otherwise
	drops *hostnet.Drops // nil: not read yet
}

// Open opens the stack of a server, with so many bytes of memory at each endpoint. It works once it is Ready.
func (n *Net) Open(server int, memory uint64) (*Node, error) {
	v, spec := n.cfg.Rack.Servers[server], &n.cfg.Specs[server].Cards[0]
	x := &Node{name: v.Name, kind: n.cfg.Stacks[server].Kind, card: v.Cards[0]}
	flows, err := n.flowsAt(server)
	if err != nil {
		return nil, err
	}
	m := hostbed.Machine{Spec: n.cfg.Stacks[server].Node, Flows: flows, Reordered: n.cfg.Cables.Reorders}
	c, err := m.Configure(x.card, spec, memory)
	if err != nil {
		return nil, err
	}
	if x.kind == CEIO {
		if err := x.openPaths(n.cfg.Stacks[server].CEIO, &c); err != nil {
			return nil, err
		}
	}
	if err := x.openRival(n.cfg.Stacks[server], coresOf(spec), &c); err != nil {
		return nil, err
	}
	if x.node, err = hostnet.New(c); err != nil {
		return nil, err
	}
	n.nodes[server] = x
	return x, nil
}

// openPaths makes the flows of a node use credits.
func (x *Node) openPaths(s path.Spec, c *hostnet.Config) (err error) {
	cfg := path.Config{Spec: s, Period: x.card.NIC.Period(), Build: c.Build}
	if s.Controller == manager.ControlArm {
		core, err := x.card.Memory.Host(nicspec.EndpointArm).Core(0, 0)
		if err != nil {
			return err
		}
		cfg.Arm, err = corebus.New(core.Core, x.card.Root.MMIO(nicspec.RequesterArm), corebus.DefaultSpec())
		if err != nil {
			return err
		}
	}
	if x.paths, err = path.New(cfg); err != nil {
		return err
	}
	for i := range c.Flows {
		c.Flows[i].Path = x.paths.Open
	}
	return nil
}

// Ready reports whether the NIC is set up.
func (x *Node) Ready() bool { return x.node.Ready() }

// Settled reports whether nothing is in flight in the stack or on its card.
func (x *Node) Settled() bool { return x.node.Idle() && x.card.Idle() }

// Timer names an armed timer of a flow; empty: none is armed.
func (x *Node) Timer() string { return x.node.Timer() }

// Progress returns a number that changes whenever a flow advances.
func (x *Node) Progress() uint64 { return x.node.Progress() }

// Err returns the first error of the node, its driver and its applications.
func (x *Node) Err() error { return x.node.Err() }

// Close stops the loops of the node.
func (x *Node) Close() error {
	x.node.Close()
	return nil
}

// ReadCounters reads the NIC's counters, for the referee and for Net.Drops.
func (x *Node) ReadCounters(done func()) error {
	x.node.Driver().ReadCounters(func(c driver.Counters) {
		x.drops = new(hostnet.DropsOf(c))
		done()
	})
	return nil
}

// Driver returns the driver of the NIC.
func (x *Node) Driver() *driver.Driver { return x.node.Driver() }

// Manager returns the manager of the credits, or nil.
func (x *Node) Manager() *manager.Manager {
	if x.paths == nil {
		return nil
	}
	return x.paths.Manager()
}
