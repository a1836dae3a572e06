package run

import (
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"nictwin/models/sim/simcore"
	"nictwin/scenarios/run/probe"
	"nictwin/scenarios/run/stats"
	"nictwin/scenarios/shell/files"
)

// withStats plays a case with statistics, which must not change its events or results.
func withStats(t *testing.T, text string) *Played {
	t.Helper()
	c := caseOf(t, text)
	plain, err := c.Play(t.Context(), Options{})
	require.NoError(t, err)
	require.Nil(t, plain.Stats)
	p, err := c.Play(t.Context(), Options{Stats: StatsFull})
	require.NoError(t, err)
	require.Empty(t, texts(p))
	require.Equal(t, plain.Digest, p.Digest)
	require.Equal(t, plain.Sim, p.Sim)
	again, err := c.Play(t.Context(), Options{Stats: StatsFull})
	require.NoError(t, err)
	require.Equal(t, asJSON(t, p.Stats), asJSON(t, again.Stats), "two runs have equal statistics")
	return p
}

func asJSON(t *testing.T, v any) string {
	t.Helper()
	b, err := json.Marshal(v)
	require.NoError(t, err)
	return string(b)
}

// counts returns the number of samples by kind and measure.
func counts(s *stats.Summary) map[string]int64 {
	n := map[string]int64{}
	for _, l := range s.Latency {
		n[l.Kind+" to "+l.Measure] += l.Count
	}
	return n
}

// TestStampsOfEveryKind checks which stamps messages of each kind have, and that none is missing.
func TestStampsOfEveryKind(t *testing.T) {
	const n = 2 * 2 * 40 // flows, messages
	const common = "workload: {queue_pairs: 2, both_ways: true, count: 40, depth: 4, signal_every: 3, sizes: "
	type want = map[string]int64
	sent := func(kind string) want {
		return want{kind + " to wire": n, kind + " to completion": n, kind + " to hand_over": n}
	}
	quiet := func(kind string) want { return want{kind + " to wire": n, kind + " to completion": n} }
	echo := sent("echo")
	for k, v := range sent("echo answer") {
		echo[k] = v
	}
	echo["echo to answer"] = n
	for text, want := range map[string]want{
		"[64, 3000], kind: send}": sent("send"), "[64, 3000], kind: write_imm}": sent("write_imm"),
		"[64, 3000], kind: write}": quiet("write"),
		"[64, 3000], kind: read}":  quiet("read"), "[64, 3000], kind: echo}": echo,
		"[64, 3000], kind: send, transport: uc}": sent("send"),
		"[64, 900], kind: send, transport: ud}":  sent("send"),
	} {
		p := withStats(t, onRNICs+common+text)
		require.Equal(t, want, counts(p.Stats), text)
		require.Equal(t, p.Result.Messages, p.Stats.Total.Messages, text)
		require.Equal(t, p.Result.Bytes, p.Stats.Total.Bytes, text)
		require.Len(t, p.Stats.Flows, 4)
		require.False(t, p.Stats.Total.Converged)
		for _, l := range p.Stats.Latency {
			require.Positive(t, l.P50, "%s: %+v", text, l)
			require.LessOrEqual(t, l.P50, l.P90)
			require.LessOrEqual(t, l.P90, l.Max)
			require.Less(t, simcore.Ps(l.Max), p.Traffic)
		}
	}
}

// TestFirstTransmissionsAreStamped checks that packets of retransmissions stamp nothing: with a timeout of a
// millisecond, messages that are sent again complete late, and were on the wire early.
func TestFirstTransmissionsAreStamped(t *testing.T) {
	p := withStats(t, onRNICs+"workload: {kind: write, count: 200, depth: 4, sizes: [3000], mtu: 1024, "+
		"psn: 16777210}\n"+
		"faults: {wire: {seed: 3, chances: {loss: 0.02}}}\n")
	by := map[string]stats.Latency{}
	for _, l := range p.Stats.Latency {
		by[l.Measure] = l
	}
	require.EqualValues(t, 200, by["wire"].Count)
	require.EqualValues(t, 200, by["completion"].Count)
	require.Greater(t, simcore.Ps(by["completion"].Max), simcore.Millisecond, "a message was lost")
	require.Less(t, simcore.Ps(by["wire"].P50), 2*simcore.Microsecond)
}

