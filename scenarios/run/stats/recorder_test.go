package stats

import (
	"encoding/json"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"nictwin/models/sim/simcore"
)

const us = simcore.Microsecond

// echo records n requests of a flow, each with an answer, one after the other.
func echo(r *Recorder, flow, n int) {
	now := us
	for i := range n {
		req := Message{Flow: flow, Number: i, Kind: "echo", Bytes: 64}
		ans := Message{Flow: flow, Answer: true, Number: i, Kind: "echo", Bytes: 64}
		r.Posted(now, &req)
		r.OnWire(now+us, flow, false, i)
		r.HandedOver(now+2*us, &req)
		r.Posted(now+2*us, &ans)
		r.Completed(now+3*us, &req)
		r.HandedOver(now+4*us, &ans)
		r.Completed(now+5*us, &ans)
		now += 5 * us
	}
}

func find(t *testing.T, list []Latency, kind, to string) *Latency {
	t.Helper()
	for i := range list {
		if list[i].Kind == kind && list[i].Measure == to {
			return &list[i]
		}
	}
	t.Fatalf("no latency of %s to %s", kind, to)
	return nil
}

func TestStamps(t *testing.T) {
	r := New(Config{Workloads: []Workload{{Flows: []Flow{{"a", "b"}, {"b", "a"}}, Messages: 2000}}, EachFlow: true}, us)
	echo(r, 0, 1000)
	echo(r, 1, 10)
	s := r.Summary()
	wrong, _ := r.Wrong()
	require.Zero(t, wrong)
	for _, x := range []struct {
		kind, to string
		want     simcore.Ps
	}{{"echo", "wire", us}, {"echo", "hand_over", 2 * us}, {"echo", "completion", 3 * us}, {"echo", "answer", 4 * us},
		{"echo answer", "hand_over", 2 * us}, {"echo answer", "completion", 3 * us}} {
		l := find(t, s.Latency, x.kind, x.to)
		require.EqualValues(t, 1010, l.Count)
		require.InEpsilon(t, float64(x.want), l.Mean, 1e-12)
		require.EqualValues(t, x.want, l.Max)
		require.EqualValues(t, x.want, *l.P999)
		few := find(t, s.Flows[1].Latency, x.kind, x.to)
		require.EqualValues(t, 10, few.Count)
		require.Nil(t, few.P99, "ten samples have no tail")
		require.EqualValues(t, x.want, few.P90)
	}
	f := &s.Flows[0]
	require.True(t, f.Converged, f.Why)
	require.InEpsilon(t, 128*8e3/float64(5*us), f.Gbps, 0.01, "two messages of 64 B in 5 us")
	require.InEpsilon(t, 400_000, f.PerSecond, 0.01)
	require.False(t, s.Flows[1].Converged)
	require.Equal(t, "the warm window has 0 of 20 messages, in 0 batches of whole bursts: want 500 or more",
		s.Flows[1].Why)
	require.EqualValues(t, 2020-2000, s.Flows[1].Messages, "the rate is that of the whole traffic")
	require.Contains(t, s.String(), "flow 1, b to a")
	require.Contains(t, s.String(), "not converged")
}

func TestCompletionCountsWrites(t *testing.T) {
	r := New(Config{Workloads: []Workload{{Flows: []Flow{{"a", "b"}}, Messages: 10, AtCompletion: true}}}, 0)
	for i := range 10 {
		m := Message{Number: i, Kind: "write", Bytes: 100}
		r.Posted(simcore.Ps(i)*us, &m)
		r.Completed(simcore.Ps(i+1)*us, &m)
	}
	s := r.Summary()
	require.Equal(t, 10, s.Total.Messages)
	require.EqualValues(t, 1000, s.Total.Bytes)
	require.InEpsilon(t, 0.8, s.Total.Gbps, 1e-9)
	require.Len(t, s.Latency, 1)
}

func TestGivenWindow(t *testing.T) {
	run := func(w Window) Rate {
		r := New(Config{Workloads: []Workload{{Flows: []Flow{{"a", "b"}}, Messages: 4000, AtCompletion: true}},
			Window: &w}, 0)
		for i := range 4000 {
			m := Message{Number: i, Kind: "write", Bytes: 125}
			r.Posted(simcore.Ps(i)*us, &m)
			r.Completed(simcore.Ps(i+1)*us, &m)
		}
		return r.Summary().Total
	}
	x := run(Window{From: 100 * us, Length: 1000 * us})
	require.True(t, x.Converged, x.Why)
	require.Equal(t, 1000, x.Messages)
	require.InEpsilon(t, 1, x.Gbps, 1e-9)
	require.EqualValues(t, 100*us, x.From)
	require.EqualValues(t, 1100*us, x.To)
	require.Contains(t, run(Window{From: 100 * us, Length: 4000 * us}).Why, "the traffic ended after 4ms, before the "+
		"window")
	require.Contains(t, run(Window{From: 100 * us, Length: 100 * us}).Why, "100 messages in the window: want 500 or "+
		"more")
}

