package ceio

import (
	"fmt"
	"slices"
	"strings"

	"nictwin/models/sim/simcore"
	"nictwin/scenarios/papers/study"
)

const (
	micro = simcore.Microsecond
	milli = simcore.Millisecond
)

// anchor is the claim that calibrates what software spends on a packet: CEIO with six of eight flows CPU-involved.
const anchor = "ceio.t4.ceio.3_1"

// linefs is the claim that calibrates what software spends on chunks beside copying them.
const linefs = "ceio.les.linefs_frac"

// shared are the inputs that every experiment of this package uses.
var shared = []study.Input{
	{Name: "testbed", Text: "ce-fleet", Source: "ce.link, ce.llc, ce.ddio, ce.mem, ce.clients: board preset, a " +
		"server and eight clients on a switch"},
	{Name: "switch", Text: "cut-through", Source: "ce.clients: the paper has one client machine, cabled to the " +
		"server. So the switch stands for that machine's NIC, where requests wait for the cable: it marks nothing. " +
		"Marks are those of servers"},
	{Name: "switch.buffer", Value: 256, Unit: "MiB", Source: "assumption: room for all that is under way, as clients " +
		"have it in their own memory"},
	{Name: "index", Text: "plain", Source: "of the last-level cache: ce.ctotal counts 2 KB for a buffer, however few " +
		"lines of it a packet fills; a hashed index would hold 10 times as many packets of 144 B"},
	{Name: "replacement", Text: "random", Source: "assumption: of the last-level cache, whose policy is not " +
		"published. With LRU a ring's packets are all there or all missing, by how many buffers go round; on the " +
		"testbed 12% of the baseline's lookups hit"},
	{Name: "credits", Value: 3000, Unit: "packets", Source: "ce.ctotal"},
	{Name: "rx_cycles", Value: cycles, Unit: "cycles", Source: "of a packet that software receives, so that CEIO's " +
		"cores reached 61.57 M packets/s (Table 4, 3:1): none, as loads and stores alone leave 59.3",
		Anchors: []string{anchor}, Instead: &study.Instead{Value: 16, Source: "the stack's default"}},
	{Name: "tx_cycles", Value: cycles, Unit: "cycles", Source: "of a packet that software sends: as rx_cycles",
		Anchors: []string{anchor}, Instead: &study.Instead{Value: 16, Source: "the stack's default"}},
	{Name: "depth", Value: ring - repost, Unit: "requests", Source: "assumption: of a CPU-involved flow, as many as " +
		"its ring of 1,024 buffers takes at any time, as these are posted 32 at a time. So the rings of eight flows " +
		"(ce.buf: 16 MB) exceed the cache, and none runs out of buffers, which would lose packets and halve windows"},
	{Name: "echo.depth", Value: ring - repost - transmit, Unit: "requests", Source: "assumption: as depth, of " +
		"echoes. Answers are sent from the request's buffer, which is free when the core sees that they have left: " +
		"up to 256 of them, a transmit ring"},
	{Name: "chunk", Value: 64_000, Unit: "B", Source: "assumption: of a CPU-bypass flow; 46 packets"},
	{Name: "chunks", Value: 8, Unit: "chunks", Source: "assumption: of a CPU-bypass flow, under way; of 46 " +
		"packets each, they are as many as half of its ring of 1,024 buffers takes, since the server holds packets " +
		"until their chunk is whole. The server reads a chunk at a time, and one ahead"},
	{Name: "file", Value: 256, Unit: "chunks", Source: "of a file: 16 MB, which no cache holds until it is written " +
		"again, as the 16 GB of ce.linefs"},
	{Name: "line_cycles", Value: lineCycles, Unit: "cycles", Source: "for each 64 B of a chunk beside its copy: what " +
		"LineFS spends on check sums, its log and replication, so that CEIO's chunks have 0.45 of the rate of its " +
		"echoes where they have least (section 6.4). The paper prints no cost, and says that cores limit LineFS",
		Anchors: []string{linefs}, Instead: &study.Instead{Value: 0, Source: "copies alone"}},
	{Name: "slow_slots", Value: 1024, Unit: "packets", Source: "assumption: of a flow's slow ring, no fewer than it " +
		"has under way. So slow rings of six flows of chunks (12.6 MB) fit in the card's last-level cache of 16 MB; " +
		"4,096 would go through its DRAM. single and unloaded have these, jumbo has 256 and landing 64"},
	{Name: "client.period", Value: 90, Unit: "ps", Source: "assumption: clock of the clients' cores, four times as " +
		"fast as the server's, as are their caches, so that the load exceeds the server's cores"},
	{Name: "timer", Value: 1, Unit: "s", Source: "ce.inactive: of inactive flows. Where phases are shorter than " +
		"the paper's it is shorter by the same factor (phase). Elsewhere none ends within a run"},
	{Name: "landing", Value: 1024, Unit: "buffers", Source: "assumption: host buffers of a flow for slow packets, " +
		"twice those that its server may hold in chunks that are not whole. The first free ones are filled, so that " +
		"the cache holds as many as are in use"},
}

