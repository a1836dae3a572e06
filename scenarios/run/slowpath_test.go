package run

import (
	"fmt"
	"testing"

	"github.com/stretchr/testify/require"

	"nictwin/models/board"
	"nictwin/models/memory/mem"
	"nictwin/models/nic/nicspec"
	"nictwin/models/sim/simcore"
	"nictwin/scenarios/run/stats"
)

// Slow packets are short. In buffers of 2 KB runs of them are copied with long gaps, in short ones with short gaps.
// What arrives is the same, also if packets are copied only when a receive call waits for them.
func TestSlowPackets(t *testing.T) {
	play := func(options string) (p *Played, written uint64) {
		text := "name: x\ndescription: d\nboard: {preset: ce-pair}\nstacks: [{kind: ceio, ceio: {credits: 0, flows: 2" +
			options + "}, hostnet: {rx_cycles: 500}}, {kind: udp}]\nworkload: {kind: echo, transport: udp, from: 1, " +
			"to: 0, queue_pairs: 2, " +
			"sizes: [100], count: 1500, depth: 256}\n"
		list, err := Parse("x.yaml", []byte(text))
		require.NoError(t, err)
		p, err = list[0].Play(t.Context(), Options{Unjudged: true, Stats: StatsSummary,
			Traffic: func(rack *board.Rack, _ bool) {
				written = rack.Cards()[0].Memory.Host(nicspec.EndpointHost).LLC[0].Counters()[mem.Device].WriteBytes
			}})
		require.NoError(t, err)
		require.Empty(t, p.Findings)
		return p, written
	}
	plain, long := play("")
	short, few := play(", slow_bytes: 192")
	waiting, _ := play(", slow_bytes: 192, async: false")
	require.Equal(t, plain.Digest, short.Digest)
	require.Equal(t, plain.Digest, waiting.Digest)
	require.Less(t, 3*few, long)
}

// A lone slow packet costs a copy, whose work entry is pushed to the NIC: PCIe is crossed once there and once back, and
// no round trip fetches the entry.
func TestSlowPacketAlone(t *testing.T) {
	handOver := func(credits int) int64 {
		list, err := Parse("x.yaml", fmt.Appendf(nil, "name: x\ndescription: d\nboard: {preset: ce-pair}\nstacks: "+
			"[{kind: ceio, ceio: {credits: %d, flows: 1}}, {kind: udp}]\nworkload: {kind: echo, transport: udp, "+
			"from: 1, to: 0, sizes: [64], count: 50, depth: 1}\n", credits))
		require.NoError(t, err)
		p, err := list[0].Play(t.Context(), Options{Unjudged: true, Stats: StatsSummary})
		require.NoError(t, err)
		require.Empty(t, p.Findings)
		for i := range p.Stats.Latency {
			if l := &p.Stats.Latency[i]; l.Measure == "hand_over" {
				return l.P50
			}
		}
		t.Fatal("no latency")
		return 0
	}
	slow, fast := handOver(0), handOver(64)
	t.Logf("%d and %d ps", slow, fast)
	require.Less(t, slow, 2*fast)
}

// A client has more requests under way than its flow has credits, and asks faster than the core answers. Marks shorten
// its window, so that the slow path runs empty and the flow comes back to the fast path, again and again. Without marks
// some slow packets nearly always wait. Where the core keeps pace, or a message bypasses it,
// nothing is marked.
func TestMarksBringFlowsBack(t *testing.T) {
	play := func(cycles int, options, workload string) *stats.Credits {
		list, err := Parse("x.yaml", fmt.Appendf(nil, "name: x\ndescription: d\nboard: {preset: ce-pair}\nstacks: "+
			"[{kind: ceio, ceio: {flows: 1, batch: 8, %s}, hostnet: {rx_cycles: %d}}, {kind: udp}]\n"+
			"workload: {transport: udp, from: 1, to: 0, %s}\n", options, cycles, workload))
		require.NoError(t, err)
		p, err := list[0].Play(t.Context(), Options{Unjudged: true, Stats: StatsSummary})
		require.NoError(t, err)
		require.Empty(t, p.Findings)
		return &p.Stats.Credits[0]
	}
	const echo = "kind: echo, sizes: [100], answer: 64, count: 4000, depth: 512"
	for _, cycles := range []int{500, 2000} { // the slower core takes longer for a burst than the period of marks
		marks := play(cycles, "credits: 64, slow_bytes: 192", echo)
		none := play(cycles, "credits: 64, slow_bytes: 192, mark_period: 1s", echo)
		t.Logf("%d of 4,000 packets are fast with marks, %d without", marks.Fast, none.Fast)
		require.Greater(t, marks.Fast, uint64(1500), "%d cycles", cycles)
		require.Greater(t, marks.Fast, 3*none.Fast, "%d cycles", cycles)
		require.Zero(t, none.CE)
	}
	require.Zero(t, play(50, "credits: 0, slow_bytes: 192", echo+", every: 150ns").CE)
	require.Zero(t, play(50, "credits: 0", "kind: chunks, sizes: [60KB], count: 100, depth: 2, chunks: {file: 4}").CE)
}

