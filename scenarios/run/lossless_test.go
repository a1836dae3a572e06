package run

import (
	"fmt"
	"testing"

	"github.com/stretchr/testify/require"

	"nictwin/models/board"
	"nictwin/models/format/wire"
	"nictwin/models/nic/boundary"
	"nictwin/models/nic/nicspec"
	"nictwin/models/sim/simcore"
	"nictwin/stack/flexins/node"
)

// wired counts what crosses the cables of a case, and keeps its stacks.
type wired struct {
	arrived [2]uint64 // frames received, by server
	data    int       // packets sent with data or requests
	twice   int       // packets in `data` that had been sent before
	naks    int
	seen    map[psn]bool
	stacks  []*flexins
	busy    [2]simcore.Ps // of all data cores, during the traffic
}

// psn identifies a packet with data or a request.
type psn struct {
	server  int
	answers bool // the packet is a READ response, whose PSN may equal that of a request
	qp, psn uint32
}

// playWired plays a case without loss, on cards of the contract's NIC.
func playWired(t *testing.T, o Options, text string) (*Played, *wired) {
	t.Helper()
	w := &wired{seen: map[psn]bool{}}
	before := stacks
	defer func() { stacks = before }()
	stacks = map[StackKind]stackKind{StackFlexiNS: {fitsFlexiNS, func(x *world, server int) (Stack, error) {
		s, err := openFlexiNS(x, server)
		if f, ok := s.(*flexins); ok {
			w.stacks = append(w.stacks, f)
		}
		return s, err
	}}}
	o.Observe = func(server int, nic board.NIC) {
		nic.Observe(func(c boundary.Crossing) { w.count(server, &c) })
	}
	o.Traffic = func(r *board.Rack, settled bool) { w.measure(t, r, settled) }
	p, err := caseOf(t, text).Play(t.Context(), o)
	require.NoError(t, err, text)
	require.True(t, p.Pass(), "%s: %s", text, texts(p))
	return p, w
}

func (w *wired) count(server int, c *boundary.Crossing) {
	const bth, header = 42, 16
	switch {
	case c.Kind == boundary.FrameIn:
		w.arrived[server]++
	case c.Kind == boundary.FrameOut && len(c.Frame.Data) >= bth+header:
		h := wire.BTH(c.Frame.Data[bth:]).Fields()
		op := h.Opcode.Info().Operation
		if op == wire.OpAck {
			if wire.AETH(c.Frame.Data[bth+wire.BTHSize:]).Syndrome().Kind() != wire.SyndromeACK {
				w.naks++
			}
			return
		}
		w.data++
		k := psn{server, op == wire.OpReadResponse, h.DestQP, h.PSN}
		if w.seen[k] {
			w.twice++
		}
		w.seen[k] = true
	}
}

// measure adds up the busy times of the data cores (of the cards' Arm cores, those that run the data path).
func (w *wired) measure(t *testing.T, r *board.Rack, settled bool) {
	sign := simcore.Ps(-1)
	if settled {
		sign = 1
	}
	for i := range w.busy {
		for n := range node.DefaultSpec().DataCores {
			c, err := r.Servers[i].Cards[0].Memory.Host(nicspec.EndpointArm).Core(0, n)
			require.NoError(t, err)
			w.busy[i] += sign * c.Stats().Busy
		}
	}
}

// requireLossless checks that every frame that arrived was taken by a data core, and that none was sent twice.
func (w *wired) requireLossless(t *testing.T, text string) {
	t.Helper()
	require.Zero(t, w.twice, "%s: packets sent twice, of %d", text, w.data)
	require.Zero(t, w.naks, text)
	for i, s := range w.stacks {
		n := s.node.Stats()
		taken := n.Received + n.Landed + n.BadICRC + n.Malformed + n.Stray
		require.Equal(t, w.arrived[i], taken, "%s: server %d dropped frames", text, i)
	}
}

