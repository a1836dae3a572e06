package stats

import (
	"math/rand/v2"
	"slices"
	"testing"

	"github.com/stretchr/testify/require"

	"nictwin/models/sim/simcore"
)

// TestEveryMeasureAgainstSort stamps requests and answers of random latencies, and compares each measure with a naive
// sort of the same times.
func TestEveryMeasureAgainstSort(t *testing.T) {
	const n = 3000
	rng := rand.New(rand.NewPCG(3, 4))
	r := New(Config{Workloads: []Workload{{Flows: []Flow{{"A", "B"}}, Messages: 2 * n}}}, 0)
	want := map[string][]int64{}
	add := func(kind string, measure int, from, to simcore.Ps) {
		key := kind + " to " + Measures[measure]
		want[key] = append(want[key], int64(to-from))
	}
	at := simcore.Ps(0)
	step := func() simcore.Ps { return 1 + simcore.Ps(rng.ExpFloat64()*float64(simcore.Microsecond)) }
	for i := range n {
		at += 100 * simcore.Microsecond
		posted := at
		m := Message{Number: i, Kind: "echo", Bytes: 64}
		r.Posted(posted, &m)
		now := posted + step()
		r.OnWire(now, 0, false, i)
		add("echo", ToWire, posted, now)
		now += step()
		r.Completed(now, &m)
		add("echo", ToCompletion, posted, now)
		now += step()
		r.HandedOver(now, &m)
		add("echo", ToHandOver, posted, now)
		answered := now
		a := Message{Number: i, Kind: "echo", Bytes: 64, Answer: true}
		r.Posted(answered, &a)
		now += step()
		r.OnWire(now, 0, true, i)
		add("echo answer", ToWire, answered, now)
		now += step()
		r.HandedOver(now, &a)
		add("echo answer", ToHandOver, answered, now)
		add("echo", RoundTrip, posted, now)
		now += step()
		r.Completed(now, &a)
		add("echo answer", ToCompletion, answered, now)
	}
	wrong, first := r.Wrong()
	require.Zero(t, wrong, first)
	s := r.Summary()
	require.Len(t, s.Latency, len(want))
	for i := range s.Latency {
		l := &s.Latency[i]
		list := want[l.Kind+" to "+l.Measure]
		require.Len(t, list, int(l.Count), "%s to %s", l.Kind, l.Measure)
		slices.Sort(list)
		for p, got := range map[float64]int64{50: l.P50, 90: l.P90, 99: *l.P99, 99.9: *l.P999, 100: l.Max} {
			sample := float64(list[int(p/100*n+0.5)-1])
			require.GreaterOrEqual(t, float64(got), sample, "%s to %s: p%v", l.Kind, l.Measure, p)
			require.LessOrEqual(t, float64(got), sample*1.001, "%s to %s: p%v", l.Kind, l.Measure, p)
		}
	}
}

// Latencies are of the window alone, if that is wanted: of messages that end there, whenever they were posted.
func TestLatenciesOfAWindow(t *testing.T) {
	for within, want := range map[bool][3]int64{false: {10, 0, 9}, true: {3, 2, 4}} {
		const begin = 5 * us
		r := New(Config{Workloads: []Workload{{Flows: []Flow{{"a", "b"}}, Messages: 10, AtCompletion: true}},
			Window: &Window{From: 4 * us, Length: 5 * us}, Within: within}, begin)
		for i := range simcore.Ps(10) {
			m := Message{Number: int(i), Kind: "write", Bytes: 125}
			r.Posted(begin+i*us, &m)
			r.Completed(begin+2*i*us, &m)
		}
		l := r.Summary().Latency[0]
		require.Equal(t, want[0], l.Count)
		require.EqualValues(t, want[2]*int64(us), l.Max)
		require.InDelta(t, float64(want[1]+want[2])/2*float64(us), l.Mean, 1)
	}
}

// A flow that posts its last request before the window ends makes each rate that it is part of unknown, and no other:
// the rest of the window has too few of its messages.
func TestFlowsThatRunOut(t *testing.T) {
	run := func(requests int, every simcore.Ps) *Summary {
		w := Workload{Flows: []Flow{{"a", "b"}, {"c", "b"}}, Messages: 2100, Requests: requests, AtCompletion: true,
			CountField: "workload.count", Every: every}
		r := New(Config{Workloads: []Workload{w}, Window: &Window{From: 100 * us, Length: 2000 * us}}, us)
		for i := range 2101 {
			for k := range 2 {
				m := Message{Flow: k, Number: i, Kind: "write", Bytes: 125}
				if at := us + simcore.Ps(i)*us; k == 0 || i < 2000 {
					r.Posted(at, &m)
					r.Completed(at, &m)
				}
			}
		}
		return r.Summary()
	}
	whole := func(s *Summary, first int) Rate { return s.RateOf(func(f *FlowRate) bool { return f.Flow >= first }) }
	const want = "flow 0 posted the last of its 1500 requests after 1.499ms, before the window ends after 2.1ms: " +
		"want a higher workload.count"
	out := run(1500, 600*us)
	for _, r := range []Rate{out.Total, out.Flows[0].Rate, whole(out, 0)} {
		require.False(t, r.Converged)
		require.Equal(t, want, r.Why)
	}
	require.Contains(t, whole(out, 1).Why, "the traffic ended after")
	require.Empty(t, run(0, 0).Flows[0].Why)
	require.Empty(t, run(2101, 0).Flows[0].Why, "the last one is posted as the window ends")
	require.Empty(t, run(1500, 601*us).Flows[0].Why, "another one would be due as the window ends")
}