// TestFlexiNSStamps checks the stamps over the stack on a card, also of messages without requests of their own.
func TestFlexiNSStamps(t *testing.T) {
	const on = "board: {preset: bf3-cores-pair}\nstacks: [{kind: flexins, flexins: {low_latency_qps: 1}}]\n" +
		"workload: {count: 30, "
	for text, want := range map[string]map[string]int64{
		"kind: send}": {"send to wire": 30, "send to completion": 30, "send to hand_over": 30},
		"kind: send, low_latency: true, sizes: [64]}": {"send to wire": 30, "send to completion": 30,
			"send to hand_over": 30},
		"kind: ring, depth: 64}": {"ring to hand_over": 30},
		"kind: list_walk, sizes: [64]}": {"list_walk to wire": 30, "list_walk to completion": 30,
			"list_walk to answer": 30},
		"kind: atomics, sizes: [8]}": {"fetch_add to wire": 10, "fetch_add to completion": 10, "cmp_swap to wire": 20,
			"cmp_swap to completion": 20},
		"kind: write, transport: solar}":            {"write to completion": 30},
		"kind: send, transport: raw, sizes: [900]}": {"send to completion": 30, "send to hand_over": 30},
		"kind: read, mtu: 256}":                     {"read to wire": 30, "read to completion": 30},
		"kind: send, transport: ud, depth: 2}": {"send to wire": 30,
			"send to completion": 30, "send to hand_over": 30},
	} {
		require.Equal(t, want, counts(withStats(t, on+text).Stats), text)
	}
}

// TestExpectedFigures checks that expected statistics that are met give no finding, and that others give one that names
// the field, the kind and the size.
func TestExpectedFigures(t *testing.T) {
	const load = "workload: {kind: write, payload: reused, count: 2500, depth: 8, sizes: [64, 4096], mtu: 4096}\n"
	play := func(text string, o Options) *Played {
		p, err := caseOf(t, onRNICs+text).Play(t.Context(), o)
		require.NoError(t, err)
		return p
	}
	p := play(load+"expect: {p50: {below: 1ms}, p99: {below: 1ms, to: wire}, max: {below: 1ms}, throughput: {above: "+
		"1Gbps, below: 200Gbps}}", Options{})
	require.Empty(t, texts(p))
	require.Nil(t, p.Stats, "nobody asked for them")
	p = play(load+"expect: {p50: {below: 10ns}, p999: {below: 20ns, to: completion}}", Options{Stats: StatsSummary})
	require.Len(t, p.Findings, 4, "for each of two sizes")
	require.NotNil(t, p.Stats)
	require.Contains(t, texts(p), "expect.p50: expected below 10ns, got ")
	require.Contains(t, texts(p), "(write of 4096 B, from post to completion)")
	require.EqualValues(t, "application", p.Findings[0].Domain)
	require.Equal(t, "expect.p50", p.Findings[0].Field)
	require.Empty(t, p.Findings[0].Rule)
	p = play(load+"expect: {throughput: {above: 399Gbps}}", Options{})
	require.Len(t, p.Findings, 1)
	require.Equal(t, "expect.throughput", p.Findings[0].Field)
	require.Equal(t, "above 399Gbps", p.Findings[0].Expected)
	require.Empty(t, p.Findings[0].Rule)

	// A rate that is not known well enough meets no expectation, even if it happens to lie within the bounds.
	p = play(load+"expect: {throughput: {above: 1Kbps}}\nmeasure: {warm_up: 10us, window: 1s}", Options{})
	require.Len(t, p.Findings, 1)
	require.Equal(t, RuleNotConverged, p.Findings[0].Rule)
	require.Contains(t, texts(p), "not converged (the traffic ended after ")
	p = play(load+"expect: {throughput: {above: 1Kbps}}\nmeasure: {warm_up: 10us, window: 600us}", Options{})
	require.Empty(t, texts(p))
}

// TestArmDRAM checks the bytes to and from the Arms' DRAM over the warm window: none where payload stays out of it,
// many with naive reception into rings larger than the cache.
func TestArmDRAM(t *testing.T) {
	const text = "board: {preset: bf3-cores-pair}\nstacks: [{kind: flexins, flexins: {data_cores: 2, data: {%s}}}]\n" +
		"workload: {kind: write, payload: reused, queue_pairs: 2, count: 4000, depth: 16, sizes: [4096], mtu: 4096}\n" +
		"expect: {arm_dram_payload_bytes: 0}\nmeasure: {warm_up: 1ms, window: 1ms}\n"
	play := func(data string) *Played {
		p, err := caseOf(t, fmt.Sprintf(text, data)).Play(t.Context(), Options{Unjudged: true})
		require.NoError(t, err)
		return p
	}
	require.Empty(t, texts(play("")))
	p := play("transmit: dma_staged, staging_bytes: 33554432")
	require.Len(t, p.Findings, 1)
	require.Equal(t, "expect.arm_dram_payload_bytes", p.Findings[0].Field)
	require.Contains(t, texts(p), "expected 0 at most, got ")
}

