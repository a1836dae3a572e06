package hostnet

import (
	"errors"

	"nictwin/models/nic/nicspec"
	"nictwin/models/sim/field"
	"nictwin/scenarios/run/probe"
	"nictwin/scenarios/run/stats"
	"nictwin/stack/apps/kind"
	"nictwin/stack/baseline/hostcc"
	"nictwin/stack/baseline/hostcc/monitor"
	"nictwin/stack/baseline/shring"
	"nictwin/stack/driver/corebus"
	"nictwin/stack/hostnet"
)

// servingKinds lists the kinds of stack that answer requests.
func servingKinds() string {
	var names []string
	for _, k := range Kinds {
		if k.Serves() {
			names = append(names, string(k))
		}
	}
	return kind.Either(names)
}

// validateRival returns every error of the options of CEIO's rivals, each a field.Error.
func (s *Stack) validateRival() error {
	var errs []error
	if s.Kind == HostCC {
		errs = append(errs, field.Under("hostcc", s.HostCC.Validate()))
	} else if s.HostCC != hostcc.DefaultSpec() {
		errs = append(errs, field.Errorf("hostcc", ": stack %s does not watch its IIO buffer: want none, or kind %s",
			s.Kind, HostCC))
	}
	if s.Kind != ShRing {
		if s.ShRing != shring.DefaultSpec() {
			errs = append(errs, field.Errorf("shring", ": stack %s has no shared ring: want none, or kind %s", s.Kind,
				ShRing))
		}
		return errors.Join(errs...)
	}
	if n := s.Node.LogReceive; n != hostnet.DefaultSpec().LogReceive {
		errs = append(errs, field.Errorf("hostnet.log_receive", "%d: the ring has %v: want none", n,
			field.Path("shring.descriptors")))
	}
	return errors.Join(append(errs, field.Under("shring", s.ShRing.Validate()))...)
}

// heldTogether checks that a shared ring has buffers for the packets that the applications of all flows hold, and a
// third as many for those that these wait for.
func (c *check) heldTogether() {
	held := 0
	for _, f := range c.flows {
		held += f.held()
	}
	n := c.Stack.ShRing.Descriptors
	c.bad(4*held <= 3*n, c.Server.Path+".shring.descriptors", "%d: the server holds %d packets of all flows in these "+
		"buffers: want %d or more, or fewer chunks by depth", n, held, (4*held+2)/3)
}

// marks checks that a NIC which marks packets has the parts for it, and that it has two receive queues and an account
// for each flow.
func (c *check) marks() {
	if c.Stack.Kind != HostCC || c.Stack.HostCC.Mark != hostcc.MarkQueue {
		return
	}
	at, b := c.Server.Path+".hostcc.mark", buildOf(c.Card)
	c.bad(b.Has(nicspec.PartAccounts), at, "%s: flows change queues by their accounts, and the build of the server's "+
		"NIC has no part accounts: want one with it, or %s", hostcc.MarkQueue, hostcc.MarkHeader)
	c.bad(b.Has(nicspec.PartEcn), at, "%s: the build of the server's NIC has no part ecn: want one with it, or %s",
		hostcc.MarkQueue, hostcc.MarkHeader)
	n := len(c.flows)
	c.bad(2*n <= b.NumRxq, at, "%s: the %d flows of server %d take two receive queues each, and its NIC has %d: want "+
		"fewer flows, or %s", hostcc.MarkQueue, n, c.number, b.NumRxq, hostcc.MarkHeader)
	c.bad(n <= nicspec.NumAccounts, at, "%s: server %d has %d flows, and a NIC has %d accounts: want fewer flows, or "+
		"%s", hostcc.MarkQueue, c.number, n, nicspec.NumAccounts, hostcc.MarkHeader)
}

// sharedResources checks that the NIC has as many rules and transmit queues as the flows of a shared ring take; they
// take one receive queue.
func (c *check) sharedResources() {
	b, flows := buildOf(c.Card), len(c.flows)
	cores := min(flows, coresOf(c.Card))
	f := c.flows[flows-1]
	want := func(take int, what string, has int) {
		c.bad(take <= has, c.at(f)+".queue_pairs", "%d: the flows of server %d take %d %s, and its NIC has %d: want "+
			"fewer flows, or a build with more", f.spec.QueuePairs, c.number, take, what, has)
	}
	want(flows, "steering rules", b.NumRules)
	want(cores, "transmit queues", b.NumTxq)
}