// On cables that lose nothing, nothing is dropped and nothing sent twice, even if the receiver is much slower than its
// peer: for one queue pair and for many at one core, in both directions, with few descriptors, slow memory, and all
// ways of transmitting and recovering.
func TestLossless(t *testing.T) {
	const card = "board: {preset: bf3-cores-pair}\nstacks: [{kind: flexins, flexins: {%s}}]\nworkload: {%s}%s"
	for _, c := range []struct{ flexins, workload, more string }{
		{"", "kind: write, sizes: [65536], count: 48, depth: 64", ""},
		{"data_cores: 1", "kind: write, sizes: [20000], count: 40, depth: 32, queue_pairs: 8, both_ways: true", ""},
		{"data_cores: 1", "kind: write, sizes: [1, 3000], count: 20, depth: 16, queue_pairs: 64", ""},
		{"data_cores: 1", "kind: send, sizes: [1, 20000], count: 30, depth: 16, queue_pairs: 6", ""},
		{"data_cores: 2", "kind: read, sizes: [65536, 8], count: 20, depth: 16, queue_pairs: 6, both_ways: true", ""},
		{"data: {recovery: 1}", "kind: write, sizes: [65536], count: 48, depth: 64, mtu: 4096", ""},
		{"data: {log_receive: 6, every: 4}", "kind: write, sizes: [65536], count: 24, depth: 8, queue_pairs: 3", ""},
		{"data: {receive: naive, transmit: dma_staged}", "kind: write_imm, sizes: [65536], count: 24, depth: 16", ""},
		{"", "kind: write, sizes: [65536], count: 24, depth: 24", "\nfaults: {slow_memory: {latency_ps: 20000000}}"},
		{"", "kind: reflector, sizes: [30000], count: 30, depth: 30, processes: 2", ""},
		// answers that are copied to slow memory
		{"data_cores: 1", "kind: read, sizes: [65536], count: 60, depth: 16, mtu: 1024, queue_pairs: 8",
			"\nfaults: {slow_memory: {latency_ps: 20000000}}"},
		{"data_cores: 1", "kind: read, sizes: [65536], count: 60, depth: 16, mtu: 1024, queue_pairs: 2",
			"\nfaults: {slow_memory: {latency_ps: 100000000}}"},
		{"data_cores: 1, data: {log_receive: 6, every: 4}",
			"kind: read, sizes: [65536], count: 40, depth: 16, mtu: 1024, queue_pairs: 2",
			"\nfaults: {slow_memory: {latency_ps: 20000000}}"},
	} {
		text := fmt.Sprintf(card, c.flexins, c.workload, c.more)
		_, w := playWired(t, Options{Unjudged: true}, text)
		w.requireLossless(t, text)
	}
}

// gbps returns the goodput of a case.
func (p *Played) gbps() float64 {
	return float64(p.Result.Bytes) * 8 / float64(p.Traffic) * float64(simcore.Nanosecond)
}

// A deeper queue of requests does not lower the goodput: at depth 64 it is within 5% of the best depth.
func TestGoodputByDepth(t *testing.T) {
	for _, mtu := range []int{1024, 4096} {
		best, at64 := 0.0, 0.0
		for _, x := range [][2]int{{1, 80}, {8, 80}, {64, 160}, {256, 160}} { // the first queues are always full
			depth, count := x[0], x[1]
			text := fmt.Sprintf("board: {preset: bf3-cores-pair}\nstacks: [{kind: flexins}]\nworkload: {kind: write, "+
				"mtu: %d, sizes: [65536], count: %d, depth: %d, payload: reused}", mtu, count, depth)
			p, w := playWired(t, Options{Unjudged: true}, text)
			w.requireLossless(t, text)
			best = max(best, p.gbps())
			if depth == 64 {
				at64 = p.gbps()
			}
		}
		require.GreaterOrEqual(t, at64, 0.95*best, "mtu %d", mtu)
	}
}

// The queue pairs of an application begin together, also if it writes many long messages before it posts them: four of
// them are no slower at depth 64 than at the best depth.
func TestGoodputOfQueuesByDepth(t *testing.T) {
	at := func(depth int) float64 {
		text := fmt.Sprintf("board: {preset: bf3-cores-pair}\nstacks: [{kind: flexins}]\nworkload: {kind: write, "+
			"mtu: 1024, sizes: [65536], queue_pairs: 4, count: 80, depth: %d}", depth)
		p, w := playWired(t, Options{Unjudged: true}, text)
		w.requireLossless(t, text)
		return p.gbps()
	}
	require.GreaterOrEqual(t, at(64), 0.95*at(4))
}

// More SENDs under way than a pipe of requests has lines do not lower the goodput: there is room for their completions.
func TestSendsByDepth(t *testing.T) {
	at := func(depth int) float64 {
		text := fmt.Sprintf("board: {preset: bf3-cores-pair}\nstacks: [{kind: flexins}]\nworkload: {kind: send, "+
			"mtu: 4096, sizes: [2048], count: 2000, depth: %d, payload: reused}", depth)
		p, w := playWired(t, Options{Unjudged: true}, text)
		for _, s := range w.stacks {
			require.Zero(t, s.node.Stats().HeldBack, "completions that found their pipe full")
		}
		return p.gbps()
	}
	require.Greater(t, at(128), at(64))
}

// A data core takes a quarter of a microsecond for a 2 KB WRITE, at either end. So one connection carries more than a
// seventh of the line rate (FN, figure 11). Six connections fill both ports to 95%: of their 400 Gbit/s, 381 are
// payload.
func TestConnections(t *testing.T) {
	const text = "board: {preset: bf3-cores-pair}\nstacks: [{kind: flexins}]\nworkload: {kind: write, mtu: 4096, " +
		"sizes: [2048], count: %d, depth: 64, payload: reused, ports: 2, processes: %d}"
	one, w := playWired(t, Options{Unjudged: true}, fmt.Sprintf(text, 3000, 1))
	const least, payload = 400.0 / 6.5, 381.0
	require.Greater(t, one.gbps(), least)
	for i := range w.busy {
		require.Less(t, w.busy[i]/simcore.Ps(one.Result.Messages), 250*simcore.Nanosecond, "server %d", i)
	}
	all, _ := playWired(t, Options{Unjudged: true, Stats: StatsSummary}, fmt.Sprintf(text, 1500, 6))
	require.Greater(t, all.Stats.Total.Gbps, 0.95*payload)
}