// Short buffers for slow packets must hold the frames of the flows that have them, and some flow must.
func TestSlowBytes(t *testing.T) {
	const echo = "kind: echo, sizes: [100], queue_pairs: 2"
	const chunks, long = "kind: chunks, sizes: [9000]", "kind: echo, sizes: [1000]"
	for _, x := range []struct{ options, workload, second, want string }{
		{"slow_bytes: 100", echo, "", "x.yaml:4: stacks[0].ceio.slow_bytes 100: want a multiple of 64"},
		{"slow_bytes: 128", echo, "", "slow_bytes 128: frames of workloads[0] have up to 158 B: want that or more"},
		{"slow_bytes: 192", chunks, "", "stacks[0].ceio.slow_bytes 192: slow packets of chunks, whose headers"},
		{"slow_bytes: 192, flows: 1", chunks, echo, "slow_bytes 192: slow packets of chunks, whose headers"},
		{"slow_bytes: 192", echo, chunks, ""},
		{"slow_bytes: 192, flows: 2", echo, long, ""}, // the shared ring has buffers for all frames
		{"slow_bytes: 192, flows: 3", echo, long, "slow_bytes 192: frames of workloads[1] have up to 1058 B"},
	} {
		text := "name: x\ndescription: d\nboard: {preset: ce-pair}\nstacks: [{kind: ceio, ceio: {" + x.options +
			"}}, {kind: udp}]\nworkloads:\n"
		for _, w := range []string{x.workload, x.second} {
			if w != "" {
				text += "- {transport: udp, from: 1, to: 0, " + w + "}\n"
			}
		}
		list, err := Parse("x.yaml", []byte(text))
		if x.want != "" {
			require.ErrorContains(t, err, x.want)
			continue
		}
		require.NoError(t, err)
		p, err := list[0].Play(t.Context(), Options{Unjudged: true})
		require.NoError(t, err)
		require.True(t, p.Pass(), texts(p))
	}
}

// One flow of a shared ring takes the packets of all from it. So others do not wait until a server of chunks has
// copied those that it has, whatever its `ahead` says.
func TestAheadOfASharedRing(t *testing.T) {
	const text = `name: x
description: d
board: {preset: ce-pair}
stacks: [{kind: ceio, ceio: {flows: 1, credits: 64}}, {kind: udp}]
workloads:
- {kind: echo, transport: udp, from: 1, to: 0}
- {kind: chunks, transport: udp, from: 1, to: 0, sizes: [50KB], count: 20, depth: 2,
   chunks: {ahead: 1, line_cycles: 100}}
- {name: last, kind: echo, transport: udp, from: 1, to: 0, sizes: [1000], count: 80, depth: 1}
`
	list, err := Parse("x.yaml", []byte(text))
	require.NoError(t, err)
	p, err := list[0].Play(t.Context(), Options{Unjudged: true, Stats: StatsSummary})
	require.NoError(t, err)
	require.Empty(t, p.Findings)
	for _, l := range p.Stats.Latency {
		if l.Workload == "last" && l.Measure == "answer" {
			require.Less(t, l.Max, int64(25*simcore.Microsecond), "a chunk is copied in 40")
		}
	}
}
