package run

import (
	"maps"
	"slices"
	"strings"

	"nictwin/models/board"
	"nictwin/models/memory/mem"
	"nictwin/models/nic/nicspec"
	"nictwin/stack/apps"
	"nictwin/stack/offload"
	"nictwin/stack/verbs"
)

// Stack is the network stack of a server.
type Stack interface {
	Context(process int) verbs.Context // of Workload.Processes
	Core(process int) apps.Core        // of the host, on which its application runs
	Ports() int                        // that it can use, from the first on

	// Settled reports whether nothing is under way, in the stack or on its card: what happens from now on begins with
	// a call, or with a frame. It is asked at every step of time.
	Settled() bool
	// Timer names, for messages, a connection's timer that is armed; empty without one.
	Timer() string
	// Progress changes whenever a connection gets on, though no request may have ended. Repetitions are no progress.
	Progress() uint64
	Err() error
	// Close ends what the stack does by itself: its loops and timers.
	Close() error
}

// counting is a stack that can read the counters of its NIC, which the referee compares with what it saw.
type counting interface {
	ReadCounters(done func()) error
}

// offloading is a stack that may have an offload engine.
type offloading interface {
	engine() apps.Engine                         // nil: it has none
	faults() (list []offload.Fault, more uint64) // handlers that were stopped
}

// stackKind is what there is to know of a kind of stack.
type stackKind struct {
	fits func(*StackSpec, *board.CardSpec) error // whether it runs on a card
	open func(w *world, server int) (Stack, error)
}

var stacks = map[StackKind]stackKind{StackFlexiNS: {fitsFlexiNS, openFlexiNS}, StackRNIC: {fitsRNIC, openRNIC}}

func stackNames() string {
	var names []string
	for _, k := range slices.Sorted(maps.Keys(stacks)) {
		names = append(names, string(k))
	}
	return strings.Join(names, " or ")
}

// Addresses is the network layer of all ports.
type Addresses string

// The network layers.
const (
	IPv4 Addresses = "ipv4"
	IPv6 Addresses = "ipv6"
)

// The addresses of a server's ports, numbered from 0.
func macOf(server, port int) [6]byte { return [6]byte{2, 0, 0, 0, byte(port), byte(1 + server)} }
func ipOf(server, port int) [4]byte  { return [4]byte{10, 0, byte(port), byte(1 + server)} }

// gidOf is ::ffff:a.b.c.d or, of the range for local use (RFC 4193), fd00::port:server.
func (a Addresses) gidOf(server, port int) (g [16]byte) {
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

// processes are the applications of both servers.
func (w *world) processes() (all [][2]apps.Side) {
	for i := range w.c.Workload.Processes {
		all = append(all, [2]apps.Side{w.side(0, i), w.side(1, i)})
	}
	return all
}

// side is a server as an application on it sees it. Each has the same share of the memory that is there for them.
func (w *world) side(server, process int) apps.Side {
	const hops = 64
	c, peer := w.rack.Servers[server].Cards[0], 1-server
	var ways []apps.Way
	for p := range w.ports() {
		to := verbs.AHAttr{Port: uint8(1 + p), GID: w.c.Addresses.gidOf(peer, p), MAC: macOf(peer, p), HopLimit: hops}
		ways = append(ways, apps.Way{Port: to.Port, MAC: macOf(server, p), Peer: to})
	}
	var engine apps.Engine
	if o, ok := w.stacks[server].(offloading); ok {
		engine = o.engine()
	}
	share := uint64(appsBytes/w.c.Workload.Processes) &^ (pageBytes - 1)
	return apps.Side{
		Name: w.rack.Servers[server].Name, Context: w.stacks[server].Context(process),
		Core: w.stacks[server].Core(process), Memory: c.Memory,
		Base: mem.Bus(nicspec.EndpointHost, appsFrom+uint64(process)*share), Bytes: share,
		Ways: ways, Engine: engine,
	}
}

// ports is how many each server has that lead to the same of the other.
func (w *world) ports() int {
	n := w.stacks[0].Ports()
	return min(n, w.stacks[1].Ports())
}