// putBytes is the longest request of the store (ce.kv).
const putBytes = 86

// Entries of the rings of a flow, and receive buffers that are posted at a time: defaults of the stack.
const (
	ring     = 1024
	transmit = 256
	repost   = 32
)

// cycles is the calibrated cost of a packet, lineCycles that of 64 B of a chunk.
const (
	cycles     = 0
	lineCycles = 95
)

// settled returns how all of some claims were settled, but for those that are anchors.
func settled(claims []string) map[string]string {
	all := map[string]string{}
	for _, c := range claims {
		if c == anchor || c == linefs || c == "ceio.t4.base.3_1" {
			continue
		}
		all[c] = "the last-level cache replaces lines at random, those of a file are never in it: it was LRU, and " +
			"1 MB, at first. The switch marks nothing, and no ring of the baseline runs out of buffers: it marked, " +
			"and they did, until the claims had been seen. Since then windows count packets, timers are those of the " +
			"paper outside dynamic, reads of DRAM take 100 ns (90), cores fetch 128 B of a packet at once (256), " +
			"chunks cost more than their copies, slow rings have 1,024 packets (4,096), a burst of answers has one " +
			"doorbell, eight chunks of a flow are under way (two), of which a server reads one ahead (all), and slow " +
			"packets are copied ahead within a flow's share alone"
		if strings.Contains(c, "ceio_wo") || strings.Contains(c, ".gain_") {
			all[c] += ". Without optimization a core pays for an entry of 64 B for each packet: it had the software " +
				"ring for nothing, and 1.5 times the rate"
		}
	}
	return all
}

// missNote says what misses are, settledMisses what they were.
const (
	missNote = "misses are those of I/O buffers: of the lines of packets, headers and payload, that cores look up in " +
		"the last-level cache, as the paper's are of I/O data. Rings, completion entries and tables do not count, " +
		"nor does a line that the core has or fetches already"
	settledMisses = "; misses are those of I/O buffers, as the paper's: all lookups of cores were counted until the " +
		"claims had been seen"
)

// inputs returns the given inputs, followed by the shared ones.
func inputs(own ...study.Input) []study.Input { return append(own, shared...) }

// testbed returns the board of a scenario with so many clients.
func testbed(s *study.Session, clients int) string {
	return testbedWith(s, clients, s.Text("index"), "")
}

// testbedWith returns the board with an index of the server's last-level cache of a kind, and further fields of all
// cards.
func testbedWith(s *study.Session, clients int, index, card string) string {
	period := int(s.Input("client.period"))
	return fmt.Sprintf("{preset: %s, servers: [%s], fleet: {machines: %d, card: {%sdirect: {host: {cpu: "+
		"{period_ps: %d, mmio_post_ps: %d}, private: {hit_latency_ps: 1250}, llc: {hit_latency_ps: 6250}}}}}, "+
		"network: {switch: {preset: %s, buffer_bytes: %d}}}",
		s.Text("testbed"), server(s, index, card), clients, card, period, 30*simcore.Nanosecond, s.Text("switch"),
		int(s.Input("switch.buffer"))<<20)
}