// TestFiguresRefused checks that figures that a workload cannot have are refused by line and field.
func TestFiguresRefused(t *testing.T) {
	for _, x := range [][2]string{
		{"workload: {count: 999}\nexpect: {p99: {below: 1us}}",
			"test.yaml:6: expect.p99: 999 messages of each size: want 1000 or more for a tail, by " +
				"workload.count"},
		{"workload: {count: 1999, sizes: [1, 2]}\nexpect: {p999: {below: 1us}}",
			"test.yaml:6: expect.p999: 999 messages of each size"},
		{"workload: {kind: write}\nexpect: {p50: {below: 1us, to: hand_over}}",
			`test.yaml:6: expect.p50.to "hand_over": messages of kind write over rc have stamps ` +
				`of completion, wire: want one of these`},
		{"workload: {kind: send}\nexpect: {p50: {below: 1us, to: answer}}",
			"have stamps of hand_over, completion, wire"},
		{"workload: {kind: send}\nexpect:\n  p50:\n    to: wire",
			"expect.p50: no bound: want below, a time such as 12us"},
		{"expect: {p50: {below: 12}}",
			`test.yaml:5: expect.p50.below: "12": no unit: want ps, ns, us, ms or s behind it`},
		{"expect: {throughput: {above: 1Gbps}}",
			"test.yaml:5: expect.throughput: 64 messages: want 625 or more, of which the warm " +
				"window has 80%"},
		{"expect: {throughput: {}}\nworkload: {count: 800}",
			"test.yaml:5: expect.throughput: none: want above or below"},
		{"expect: {throughput: {above: 2Gbps, below: 1Gbps}}",
			"expect.throughput.below 1Gbps: want more than above"},
		{"expect: {throughput: {above: 1Gbps}}\nworkload: {count: 800, sizes: [0]}",
			"expect.throughput: messages have no bytes: want workload.sizes"},
		{"expect: {arm_dram_payload_bytes: 0}",
			"test.yaml:5: expect.arm_dram_payload_bytes: no stack runs on an Arm: want one of kind flexins"},
		{"expect: {p42: {below: 1us}}",
			"test.yaml:5: expect.p42: no such field"},
		{"measure: {warm_up: 1us}",
			"test.yaml:5: measure"},
	} {
		_, err := Parse("test.yaml", []byte("name: test\ndescription: a test\n"+onRNICs+x[0]))
		require.ErrorContains(t, err, x[1], x[0])
	}
}

// TestFiguresAreWritten checks that a scenario with expected statistics survives being written, as shrunk ones are.
func TestFiguresAreWritten(t *testing.T) {
	c := caseOf(t, onRNICs+"workload: {count: 1000}\n"+
		"expect: {p99: {below: 12us, to: wire}, throughput: {above: 10Gbps}}\n"+
		"measure: {warm_up: 10us, window: 1ms}")
	text, err := c.Spec.YAML()
	require.NoError(t, err)
	require.Contains(t, string(text), "below: 12us")
	again, err := Parse("again.yaml", text)
	require.NoError(t, err)
	require.Equal(t, c.Expect, again[0].Expect)
	require.Equal(t, c.Measure, again[0].Measure)
}

// TestSeriesAmongTheArtifacts checks the files of --stats full, and its counters against the payload.
func TestSeriesAmongTheArtifacts(t *testing.T) {
	at := t.TempDir()
	dir, err := files.OpenFolder(at)
	require.NoError(t, err)
	c := caseOf(t, "board: {preset: bf3-cores-pair}\nstacks: [{kind: flexins}]\n"+
		"workload: {kind: write, queue_pairs: 2, count: 200, sizes: [4096], mtu: 4096}\n")
	p, err := c.Play(t.Context(), Options{Stats: StatsFull, Dir: dir})
	require.NoError(t, err)
	require.Empty(t, texts(p))
	for _, name := range probe.Files() {
		text, err := os.ReadFile(filepath.Join(at, name))
		require.NoError(t, err)
		if name != probe.SeriesFile {
			require.Contains(t, string(text), "time from the begin of the traffic (us)")
			require.Contains(t, string(text), "Server[0]")
		}
	}
	total := map[string]uint64{}
	for _, x := range p.Stats.Counters {
		total[x.Where+" "+x.What] += x.Total
		if strings.HasPrefix(x.What, "Ethernet") {
			total[x.Unit] += x.Total
		}
	}
	payload := p.Result.Bytes
	require.Greater(t, total["B"], payload, "payload and headers")
	require.Less(t, total["B"], payload+payload/10)
	require.Greater(t, total["Server[0] PCIe host to card"], payload)
	require.Greater(t, total["Server[1] PCIe card to host"], payload)
	require.Less(t, total["Server[0] PCIe Arm to card"], payload/2, "header-only: payload does not pass the Arm")
	require.Positive(t, total["Server[0] Arm core 0"])
	require.NotEmpty(t, p.Stats.Flows[1].Latency)
}
