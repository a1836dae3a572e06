package ceio

import (
	"testing"

	"github.com/stretchr/testify/require"

	"nictwin/scenarios/papers/point"
	"nictwin/scenarios/papers/study"
	"nictwin/scenarios/run/stats"
)

// verbsOf returns a table with one size, of systems with a rate and tails each.
func verbsOf(t *testing.T, rates map[staticKey]float64, p99, p999 map[system]int64) *verbsTable {
	v := &verbsTable{s: session(t, &Verbs, 1), sizes: []int{tailSize}, at: map[staticKey]*point.Played{}}
	for k, r := range rates {
		v.at[k] = &point.Played{Name: string(k.x) + k.kind, Rate: stats.Rate{Gbps: r}}
	}
	for x := range p99 {
		v.at[staticKey{x, column, tailSize}].Times = []stats.Latency{{Measure: "answer", P99: new(p99[x] * 1e6),
			P999: new(p999[x] * 1e6)}}
	}
	return v
}

// Gains over UDP and over RDMA may differ by 15%. Latencies fall from system to system, in order.
func TestVerbsJudged(t *testing.T) {
	at := func(x system, kind string) staticKey { return staticKey{x, kind, tailSize} }
	rates := map[staticKey]float64{at(baseline, involved): 100, at(withCEIO, involved): 150, at(baseline, column): 10,
		at(withCEIO, column): 17, at(shRing, column): 12, at(hostCC, column): 11}
	v := verbsOf(t, rates, map[system]int64{baseline: 200, hostCC: 160, shRing: 150, withCEIO: 100},
		map[system]int64{baseline: 400, hostCC: 200, shRing: 90, withCEIO: 100})
	v.gains()
	v.tails()
	found := map[string]study.Measured{}
	for _, m := range v.s.Outcome.Measured {
		found[m.Claim] = m
	}
	require.True(t, found["ceio.e2e.dpdk_eq_rdma"].Holds, "1.5 and 1.7")
	require.Equal(t, []float64{2}, found["ceio.t2.ceio.erpc_rdma.p99.factor"].Values)
	require.Equal(t, []float64{4}, found["ceio.t2.ceio.erpc_rdma.p999.factor"].Values)
	require.Equal(t, "ShRing has 90 us, CEIO 100 us", found["ceio.t2.ceio.erpc_rdma.p999"].Broken)
	require.Equal(t, []float64{160}, found["ceio.t2.hostcc.erpc_rdma.p99"].Values)
	require.Empty(t, found["ceio.t2.hostcc.erpc_rdma.p99"].Broken)
	require.Equal(t, []float64{1.25}, found["ceio.t2.hostcc.erpc_rdma.p99.factor"].Values)
	require.Equal(t, []float64{2}, found["ceio.t2.hostcc.erpc_rdma.p999.factor"].Values)
	require.Len(t, found, len(Verbs.Claims))

	rates[at(withCEIO, column)] = 17.3
	v = verbsOf(t, rates, nil, nil)
	v.gains()
	require.False(t, v.s.Outcome.Measured[0].Holds, "1.5 and 1.73")
}

// CEIO has an account for each flow, ShRing a queue for all cores, and HostCC a threshold.
func TestVerbsScenes(t *testing.T) {
	s := session(t, &Verbs, 100)
	var scenes []*point.Scene
	for _, k := range allSystems {
		scenes = append(scenes, verbsScene(s, k, tailSize))
	}
	x := scenesOf(t, s, scenes...)
	for i, k := range allSystems {
		o := &x[i].Stacks[0].RNIC
		require.Equal(t, k == withCEIO, o.Accounts.Flows == staticFlows, k)
		require.Equal(t, k == hostCC, o.HostCC != nil, k)
	}
	require.EqualValues(t, 10, x[1].Stacks[0].RNIC.HostCC.OccupancyLines)
	w := x[2].AllWorkloads()[0]
	require.True(t, w.SharedReceive)
	require.EqualValues(t, "server", w.SharedReceiveBy)
	require.Equal(t, 512, w.Receives, "of 4,096 entries on eight cores")
	w = x[0].AllWorkloads()[0]
	require.Equal(t, []int{ring, repost, repost, repost}, []int{w.Receives, w.Batch, w.ReceiveBatch, w.SignalEvery},
		"as over UDP, a doorbell for a batch")
	require.LessOrEqual(t, 2*w.Depth+repost, w.Receives, "requests, answers not known to have ended, and a batch")
	require.Zero(t, (w.ReceiveBytes+64)%2048, "buffers are 2 KB apart")
}