// Flows that take from each other have a sum that is better known than each, and flows that stall together one that is
// not.
func TestRateOfFlows(t *testing.T) {
	run := func(together bool) *Summary {
		w := Workload{Flows: []Flow{{"a", "b"}, {"c", "b"}}, Messages: 4000, AtCompletion: true}
		r := New(Config{Workloads: []Workload{w}, Window: &Window{Length: 2000 * us}}, 0)
		next := [2]int{}
		for i := range simcore.Ps(2001) {
			for k := range next {
				if busy := i/100%2 == 0; busy != (k == 0 || together) {
					continue
				}
				m := Message{Flow: k, Number: next[k], Kind: "write", Bytes: 125}
				next[k]++
				r.Posted(i*us, &m)
				r.Completed(i*us, &m)
			}
		}
		return r.Summary()
	}
	all := func(*FlowRate) bool { return true }
	first := func(f *FlowRate) bool { return f.Flow == 0 }
	a, b := run(false), run(true)
	require.True(t, a.RateOf(all).Converged)
	require.InEpsilon(t, 1, a.RateOf(all).Gbps, 1e-9)
	require.Equal(t, a.Flows[0].Rate, a.RateOf(first))
	require.InEpsilon(t, *b.Flows[0].Half+*b.Flows[1].Half, *b.RateOf(all).Half, 1e-9)
	require.Zero(t, a.RateOf(func(*FlowRate) bool { return false }))
	require.Zero(t, New(Config{}, 0).Summary().RateOf(all))
}

// The rate of flows without bytes is that of their messages, and among others they add none.
func TestRateOfEmptyFlows(t *testing.T) {
	with := func(name string, empty bool) Workload {
		return Workload{Name: name, Flows: []Flow{{"a", "b"}, {"c", "b"}}, Messages: 1000, AtCompletion: true,
			Empty: empty}
	}
	r := New(Config{Workloads: []Workload{with("nop", true), with("write", false)},
		Window: &Window{Length: 999 * us}}, 0)
	for i := range simcore.Ps(1000) {
		for k := range 4 {
			m := Message{Flow: k, Number: int(i), Kind: "any", Bytes: k / 2 * 125}
			r.Posted(i*us, &m)
			r.Completed(i*us, &m)
		}
	}
	s := r.Summary()
	empty := s.RateOf(func(f *FlowRate) bool { return f.Workload == "nop" })
	require.Zero(t, empty.Bytes)
	require.Zero(t, empty.Gbps)
	require.Nil(t, empty.Half)
	require.True(t, empty.Converged, empty.Why)
	require.NotNil(t, empty.HalfMessages)
	require.InEpsilon(t, 2e6, empty.PerSecond, 1e-9)
	require.Equal(t, s.Total, s.RateOf(func(*FlowRate) bool { return true }))
	r = New(Config{Workloads: []Workload{with("nop", true)}, Window: &Window{Length: 999 * us}}, 0)
	m := Message{Kind: "nop"}
	r.Posted(us, &m)
	r.Completed(2*us, &m)
	require.Contains(t, r.Summary().RateOf(func(*FlowRate) bool { return true }).Why, "the traffic ended after 2")
}

func TestUnsteady(t *testing.T) {
	r := New(Config{Workloads: []Workload{{Flows: []Flow{{"a", "b"}}, Messages: 4000, AtCompletion: true}}}, 0)
	now := simcore.Ps(0)
	for i := range 4000 {
		m := Message{Number: i, Kind: "write", Bytes: 125}
		r.Posted(now, &m)
		now += simcore.Ps(i) * simcore.Nanosecond // ever slower
		r.Completed(now, &m)
	}
	x := r.Summary().Total
	require.False(t, x.Converged)
	require.Contains(t, x.Why, "interval of the batch means of ±")
}

// TestWrongStamps checks that impossible stamps are counted, and are no part of the statistics.
func TestWrongStamps(t *testing.T) {
	r := New(Config{Workloads: []Workload{{Flows: []Flow{{"a", "b"}}, Messages: 4, AtCompletion: true}}}, 0)
	r.Completed(us, &Message{Number: 3, Kind: "write", Bytes: 1})
	r.OnWire(us, 0, true, 0)
	r.OnWire(us, 0, false, -1)
	n, first := r.Wrong()
	require.Equal(t, 3, n)
	require.Equal(t, "completion of message 3 of flow 0 at 1us: it has not been posted: want its post before", first)
	r.Posted(5*us, &Message{Number: 0, Kind: "write", Bytes: 1})
	r.Posted(6*us, &Message{Number: 0, Kind: "write", Bytes: 1})
	r.Completed(4*us, &Message{Number: 0, Kind: "write", Bytes: 1})
	n, _ = r.Wrong()
	require.Equal(t, 5, n, "posted twice, and completed before")
	require.Zero(t, r.Summary().Total.Messages)
	require.Empty(t, r.Summary().Latency)
}

