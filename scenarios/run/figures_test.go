package run

import (
	"fmt"
	"strings"
	"testing"

	"github.com/sarchlab/akita/v3/sim"
	"github.com/stretchr/testify/require"

	"nictwin/models/memory/mem"
	"nictwin/models/nic/nicspec"
	"nictwin/models/sim/simcore"
	"nictwin/scenarios/observe/result"
	"nictwin/scenarios/run/stats"
)

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

// TestMeasure checks that fields of `measure` are in effect: latencies are of the window's messages alone, and an
// interval is that of as many batches as are wanted, of the same rate.
func TestMeasure(t *testing.T) {
	play := func(more string) *stats.Summary {
		return withStatsOnce(t, onRNICs+"workload: {kind: write, payload: reused, count: 2500, depth: 8, sizes: [64, "+
			"4096], mtu: 4096}\nmeasure: {warm_up: 10us, window: 600us"+more+"}\n").Stats
	}
	of := func(s *stats.Summary) (n int64) {
		for _, l := range s.Latency {
			if l.Measure == "completion" {
				n += l.Count
			}
		}
		return n
	}
	plain, fewer := play(""), play(", batches: 5, latency: true")
	require.EqualValues(t, 2500, of(plain))
	require.EqualValues(t, fewer.Total.Messages, of(fewer))
	require.Less(t, fewer.Total.Messages, 2500)
	require.Equal(t, plain.Total.Gbps, fewer.Total.Gbps)
	require.NotEqual(t, *plain.Total.Half, *fewer.Total.Half)
	require.Equal(t, plain.Total.Half, play(", batches: 20").Total.Half)
}

// TestFlowsThatRunOut checks that the rate of a run is not known if a flow has no requests left before the window ends,
// unless its workload ends before by the scenario.
func TestFlowsThatRunOut(t *testing.T) {
	play := func(second string) *Played {
		p, err := caseOf(t, onRNICs+"workloads:\n- {kind: write, count: 2500, depth: 8, sizes: [64], end: 400us}\n"+
			"- {kind: write, depth: 8, sizes: [64], "+second+"}\nmeasure: {warm_up: 10us, window: 300us}\n"+
			"expect: {throughput: {above: 1Kbps}}\n").Play(t.Context(), Options{Stats: StatsSummary})
		require.NoError(t, err)
		return p
	}
	for _, second := range []string{"count: 500", "count: 500, end: 310us"} {
		p := play(second)
		require.Regexp(t, `^flow 1 posted the last of its 500 requests after .*us, before the window ends after `+
			`310us: want a higher workloads\[1\].count$`, p.Stats.Total.Why)
		require.Len(t, p.Findings, 1)
		require.Equal(t, RuleNotConverged, p.Findings[0].Rule)
		require.Contains(t, texts(p), p.Stats.Total.Why)
	}
	for _, second := range []string{"count: 500, end: 309us", "count: 2500, end: 400us"} {
		require.NotContains(t, play(second).Stats.Total.Why, "posted the last")
	}
	const paced = "{kind: echo, transport: udp, from: 1, to: 0, count: %d, every: %dus}"
	two := "board: {preset: ce-pair}\nstacks: [{kind: ddio}, {kind: udp}]\nworkloads: [" + fmt.Sprintf(paced, 4, 100) +
		", " + fmt.Sprintf(paced, 600, 1) + "]\n"
	for window, out := range map[string]bool{"390us": false, "391us": true} { // a fifth one would be due after 400us
		p := withStatsOnce(t, two+"measure: {warm_up: 10us, window: "+window+"}\n")
		require.Equal(t, out, strings.Contains(p.Stats.Total.Why, "flow 0 posted the last"), p.Stats.Total.Why)
	}
}

// TestExpectedOnTheWire checks expected latencies up to the wire of messages that are followed in ways of their own:
// raw frames, Solar blocks, messages of rings and batches. Each is met and missed, and a missed one names the stamp.
func TestExpectedOnTheWire(t *testing.T) {
	const on = "board: {preset: bf3-cores-pair}\nstacks: [{kind: flexins}]\nworkload: {count: 40, "
	for text, what := range map[string]string{
		"kind: send, transport: raw, sizes: [900]}":     "send of 900 B",
		"kind: write, transport: solar, sizes: [9000]}": "write of 9000 B",
		"kind: read, transport: solar, sizes: [3000]}":  "read of 3000 B",
		"kind: ring, depth: 64, sizes: [100]}":          "ring of 100 B",
		"kind: batched_read, sizes: [640]}":             "batched_read of 640 B",
	} {
		const met = "\nexpect: {p50: {below: 10ms, to: wire}, max: {below: 10ms, to: wire}}\n"
		p, err := caseOf(t, on+text+met).Play(t.Context(), Options{})
		require.NoError(t, err)
		require.Empty(t, texts(p), text)
		p, err = caseOf(t, on+text+"\nexpect: {p50: {below: 1ns, to: wire}}\n").Play(t.Context(), Options{})
		require.NoError(t, err)
		require.Len(t, p.Findings, 1, text)
		require.Equal(t, "expect.p50", p.Findings[0].Field)
		require.Contains(t, p.Findings[0].Text, "expected below 1ns, got ")
		require.Contains(t, p.Findings[0].Text, "("+what+", from post to wire)")
	}
}

