package cc

import (
	"testing"

	"github.com/stretchr/testify/require"
)

// bottleneck is a port shared by flows. Its queue drains at the port's rate. It marks like RED but without randomness:
// it adds up the marking probabilities until they amount to one packet.
type bottleneck struct {
	rate    float64 // B per µs
	queue   float64 // B
	due     []float64
	kmin    float64
	kmax    float64
	pmax    float64
	peak    float64
	drained float64
}

const packet = 1000

// step takes the bytes that flows sent in a microsecond and returns the flows with a marked packet.
func (b *bottleneck) step(bytes []float64) (marked []bool) {
	marked = make([]bool, len(bytes))
	p := 0.
	switch {
	case b.queue > b.kmax:
		p = 1
	case b.queue > b.kmin:
		p = b.pmax * (b.queue - b.kmin) / (b.kmax - b.kmin)
	}
	sum := 0.
	for i, n := range bytes {
		sum += n
		if b.due[i] += p * n / packet; b.due[i] >= 1 {
			b.due[i]--
			b.due[i] = min(b.due[i], 1)
			marked[i] = true
		}
	}
	before := b.queue + sum
	b.queue = max(before-b.rate, 0)
	b.drained += before - b.queue
	b.peak = max(b.peak, b.queue)
	return marked
}

// TestDCQCNIsFair checks that two DCQCN flows that start at different rates converge to fair shares of a 40 Gb/s port
// that stays utilized (DCQCN 5: K_min 5 KB, K_max 200 KB, P_max 1%).
func TestDCQCNIsFair(t *testing.T) {
	const line = 40 * Gbps
	flows := []*DCQCN{dcqcn(t, line), dcqcn(t, line)}
	var marks [2]*Marker
	for i := range marks {
		m, err := NewMarker(DefaultDCQCN(line))
		require.NoError(t, err)
		marks[i] = m
	}
	flows[1].Notified(0) // flow 1 starts at half the line rate
	b := &bottleneck{rate: 5000, due: make([]float64, 2), kmin: 5e3, kmax: 200e3, pmax: 0.01}
	const begin, end = 200_000, 400_000 // µs
	var got [2]float64
	for now := range Ps(end) {
		bytes := make([]float64, 2)
		for i, f := range flows {
			f.Tick(now * us)
			bytes[i] = float64(f.Rate()) / 8e6
			f.Sent(now*us, int(bytes[i]))
			if now >= begin {
				got[i] += bytes[i]
			}
		}
		if now == begin {
			b.drained = 0
		}
		for i, marked := range b.step(bytes) {
			if marks[i].Arrived(now*us, marked) {
				flows[i].Notified(now * us)
			}
		}
	}
	t.Logf("shares %.3f, used %.3f, longest queue %.0f B", got[0]/(got[0]+got[1]), b.drained/(5000*(end-begin)), b.peak)
	require.InDelta(t, 0.5, got[0]/(got[0]+got[1]), 0.05)
	require.Greater(t, b.drained/(5000*(end-begin)), 0.9)
}

// TestDCTCPIsFair checks that two DCTCP flows with very different windows converge to fair shares of a 10 Gb/s port
// that marks above K = 65 packets, and that the queue stays near K (DCTCP 4.1).
func TestDCTCPIsFair(t *testing.T) {
	const rtt, k, rate = 100, 65e3, 1250. // µs, B, B per µs
	a, b := dctcp(t, packet), dctcp(t, packet)
	a.window, a.threshold, b.threshold = 120*packet, 120*packet, 10*packet
	flows := []*DCTCP{a, b}
	queue, peak := 0., 0.
	var got [2]float64
	for round := range 20_000 {
		sum := float64(a.Window() + b.Window())
		queue = max(sum-rate*rtt, 0)
		if round > 10_000 {
			peak = max(peak, queue)
		}
		for i, f := range flows {
			n := int(f.Window() / packet)
			for range n {
				f.Sent(0, packet)
			}
			for j := range n { // the last packets of a round see the longest queue
				f.Acked(0, packet, queue*float64(j+1)/float64(n) > k)
			}
			if round > 10_000 {
				got[i] += float64(n)
			}
		}
	}
	share := got[0] / (got[0] + got[1])
	t.Logf("share %.3f, longest queue %.0f B", share, peak)
	require.InDelta(t, 0.5, share, 0.05)
	require.Less(t, peak, 2*k)
}