// TestWrongStampsAreDescribed checks that the first impossible stamp is named, and corrected.
func TestWrongStampsAreDescribed(t *testing.T) {
	for want, stamp := range map[string]func(r *Recorder){
		"wire of answer 0 of flow 0 at 1us: it has not been posted: want its post before": func(r *Recorder) {
			r.OnWire(us, 0, true, 0)
		},
		"post of message 1 of flow 0 at 7us: a post of it or of a later one came before: want the posts of a flow's " +
			"messages in order, each once": func(r *Recorder) {
			r.Posted(7*us, &Message{Number: 1})
		},
		"completion of message 2 of flow 0 at 2us: it was posted at 5us: want that time or a " +
			"later one": func(r *Recorder) { r.Completed(2*us, &Message{Number: 2}) },
	} {
		r := New(Config{Workloads: []Workload{{Flows: []Flow{{"a", "b"}}, Messages: 4}}}, 0)
		r.Posted(5*us, &Message{Number: 2})
		stamp(r)
		n, first := r.Wrong()
		require.Equal(t, 1, n)
		require.Equal(t, want, first)
	}
}

// TestLateAnswers checks that a late answer counts where its flow has late ones, once, and a late request never.
func TestLateAnswers(t *testing.T) {
	late := func(flow int) bool { return flow == 1 }
	r := New(Config{Workloads: []Workload{{Flows: []Flow{{"c", "d"}}, Messages: 4},
		{Flows: []Flow{{"a", "b"}, {"a", "b"}}, Messages: 4, Late: late}}}, 0)
	for flow := range 3 {
		r.Posted(us, &Message{Flow: flow, Number: 2, Answer: true})
		r.Posted(us, &Message{Flow: flow, Number: 1, Answer: true})
	}
	n, _ := r.Wrong()
	require.Equal(t, 2, n, "flow 2 alone, the second one of its workload, may have late answers")
	r = New(Config{Workloads: []Workload{{Flows: []Flow{{"a", "b"}}, Messages: 4,
		Late: func(int) bool { return true }}}}, 0)
	for _, n := range []int{2, 1} {
		r.Posted(us, &Message{Number: n, Answer: true})
	}
	n, first := r.Wrong()
	require.Zero(t, n, first)
	r.Posted(2*us, &Message{Number: 1, Answer: true})
	n, first = r.Wrong()
	require.Equal(t, 1, n)
	require.Equal(t, "post of answer 1 of flow 0 at 2us: a post of it came before: want each message posted once",
		first)
	r.Posted(3*us, &Message{Number: 2})
	r.Posted(3*us, &Message{Number: 1})
	n, _ = r.Wrong()
	require.Equal(t, 2, n)
}

// TestAnswersOfHandlers checks the latency of answers that handlers send, which no application posts.
func TestAnswersOfHandlers(t *testing.T) {
	r := New(Config{Workloads: []Workload{{Flows: []Flow{{"a", "b"}}, Messages: 1, Handlers: true}}}, 0)
	r.Posted(us, &Message{Kind: "list_walk", Bytes: 64})
	r.HandedOver(3*us, &Message{Answer: true, Kind: "list_walk", Bytes: 64})
	n, first := r.Wrong()
	require.Zero(t, n, first)
	require.EqualValues(t, 2*us, find(t, r.Summary().Latency, "list_walk", "answer").Max)
}

// bursts records n messages that arrive in bursts of the given size, a microsecond apart. It returns the times at which
// the warm window begins and ends.
func bursts(n, size int) (r *Recorder, turns []simcore.Ps) {
	now := simcore.Ps(0)
	r = New(Config{Workloads: []Workload{{Flows: []Flow{{"a", "b"}}, Messages: n}},
		Turned: func() { turns = append(turns, now) }}, 0)
	for i := range n {
		if i%size == 0 {
			now += us
		}
		m := Message{Number: i, Kind: "send", Bytes: 125}
		r.Posted(now-us, &m)
		r.HandedOver(now, &m)
	}
	return r, turns
}