// rival is the receive path of a rival of CEIO; empty: the server has another one.
type rival struct {
	ring *shring.Server
	host *hostcc.Server
}

// openRival makes the flows of a node use the path of a rival, if its kind is one. The host has so many cores.
func (x *Node) openRival(s *Stack, cores int, c *hostnet.Config) (err error) {
	var path hostnet.Opener
	switch s.Kind {
	case ShRing:
		if x.ring, err = shring.New(s.ShRing); err != nil {
			return err
		}
		path = x.ring.Open
	case HostCC:
		host := x.card.Memory.Host(nicspec.EndpointHost)
		core, err := host.Core(0, cores-1)
		if err != nil {
			return err
		}
		bus, err := corebus.New(core.Core, x.card.Host.MMIO(nicspec.RequesterHost), corebus.HostSpec())
		if err != nil {
			return err
		}
		if x.host, err = hostcc.New(hostcc.Config{Spec: s.HostCC, Bus: bus, Host: host, Build: c.Build,
			IIO: x.card.Memory.IIO(nicspec.EndpointHost)}); err != nil {
			return err
		}
		path = x.host.Open
	default:
		return nil
	}
	for i := range c.Flows {
		f := &c.Flows[i]
		if f.Path = path; s.Kind == ShRing {
			f.Buffers.Log = s.ShRing.Log()
		}
	}
	return nil
}

// counters lists what a series shows of a rival.
func (r *rival) counters(server string) (list []probe.Counter) {
	level := func(what, unit string, read func() int) {
		list = append(list, probe.Counter{Picture: probe.Queues, Where: server, What: what, Unit: unit, Level: true,
			Sparse: true, Read: func() uint64 { return uint64(read()) }})
	}
	count := func(what, unit string, read func() uint64) {
		list = append(list, probe.Counter{Picture: probe.Packets, Where: server, What: what, Unit: unit, Sparse: true,
			Read: read})
	}
	if r.ring != nil {
		level("shared ring, packets in host memory", probe.Entries, r.ring.Held)
		count("packets of the shared ring", packets, func() uint64 { return r.ring.Stats().Packets })
		count("times that the lock was taken", times, func() uint64 { return r.ring.Stats().Contended })
	}
	if r.host != nil {
		marked := func() uint64 { return r.host.Stats().Marked }
		list = append(list, HostControlCounters(server, r.host.Monitor, marked)...)
	}
	return list
}

// HostControlCounters lists what a series shows of the control loop of a server with HostCC. marked returns the number
// of packets marked.
func HostControlCounters(server string, m *monitor.Monitor, marked func() uint64) []probe.Counter {
	count := func(what, unit string, read func() uint64) probe.Counter {
		return probe.Counter{Picture: probe.Packets, Where: server, What: what, Unit: unit, Sparse: true, Read: read}
	}
	return []probe.Counter{
		{Picture: probe.Queues, Where: server, What: "IIO buffer, moving average", Unit: probe.Lines, Level: true,
			Sparse: true, Read: func() uint64 { return uint64(m.Lines()) }},
		count("packets marked", packets, marked),
		count("steps to a higher level", times, func() uint64 { return m.Stats().Raised }),
		count("steps to a lower level", times, func() uint64 { return m.Stats().Lowered }),
	}
}

// times is the unit of counters of events.
const times = "times"

// SharedRings returns what the servers with shared rings did so far.
func (n *Net) SharedRings() (list []stats.SharedRing) {
	for _, x := range n.nodes {
		if x.ring == nil {
			continue
		}
		s := x.ring.Stats()
		list = append(list, stats.SharedRing{Server: x.name, Packets: s.Packets, Looked: s.Looked, Others: s.Others,
			Refills: s.Refills, Contended: s.Contended})
	}
	return list
}

// HostControls returns what the control loops of servers with HostCC did so far.
func (n *Net) HostControls() (list []stats.HostCC) {
	for _, x := range n.nodes {
		if x.host == nil {
			continue
		}
		s := x.host.Stats()
		list = append(list, HostControl(x.name, s.Stats, s.Marked))
	}
	return list
}

// HostControl returns the statistics of a server's control loop.
func HostControl(server string, s monitor.Stats, marked uint64) stats.HostCC {
	return stats.HostCC{Server: server, Samples: s.Samples, Lines: s.Lines, Level: s.Level, Raised: s.Raised,
		Lowered: s.Lowered, Marked: marked}
}
