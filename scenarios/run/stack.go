package run

import (
	"slices"

	"nictwin/models/board"
	"nictwin/models/fabric/etherlink/core"
	"nictwin/scenarios/run/place"
	"nictwin/scenarios/run/workload"
	"nictwin/stack/apps"
	"nictwin/stack/apps/kind"
	"nictwin/stack/offload"
	"nictwin/stack/verbs"
)

// Stack is the network stack of a server whose applications use verbs.
type Stack interface {
	Running

	Context(app int) verbs.Context // context of one of the server's applications
	Core(app int) apps.Core        // host core of that application
	Ports() int                    // number of ports that the stack can use
}

// Running is the network stack of a server while a case is played.
type Running interface {
	// Settled reports whether nothing is in flight in the stack or on its card, so that only a call or a frame can
	// start something new. It is called at every step of time.
	Settled() bool
	// Timer names an armed timer of a connection, for error texts; empty: none is armed.
	Timer() string
	// Progress returns a number that changes whenever a connection advances, even if no request ended.
	// Retransmissions do not count.
	Progress() uint64
	Err() error
	// Close stops the stack's loops and timers.
	Close() error
}

// counting is implemented by stacks that can read their NIC's counters, for the referee to compare with its own.
type counting interface {
	ReadCounters(done func()) error
}

// offloading is implemented by stacks that can have an offload engine.
type offloading interface {
	engine() apps.Engine                         // the offload engine, or nil
	faults() (list []offload.Fault, more uint64) // handlers that were stopped: the first few, and how many more
}

// stackKind describes a kind of stack.
type stackKind struct {
	fits func(*StackSpec, *board.CardSpec) error // checks that it can run on a card
	open func(w *world, server int) (Stack, error)
}

var stacks = map[StackKind]stackKind{StackFlexiNS: {fitsFlexiNS, openFlexiNS}, StackRNIC: {fitsRNIC, openRNIC}}

func stackNames() string {
	names := slices.Clone(hostKinds)
	for k := range stacks {
		names = append(names, string(k))
	}
	slices.Sort(names)
	return kind.Either(names)
}

// AddressFamily selects the network layer of all ports.
type AddressFamily string

const (
	IPv4 AddressFamily = "ipv4"
	IPv6 AddressFamily = "ipv6"
)

// MAC address of a server's port. Servers and ports are numbered from 0.
func macOf(server, port int) [6]byte { return [6]byte{2, 0, 0, 0, byte(port), byte(1 + server)} }
func ipOf(server, port int) [4]byte  { return [4]byte{10, 0, byte(port), byte(1 + server)} }

// gidOf returns a port's GID: ::ffff:a.b.c.d with IPv4, else fd00::port:server from the range for local use (RFC 4193).
func (a AddressFamily) gidOf(server, port int) (g [16]byte) {
	const at = 12
	if a == IPv6 {
		g[0], g[13], g[15] = 0xfd, byte(port), byte(1+server)
		return g
	}
	g[10], g[11] = 0xff, 0xff
	ip := ipOf(server, port)
	copy(g[at:], ip[:])
	return g
}

// resolve tells the switch of a board, if it has one, the ports of all servers, as address resolution before the
// traffic does. Otherwise the switch would flood frames, and both ports of a server could take one. Bonds are left to
// the switch to learn.
func resolve(r *board.RackSpec) {
	if r.Network.Switch == nil {
		return
	}
	sw, at := *r.Network.Switch, 0
	sw.Table = slices.Clone(sw.Table)
	for i := range r.Servers {
		c := &r.Servers[i].Cards[0]
		for p := 0; p < c.Ports && c.Bond == nil; p++ {
			e := core.Entry{MAC: macOf(i, p), Port: at + p}
			same := func(x core.Entry) bool { return x.MAC == e.MAC }
			if !slices.ContainsFunc(sw.Table, same) && len(sw.Table) < sw.TableLen {
				sw.Table = append(sw.Table, e)
			}
		}
		at += c.Cables()
	}
	r.Network.Switch = &sw
}

// sides returns both ends of each process of each pair of servers, for every workload. It numbers the applications of
// each server over all workloads.
func (w *world) sides() (all [][][2]apps.Side) {
	next := make([]int, len(w.stacks)) // by server
	for _, l := range w.workloads {
		var pairs [][2]apps.Side
		for _, p := range l.Pairs() {
			for range l.Processes {
				pairs = append(pairs, [2]apps.Side{w.side(p[0], p[1], next[p[0]], l, true),
					w.side(p[1], p[0], next[p[1]], l, false)})
				next[p[0]]++
				next[p[1]]++
			}
		}
		all = append(all, pairs)
	}
	return all
}

// side returns what an application on a server may use: verbs context, core and its share of the applications' memory.
func (w *world) side(server, peer, app int, of *workload.Spec, client bool) apps.Side {
	const hops = 64
	c := w.rack.Servers[server].Cards[0]
	mine, its := w.stacks[server].(Stack), w.stacks[peer].(Stack)
	var ways []apps.Route
	for p := range min(mine.Ports(), its.Ports()) {
		to := verbs.AHAttr{Port: uint8(1 + p), GID: w.c.Addresses.gidOf(peer, p), MAC: macOf(peer, p), HopLimit: hops}
		ways = append(ways, apps.Route{Port: to.Port, MAC: macOf(server, p), Peer: to})
	}
	var engine apps.Engine
	if o, ok := mine.(offloading); ok {
		engine = o.engine()
	}
	in := of.Memory.Of(client)
	share := placed(&w.spec.Servers[server]).Of(in).Share(app, w.workloads.Applications(server))
	core := mine.Core(app)
	if on, ok := core.(looping); ok && in == apps.ArmPlace {
		core = beside(on, c, of.Payload)
	}
	return apps.Side{
		Name: w.rack.Servers[server].Name, Context: mine.Context(app), Core: core, Memory: c.Memory,
		Base: share.Base, Bytes: share.Bytes, Routes: ways, Engine: engine,
	}
}

// beside returns the core of an application whose buffers lie in the Arm memory of a card.
func beside(on looping, c *board.Card, payload apps.Payload) apps.Core {
	if payload == apps.Reused || c.HostMMIO == nil {
		return place.NewCore(on.Core, nil, c.Memory) // reused payload is accessed only before and after the traffic
	}
	return place.NewCore(on.Core, c.HostMMIO, c.Memory)
}