// TestTurns checks when a warm window that the recorder itself finds begins and ends, and that method Unusable reports
// a window that does not end.
func TestTurns(t *testing.T) {
	r, turns := bursts(1000, 1)
	require.Empty(t, r.Unusable())
	require.Equal(t, []simcore.Ps{102 * us, 902 * us}, turns, "the first message in the window, the first behind it")
	x := r.Summary().Total
	require.Equal(t, 800, x.Messages)
	require.EqualValues(t, 101*us, x.From, "the message before the window")
	require.EqualValues(t, 901*us, x.To)

	r, turns = bursts(640, 64)
	require.Len(t, turns, 1)
	require.Equal(t, "the warm window has 448 of 640 messages, in 7 batches of whole bursts: want 500 or more",
		r.Unusable())
	require.Equal(t, r.Unusable(), r.Summary().Total.Why)
	r, turns = bursts(1400, 64)
	require.Len(t, turns, 1)
	require.Contains(t, r.Unusable(), "batches of whole bursts when the traffic ended: want 20")
}

// TestHugeWindow checks that a window that no time reaches has no end.
func TestHugeWindow(t *testing.T) {
	r := New(Config{Workloads: []Workload{{Flows: []Flow{{"a", "b"}}, Messages: 1}},
		Window: &Window{From: simcore.Second, Length: 9_223_372 * simcore.Second}}, 0)
	r.Posted(0, &Message{Kind: "send", Bytes: 1})
	r.HandedOver(2*simcore.Second, &Message{Kind: "send", Bytes: 1})
	require.Equal(t, "the traffic ended after 2s, before the window", r.Unusable())
	require.EqualValues(t, simcore.MaxPs, r.Summary().Total.To)
}

// TestHalfWidth checks that the interval of a rate without any deviation has no width, in JSON, too, and that a step of
// the rate widens it.
func TestHalfWidth(t *testing.T) {
	at := func(pace func(i int) simcore.Ps) Rate {
		r := New(Config{Workloads: []Workload{{Flows: []Flow{{"a", "b"}}, Messages: 4000, AtCompletion: true}}}, 0)
		now := simcore.Ps(0)
		for i := range 4000 {
			m := Message{Number: i, Kind: "read", Bytes: 125}
			r.Posted(now, &m)
			now += pace(i)
			r.Completed(now, &m)
		}
		return r.Summary().Total
	}
	x := at(func(int) simcore.Ps { return 333_333 })
	require.True(t, x.Converged, x.Why)
	text, err := json.Marshal(x)
	require.NoError(t, err)
	require.Contains(t, string(text), `"half_width_gbps":0,`)
	x = at(func(i int) simcore.Ps { return map[bool]simcore.Ps{true: 1_000_000, false: 1_015_000}[i < 4000/3] })
	require.False(t, x.Converged, "a step of 1.5%")
	require.Contains(t, x.Why, "interval of the batch means of ±")
}

// The rate of messages without bytes is known by their number.
func TestEmptyMessages(t *testing.T) {
	r := New(Config{Workloads: []Workload{{Flows: []Flow{{"a", "b"}}, Messages: 1000, AtCompletion: true,
		Empty: true}}}, 0)
	for i := range 1000 {
		m, now := Message{Number: i, Kind: "nop"}, simcore.Ps(i)*250_000
		r.Posted(now, &m)
		r.Completed(now+100_000+simcore.Ps(i%2)*1000, &m)
	}
	x := r.Summary().Total
	require.True(t, x.Converged, x.Why)
	require.Zero(t, x.Gbps)
	require.Nil(t, x.Half)
	require.InDelta(t, 4e6, x.PerSecond, 1e4)
	require.Less(t, *x.HalfMessages, 1e4)
	require.Contains(t, r.Summary().String(), "/s\n")
}

func TestManyFlows(t *testing.T) {
	flows := make([]Flow, 100)
	s := New(Config{Workloads: []Workload{{Flows: flows, Messages: 1}}}, 0).Summary()
	require.Len(t, s.Flows, maxFlows)
	require.Equal(t, 36, s.FlowsLeftOut)
	require.Contains(t, s.String(), "and 92 more flows")
	all := New(Config{Workloads: []Workload{{Flows: flows, Messages: 1}}, EachFlow: true}, 0).Summary()
	require.Len(t, all.Flows, 100)
	text, err := json.Marshal(s)
	require.NoError(t, err)
	require.False(t, strings.Contains(string(text), "null"))
}

// TestDeterminism checks that the same stamps give the same summary each time, and that recording also the latencies of
// each flow changes no other figure.
func TestDeterminism(t *testing.T) {
	text := func(each bool) string {
		r := New(Config{Workloads: []Workload{{Flows: []Flow{{"a", "b"}, {"a", "b"}}, Messages: 600}},
			EachFlow: each}, 0)
		echo(r, 0, 300)
		echo(r, 1, 300)
		s := r.Summary()
		require.Equal(t, each, s.Flows[0].Latency != nil)
		s.Flows = nil
		b, err := json.Marshal(s)
		require.NoError(t, err)
		return string(b)
	}
	require.Equal(t, text(true), text(true))
	require.Equal(t, text(false), text(true))
}