// server returns the server of the testbed, whose last-level cache has an index of a kind, with further fields of its
// card.
func server(s *study.Session, index, card string) string {
	return fmt.Sprintf("{preset: bf3-cores, cards: [{preset: bf3-cores, ports: 1, %sswitch: {host: {host: {preset: "+
		"host-ce, llc: {preset: host-ce-6, index: %s, replacement: %s}}}}}]}", card, index, s.Text("replacement"))
}

// system is a kind of server.
type system string

// Systems of the paper.
const (
	baseline system = "Baseline"
	hostCC   system = "HostCC"
	shRing   system = "ShRing"
	withCEIO system = "CEIO"
	without  system = "CEIO w/o optimization"
)

// slowBytes returns the option of CEIO for the length of buffers for slow packets: whole lines that hold frames with so
// many bytes of payload, with their headers.
func slowBytes(payload int) string {
	const headers, line = 14 + 20 + 8 + 16, 64
	return fmt.Sprintf("slow_bytes: %d", (payload+headers+line-1)/line*line)
}

// stacks returns the stacks of a scenario: a server and so many clients. Frames of CPU-involved flows have so many
// bytes of payload; 0: there are none. more has further options of the server's kind, timers among them.
func (x system) stacks(s *study.Session, clients, payload int, more ...string) string {
	kind, options := "ddio", slices.Clone(more)
	switch x {
	case hostCC:
		kind, options = "hostcc", []string{fmt.Sprintf("occupancy_lines: %g", s.Input("hostcc.lines"))}
	case shRing:
		kind = "shring"
	case withCEIO, without:
		kind = "ceio"
		options = append(options, fmt.Sprintf("credits: %g, landing: %g, slow_slots: %g", s.Input("credits"),
			s.Input("landing"), s.Input("slow_slots")))
		if payload > 0 { // slow packets of chunks, whose headers are split off, have other buffers
			options = append(options, slowBytes(payload))
		}
		switch {
		case x == without:
			options = append(options, "reallocate: false, async: false, software_ring: false")
		case len(more) == 0:
			options = append(options, timers(s))
		}
	}
	own := ""
	if kind != "ddio" {
		own = fmt.Sprintf("%s: {%s}, ", kind, strings.Join(options, ", "))
	}
	server := fmt.Sprintf("{kind: %s, %shostnet: {rx_cycles: %g, tx_cycles: %g}}", kind, own, s.Input("rx_cycles"),
		s.Input("tx_cycles"))
	return server + strings.Repeat(", {kind: udp}", clients)
}

// timers returns CEIO's timers, which both have the same time.
func timers(s *study.Session) string {
	t := simcore.Ps(float64(simcore.Second) * s.Input("timer"))
	return fmt.Sprintf("inactive: %dps, reactivate: %dps", t, t)
}

// store returns the fields of a key-value store for some clients, one flow each.
func store(s *study.Session, name string, clients ...int) string {
	return fmt.Sprintf("name: %s, kind: kv, transport: udp, from: %s, to: 0, depth: %g", name, list(clients),
		s.Input("depth"))
}

// file returns the fields of writers of files, one flow each.
func file(s *study.Session, name string, clients ...int) string {
	return fmt.Sprintf("name: %s, kind: chunks, transport: udp, from: %s, to: 0, sizes: [%g], depth: %g, "+
		"chunks: {file: %g, ahead: 2, line_cycles: %g}", name, list(clients), s.Input("chunk"), s.Input("chunks"),
		s.Input("file"), s.Input("line_cycles"))
}

// list returns numbers as a list in a scenario.
func list(numbers []int) string { return strings.ReplaceAll(fmt.Sprint(numbers), " ", ", ") }

// from returns n numbers from the first one on.
func from(first, n int) (numbers []int) {
	for i := range n {
		numbers = append(numbers, first+i)
	}
	return numbers
}