// TestArmDRAM checks the bytes to and from the Arms' DRAM over the warm window: none where payload bypasses
// the DRAM, many with naive reception into rings larger than the cache.
func TestArmDRAM(t *testing.T) {
	const text = "board: {preset: bf3-cores-pair}\nstacks: [{kind: flexins, flexins: {data_cores: 2, data: {%s}}}]\n" +
		"workload: {kind: write, payload: reused, queue_pairs: 2, count: %d, depth: 16, sizes: [4096], mtu: 4096}\n" +
		"expect: {arm_dram_bytes: 0}\nmeasure: {warm_up: 1ms, window: %s}\n"
	play := func(data string, count int, window string) *Played {
		p, err := caseOf(t, fmt.Sprintf(text, data, count, window)).Play(t.Context(), Options{Unjudged: true})
		require.NoError(t, err)
		return p
	}
	require.Empty(t, texts(play("", 2400, "500us")))
	p := play("transmit: dma_staged, staging_bytes: 33554432", 4000, "1ms") // until the cache is full
	require.Len(t, p.Findings, 1)
	require.Equal(t, "expect.arm_dram_bytes", p.Findings[0].Field)
	require.Contains(t, texts(p), "expected 0 at most, got ")
}

// TestArmDRAMWithoutWindow checks that an expectation of DRAM bytes fails if there is no warm window to measure: too
// few messages or batches, or traffic that ends before the window does.
func TestArmDRAMWithoutWindow(t *testing.T) {
	const text = "board: {preset: bf3-cores-pair}\nstacks: [{kind: flexins}]\n" +
		"workload: {kind: send, count: 700, sizes: [4096], mtu: 4096%s}\nexpect: {arm_dram_bytes: 1GB}\n"
	for _, x := range []struct{ batch, measure, want string }{
		{"", "measure: {warm_up: 10us, window: 100ns}", " messages in the window: want 500 or more"},
		{"", "measure: {warm_up: 10us, window: 1s}", "the traffic ended after "},
		{", batch: 64, depth: 64", "", " batches of whole bursts when the traffic ended: want 20"},
	} {
		p, err := caseOf(t, fmt.Sprintf(text, x.batch)+x.measure).Play(t.Context(), Options{Unjudged: true})
		require.NoError(t, err)
		require.Len(t, p.Findings, 1, x.measure)
		require.Equal(t, RuleNotConverged, p.Findings[0].Rule)
		require.Contains(t, texts(p), "expect.arm_dram_bytes: expected 1000000000 at most, got no warm window (")
		require.Contains(t, texts(p), x.want)
	}
	p, err := caseOf(t, fmt.Sprintf(text, "")).Play(t.Context(), Options{Unjudged: true})
	require.NoError(t, err)
	require.Empty(t, texts(p), "the window that is found")
}

// TestCountersAreReadAtTheWindow checks that counters are read at the start and the end of a given window, even if both
// lie within one step of the run.
func TestCountersAreReadAtTheWindow(t *testing.T) {
	w, err := newWorld(t.Context(), caseOf(t, "board: {preset: bf3-cores-pair}\nstacks: [{kind: flexins}]\n"),
		&Options{Unjudged: true})
	require.NoError(t, err)
	from := w.engine.Now() + 300*simcore.Nanosecond
	to := from + 100*simcore.Nanosecond
	w.measured = &measured{turns: []simcore.Ps{from, to}}
	d := w.rack.Cards()[0].Memory.Host(nicspec.EndpointArm).DRAM[0]
	for i, at := range []simcore.Ps{from - 1, from, to - 1, to} {
		a := &mem.Access{Op: mem.Write, Addr: 1 << 20, Data: make([]byte, 1<<(10+i)), Done: func(*mem.Access) {}}
		w.engine.Schedule(&simcore.Event{At: at, H: handler(func() { d.Access(a) })})
	}
	require.NoError(t, w.run(trafficStep))
	require.Len(t, w.measured.dram, 2)
	require.EqualValues(t, 2048+4096, w.measured.dram[1]-w.measured.dram[0])
	require.NoError(t, w.close())
}

