package flexins

import (
	"slices"
	"testing"

	"github.com/stretchr/testify/require"

	"nictwin/models/sim/simcore"
	"nictwin/scenarios/papers/point"
	"nictwin/scenarios/papers/study"
	"nictwin/scenarios/run"
	"nictwin/scenarios/run/stats"
)

func session(t *testing.T, x *study.Experiment, percent int) *study.Session {
	t.Helper()
	s, err := study.NewSession(t.Context(), x, percent)
	require.NoError(t, err)
	return s
}

// A scene is a scenario file: its inputs reach the stack, and its window is the session's share of the usual one.
func TestScenesAreScenarios(t *testing.T) {
	s := session(t, &Connections, 50)
	c := connectionScene(s, 3)
	list, err := run.Parse("f.yaml", []byte(c.text(s)))
	require.NoError(t, err)
	require.Len(t, list, 1)
	x := &list[0].Spec
	require.EqualValues(t, c.window/2, x.Measure.Window)
	require.EqualValues(t, c.warm, x.Measure.WarmUp)
	require.Equal(t, 12, x.Stacks[0].FlexiNS.DataCores)
	require.EqualValues(t, 94, x.Stacks[0].FlexiNS.Data.Parse)
	require.Equal(t, 3, x.Workloads[0].Processes)

	for _, c := range []*scene{connectionsOfRNIC(s, 2), duplexScene(session(t, &Duplex, 1), staged, after),
		receiveScene(session(t, &Receive, 1), "naive", 4), sizeScene(session(t, &Sizes, 1), "send", 1, 64),
		sizeSceneOfRNIC(session(t, &Sizes, 1), "write", 64, 64), notifyScene(session(t, &Notify, 1), "mmio"),
		loneScene(session(t, &Notify, 1), "pipe", 0)} {
		_, err := run.Parse("f.yaml", []byte(c.text(s)))
		require.NoError(t, err, c.name)
	}
}

// The seed reaches the starts of flows, which are within a microsecond.
func TestStartsDependOnTheSeed(t *testing.T) {
	begins := map[simcore.Ps]bool{}
	for seed := range uint64(3) {
		s := session(t, &Connections, 100)
		s.Seed = seed + 1
		list, err := run.Parse("f.yaml", []byte(connectionScene(s, 3).text(s)))
		require.NoError(t, err)
		at := simcore.Ps(list[0].Spec.Workloads[0].Begin)
		require.Less(t, at, simcore.Microsecond)
		begins[at] = true
	}
	require.Len(t, begins, 3)
}

// Walks without latencies have no spread: that is an error, not a small spread.
func TestSpreadWantsLatencies(t *testing.T) {
	p := &played{Played: &point.Played{Name: "mute"}}
	_, err := p.end()
	require.ErrorContains(t, err, "mute: no latencies")
	p.Times = []stats.Latency{{Measure: "completion", P50: 5e6, P90: 7e6}}
	e, err := p.end()
	require.NoError(t, err)
	require.Equal(t, 2.0, e.spread)
}

// Staged payload goes around its ring before it is measured, at every size.
func TestWarmUpIsALap(t *testing.T) {
	s := session(t, &Transmit, 100)
	const ring = 32 << 20
	for _, n := range transmitSizes {
		c := &scene{name: "x", warm: lapOf(s, n)}
		p := &played{Played: &point.Played{}}
		p.Rate.Gbps = 8 * ring / float64(c.warm) * 1e3 // just a lap
		require.ErrorContains(t, checkLap(s, c, &played{Played: &point.Played{}}), "want a lap")
		p.Rate.Gbps *= 1.001
		require.NoError(t, checkLap(s, c, p))
		require.GreaterOrEqual(t, c.warm, 2*milli)
	}
}

