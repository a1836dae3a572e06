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
	r := New(Config{Flows: []Flow{{"a", "b"}, {"b", "a"}}, Messages: 2000}, us)
	echo(r, 0, 1000)
	echo(r, 1, 10)
	s := r.Summary(true)
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
	require.Contains(t, s.Flows[1].Why, "20 messages: a warm window has 500 or more")
	require.EqualValues(t, 2020-2000, s.Flows[1].Messages, "the rate is that of the whole traffic")
	require.Contains(t, s.String(), "flow 1, b to a")
	require.Contains(t, s.String(), "not converged")
}

func TestCompletionCountsWrites(t *testing.T) {
	r := New(Config{Flows: []Flow{{"a", "b"}}, Messages: 10, AtCompletion: true}, 0)
	for i := range 10 {
		m := Message{Number: i, Kind: "write", Bytes: 100}
		r.Posted(simcore.Ps(i)*us, &m)
		r.Completed(simcore.Ps(i+1)*us, &m)
	}
	s := r.Summary(false)
	require.Equal(t, 10, s.Total.Messages)
	require.EqualValues(t, 1000, s.Total.Bytes)
	require.InEpsilon(t, 0.8, s.Total.Gbps, 1e-9)
	require.Len(t, s.Latency, 1)
}

func TestGivenWindow(t *testing.T) {
	run := func(w Window) Rate {
		r := New(Config{Flows: []Flow{{"a", "b"}}, Messages: 4000, AtCompletion: true, Window: &w}, 0)
		for i := range 4000 {
			m := Message{Number: i, Kind: "write", Bytes: 125}
			r.Posted(simcore.Ps(i)*us, &m)
			r.Completed(simcore.Ps(i+1)*us, &m)
		}
		return r.Summary(false).Total
	}
	x := run(Window{100 * us, 1000 * us})
	require.True(t, x.Converged, x.Why)
	require.Equal(t, 1000, x.Messages)
	require.InEpsilon(t, 1, x.Gbps, 1e-9)
	require.EqualValues(t, 100*us, x.From)
	require.EqualValues(t, 1100*us, x.To)
	require.Contains(t, run(Window{100 * us, 4000 * us}).Why, "the traffic ended after 4ms, before the window")
	require.Contains(t, run(Window{100 * us, 100 * us}).Why, "100 messages in the window: want 500 or more")
}

func TestUnsteady(t *testing.T) {
	r := New(Config{Flows: []Flow{{"a", "b"}}, Messages: 4000, AtCompletion: true}, 0)
	now := simcore.Ps(0)
	for i := range 4000 {
		m := Message{Number: i, Kind: "write", Bytes: 125}
		r.Posted(now, &m)
		now += simcore.Ps(i) * simcore.Nanosecond // ever slower
		r.Completed(now, &m)
	}
	x := r.Summary(false).Total
	require.False(t, x.Converged)
	require.Contains(t, x.Why, "95% interval of ±")
}

// TestMessagesThatWereNotPosted must neither panic nor count.
func TestMessagesThatWereNotPosted(t *testing.T) {
	r := New(Config{Flows: []Flow{{"a", "b"}}, Messages: 4, AtCompletion: true}, 0)
	r.Completed(us, &Message{Number: 3, Kind: "write", Bytes: 1})
	r.OnWire(us, 0, true, 0)
	r.OnWire(us, 0, false, -1)
	require.Zero(t, r.Summary(true).Total.Messages)
}

func TestManyFlows(t *testing.T) {
	flows := make([]Flow, 100)
	r := New(Config{Flows: flows, Messages: 1}, 0)
	s := r.Summary(false)
	require.Len(t, s.Flows, maxFlows)
	require.Equal(t, 36, s.FlowsLeftOut)
	require.Contains(t, s.String(), "and 92 more flows")
	require.Len(t, r.Summary(true).Flows, 100)
	text, err := json.Marshal(s)
	require.NoError(t, err)
	require.False(t, strings.Contains(string(text), "null"))
}

// TestDeterminism records the same stamps twice.
func TestDeterminism(t *testing.T) {
	text := func() string {
		r := New(Config{Flows: []Flow{{"a", "b"}, {"a", "b"}}, Messages: 600}, 0)
		echo(r, 0, 300)
		echo(r, 1, 300)
		b, err := json.Marshal(r.Summary(true))
		require.NoError(t, err)
		return string(b)
	}
	require.Equal(t, text(), text())
}