// handler is an event's handler.
type handler func()

// Handle implements sim.Handler.
func (h handler) Handle(sim.Event) error {
	h()
	return nil
}

// TestLoadsAreNotArmDRAM checks that bytes of a background load do not count as those of the stack, and have lines of
// their own in the series.
func TestLoadsAreNotArmDRAM(t *testing.T) {
	play := func(loads string) (*Played, map[string]uint64) {
		p, err := caseOf(t, loaded("stacks: [{kind: flexins, flexins: {data_cores: 1}}]\n"+
			"workload: {kind: write, count: 700, depth: 1, sizes: [64]}\nexpect: {arm_dram_bytes: 0}\n", loads)).
			Play(t.Context(), Options{Unjudged: true, Stats: StatsFull})
		require.NoError(t, err)
		total := map[string]uint64{}
		for _, x := range p.Stats.Counters {
			total[x.Where+" "+x.What] = x.Total
		}
		return p, total
	}
	idle, without := play("")
	busy, with := play("{rate: {bytes: 10, ps: 8000}}")
	require.Len(t, idle.Findings, 1, "the Arm of this board has no cache: each access counts")
	require.Len(t, busy.Findings, 1)
	for _, what := range []string{"A Arm DRAM read", "A Arm DRAM written"} {
		require.Positive(t, without[what])
		require.InEpsilon(t, without[what], with[what], 0.1, "%s, without the load's bytes", what)
		require.Zero(t, without[what+" by loads"])
		require.Positive(t, with[what+" by loads"])
	}
	var a, b int
	for _, x := range []struct {
		p *Played
		n *int
	}{{idle, &a}, {busy, &b}} {
		_, err := fmt.Sscan(x.p.Findings[0].Got, x.n)
		require.NoError(t, err)
	}
	require.InEpsilon(t, a, b, 0.1)
}

// TestWrongStampsFail checks that impossible stamps make a run fail, with a finding in domain `run`.
func TestWrongStampsFail(t *testing.T) {
	w := &world{c: caseOf(t, onRNICs), o: &Options{}}
	w.measured = &measured{Recorder: stats.New(stats.Config{
		Workloads: []stats.Workload{{Flows: make([]stats.Flow, 1), Messages: 1}}}, 0)}
	w.measured.OnWire(0, 0, false, 0)
	p := &Played{Case: w.c}
	require.NoError(t, w.figures(p))
	require.Len(t, p.Findings, 1)
	require.Equal(t, result.Run, p.Findings[0].Domain)
	const text = "wire of message 0 of flow 0 at 0ps: it has not been posted: want its post before"
	require.Equal(t, "statistics: an impossible stamp: "+text, texts(p))
	w.measured.OnWire(0, 0, false, 0)
	p = &Played{Case: w.c}
	require.NoError(t, w.figures(p))
	require.Equal(t, "statistics: 2 impossible stamps, the first: "+text, texts(p))
}