// A point has rates and rates of DRAM in its window, and its run is recorded. Staged payload crosses the Arm's memory,
// gathered payload does not.
func TestPoint(t *testing.T) {
	s := session(t, &Transmit, 5)
	const warm = 50 * simcore.Microsecond
	all, err := play(s, &scene{name: "plain", stacks: stackOn(s, 2, "", ""), warm: warm, window: milli,
		workloads: []string{"name: a, kind: write, sizes: [4096], mtu: 4096",
			"name: b, from: 1, to: 0, kind: write, sizes: [4096], mtu: 4096"}},
		&scene{name: "staged", stacks: stackOn(s, 2, "", design(s, staged)), warm: 50 * simcore.Microsecond,
			window: milli, workloads: []string{"name: a, kind: write, sizes: [4096], mtu: 4096"}})
	require.NoError(t, err)
	require.Equal(t, []string{"plain", "staged"}, []string{s.Outcome.Runs[0].Name, s.Outcome.Runs[1].Name})
	a, b := all[0].Of(s, "a"), all[0].Of(s, "b")
	require.InEpsilon(t, all[0].Rate.Gbps, a.Gbps+b.Gbps, 1e-6)
	require.Equal(t, "plain, b", s.Outcome.Runs[3].Name)
	require.False(t, s.Outcome.Runs[3].Converged, "fewer than 500 messages")
	require.Less(t, all[0].arm[0], 0.5)
	require.Positive(t, all[0].host[0]+all[0].host[1])
	require.InEpsilon(t, all[1].Rate.Gbps, all[1].Of(s, "a").Gbps, 1e-6)
}

// A point whose scenario finds something wrong fails the experiment, with the name of the point.
func TestWrongPoints(t *testing.T) {
	s := session(t, &Transmit, 1)
	_, err := play(s, &scene{name: "odd", stacks: "{kind: flexins}", window: milli, workloads: []string{"kind: none"}})
	require.ErrorContains(t, err, "odd:")
	_, err = play(s, &scene{name: "lossy", stacks: "{kind: " +
		"flexins}", window: milli, payload: "fresh", workloads: []string{
		"kind: send, transport: uc"}, more: "faults: {wire: {seed: 1, chances: {loss: 0.2}}}\n"})
	require.ErrorContains(t, err, "lossy: ")
	_, err = play(s, &scene{name: "short", stacks: "{kind: flexins}", window: milli,
		passing: []string{"kind: send, count: 3"}})
	require.ErrorContains(t, err, "short: the traffic ended before the window")
}

// Experiments measure all of their claims at a hundredth of the usual windows, and the same again.
func TestExperiments(t *testing.T) {
	for _, x := range []*study.Experiment{&Notify, &Batch, &Reflector, &Walk} {
		times := 1
		if x == &Reflector || x == &Walk {
			times = 2
		}
		var first *study.Outcome
		for range times {
			s := session(t, x, 1)
			require.NoError(t, x.Run(s), x.Name)
			var claims []string
			for _, m := range s.Outcome.Measured {
				claims = append(claims, m.Claim)
			}
			require.ElementsMatch(t, x.Claims, claims)
			for name := range x.Pictures {
				named := func(y study.Series) bool { return y.Name == name }
				require.True(t, slices.ContainsFunc(s.Outcome.Series, named), name)
			}
			if first == nil {
				first = &s.Outcome
			}
			require.Equal(t, first.Series, s.Outcome.Series)
		}
	}
}

// Points of a design that a limit makes uneven have the same window at all sizes, and messages for all of it: a core
// sends none within 300 ns.
func TestStagedWindows(t *testing.T) {
	s := session(t, &Transmit, 100)
	for _, n := range transmitSizes {
		c := transmitScene(s, staged, n)
		require.Equal(t, transmitWindow(staged, 512), c.window)
		require.Greater(t, c.window, 3*transmitWindow(headerOnly, 4096))
		require.Greater(t, simcore.Ps(c.count)*300*simcore.Nanosecond, c.warm+c.window)
	}
	require.Contains(t, transmitSizes, 1<<16)
}