// TestFiguresRefused checks that figures that a workload cannot have are refused by line and field.
func TestFiguresRefused(t *testing.T) {
	const flexins = "board: {preset: bf3-cores-pair}\nstacks: [{kind: flexins}]\n"
	for _, x := range [][2]string{
		{onRNICs + "workload: {count: 999}\nexpect: {p99: {below: 1us}}",
			"test.yaml:6: expect.p99: 999 messages of each size: want 1000 or more for a tail, by " +
				"workload.count"},
		{onRNICs + "workload: {count: 1999, sizes: [1, 2]}\nexpect: {p999: {below: 1us}}",
			"test.yaml:6: expect.p999: 999 messages of each size: want 1000 or more for a tail, by workload.count"},
		{onRNICs + "workload: {kind: write}\nexpect: {p50: {below: 1us, to: hand_over}}",
			`test.yaml:6: expect.p50.to "hand_over": messages of kind write over rc have stamps ` +
				`of completion, wire: want one of these`},
		{onRNICs + "workload: {kind: send}\nexpect: {p50: {below: 1us, to: answer}}",
			`test.yaml:6: expect.p50.to "answer": messages of kind send over rc have stamps of hand_over, ` +
				"completion, wire: want one of these"},
		{onRNICs + "workload: {kind: echo, transport: ud}\nexpect: {p50: {below: 1us, to: wire}}",
			`test.yaml:6: expect.p50.to "wire": answers over ud are not followed on the wire: want answer, or ` +
				"workload.transport rc"},
		{onRNICs + "workload: {kind: ping_pong, transport: uc, depth: 1}\nexpect: {max: {below: 1us, to: wire}}",
			`test.yaml:6: expect.max.to "wire": answers over uc are not followed on the wire: want answer`},
		{flexins + "workload: {kind: list_walk, by: reads, sizes: [64]}\nexpect: {p50: {below: 1us, to: wire}}",
			"test.yaml:6: expect.p50.to \"wire\": messages of kind list_walk over rc have stamps of completion: want " +
				"one of these"},
		{onRNICs + "workload: {kind: send}\nexpect:\n  p50:\n    to: wire",
			"test.yaml:7: expect.p50: no bound: want below, a time such as 12us"},
		{onRNICs + "expect: {p50: {below: 12}}",
			`test.yaml:5: expect.p50.below: "12": no unit: want ps, ns, us, ms or s behind it`},
		{onRNICs + "expect: {throughput: {above: 1Gbps}}",
			"test.yaml:5: expect.throughput: 64 messages: want 625 or more, of which the warm " +
				"window has 80%, by workload.count"},
		{onRNICs + "expect: {throughput: {above: 1Gbps}}\nmeasure: {window: 1ms}",
			"test.yaml:5: expect.throughput: 64 messages: want 500 or more, in the window, by workload.count"},
		{onRNICs + "expect: {throughput: {}}\nworkload: {count: 800}",
			"test.yaml:5: expect.throughput: none: want above or below, a rate such as 180Gbps"},
		{onRNICs + "expect: {throughput: {above: 2Gbps, below: 1Gbps}}",
			"test.yaml:5: expect.throughput.below 1Gbps: want more than above"},
		{onRNICs + "expect: {throughput: {above: 1Gbps}}\nworkload: {count: 800, sizes: [0]}",
			"test.yaml:5: expect.throughput: messages have no bytes: want workload.sizes"},
		{onRNICs + "expect: {arm_dram_bytes: 0}",
			"test.yaml:5: expect.arm_dram_bytes: no stack runs on an Arm: want one of kind flexins"},
		{flexins + "expect: {arm_dram_bytes: 0}",
			"test.yaml:5: expect.arm_dram_bytes: 64 messages: want 625 or more, of which the warm window has 80%, by " +
				"workload.count"},
		{onRNICs + "expect: {p42: {below: 1us}}", "test.yaml:5: expect.p42: no such field"},
		{onRNICs + "measure: {warm_up: 1us}",
			"test.yaml:5: measure.warm_up: conflicts with a value that the file does not set: measure.window: none: " +
				"want the length of the window behind measure.warm_up"},
		{onRNICs + "measure: {window: 1ms, batches: 3}",
			"test.yaml:5: measure.batches 3: want 4 to 20, or none for 20"},
		{onRNICs + "measure: {window: 1ms, batches: 21}",
			"test.yaml:5: measure.batches 21: want 4 to 20, or none for 20"},
		{onRNICs + "measure: {window: 1ms, latency: 3}",
			"test.yaml:5: measure.latency: \"3\": want true or false"},
		{onRNICs + "measure: {window: 1ms, latencies: true}",
			"test.yaml:5: measure.latencies: no such field: want one of warm_up, window, latency, batches"},
		{onRNICs + "measure: {warm_up: 1s, window: 9223372s}\nlimits: {traffic: 20s}",
			"test.yaml:5: measure.window 9223372s: want it to end before the traffic must, after 20s (limits.traffic)"},
		{onRNICs + "measure: {warm_up: 20s, window: 1us}\nlimits: {traffic: 20s}",
			"test.yaml:5: measure.warm_up 20s: want it to end before the traffic must, after 20s (limits.traffic)"},
		{onRNICs + "measure: {warm_up: 9223372s, window: 9223372s}", "test.yaml:5: measure.warm_up 9223372s: want"},
		{onRNICs + "sweep: {workload.count: [2000, 999]}\nexpect: {p99: {below: 1us}}",
			"case test:count=999: expect.p99: 999 messages of each size: want 1000 or more for a tail"},
	} {
		_, err := Parse("test.yaml", []byte("name: test\ndescription: a test\n"+x[0]))
		require.ErrorContains(t, err, x[1], x[0])
	}
}

// TestFiguresOfSweeps checks that figures are checked against the cases of a sweep, and not against the workload that
// it begins with.
func TestFiguresOfSweeps(t *testing.T) {
	list, err := Parse("test.yaml", []byte("name: test\ndescription: a test\n"+onRNICs+
		"sweep: {workload.count: [2000, 3000]}\nexpect: {p99: {below: 1ms}, throughput: {above: 1Mbps}}"))
	require.NoError(t, err)
	require.Len(t, list, 2)
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
