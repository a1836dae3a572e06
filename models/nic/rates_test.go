package nic

import (
	"math/rand/v2"
	"testing"

	"github.com/stretchr/testify/require"

	"nictwin/models/nic/boundary"
	"nictwin/models/nic/nicspec"
	"nictwin/models/nic/nictest"
	"nictwin/models/sim/simcore"
)

// pace measures the mean number of cycles between crossings of a kind. The first `runIn` crossings do
// not count.
type pace struct {
	n           int
	first, last int64
}

const runIn = 100

func (p *pace) note(cycle int64) {
	if p.n == runIn {
		p.first = cycle
	}
	p.last = cycle
	p.n++
}

func (p *pace) cycles() float64 { return float64(p.last-p.first) / float64(p.n-1-runIn) }

// TestRates checks the cycles per frame when the other side holds nothing back [C4]. 100 Mpps is a
// frame every 4 cycles.
func TestRates(t *testing.T) {
	for _, c := range []struct {
		n      int
		rx, tx float64
	}{
		{64, 4, 4}, {256, 4, 4}, {257, 5, 5}, {1500, 24, 24}, {9000, 141, 141},
	} {
		o := defaultRig()
		o.quiet = true
		o.link = simcore.LinkSpec{Latency: 50 * simcore.Nanosecond, Credits: 256}
		r := openedTx(t, o)
		h := r.host
		h.Write32(nicspec.RegRxDefault, rxDefaultQueue0)
		h.OpenRx(0, 10, nil)
		for range 1000 {
			h.Post(0, 0, 0x0100_0000_7000_0000+uint64(h.Rx[0].PI)*0x4000)
		}
		h.RingRx(0)
		r.run()
		var in, out pace
		r.trace = func(x boundary.Crossing) {
			switch x.Kind {
			case boundary.FrameIn:
				in.note(x.Last)
			case boundary.FrameOut:
				out.note(x.Last)
			}
		}
		frame := nictest.Pattern(c.n, 1)
		count := 1000
		if c.n == 64 {
			count = 600 // few enough for the receive buffer
		}
		for range count {
			r.peers[0].send(frame)
		}
		r.run()
		require.EqualValues(t, count, r.nic.Regs().Port(nicspec.CntRxDelivered, 0), "%d B", c.n)
		for q := range 8 {
			h.OpenTx(q, 8)
		}
		for q := range 8 {
			for range 200 {
				h.PostWqe(q, nictest.Wqe(1, nil, []nictest.Piece{{Key: testKey, Addr: 0, N: c.n}},
					func(w nicspec.Wqe) { w.SetFComplete(false) }))
			}
			h.RingTx(q)
		}
		r.peers[0].drop = true
		r.run()
		t.Logf("%d B: a frame in every %.2f cycles, out every %.2f", c.n, in.cycles(), out.cycles())
		if c.n != 64 {
			require.LessOrEqual(t, in.cycles(), c.rx, "%d B in", c.n)
		}
		require.LessOrEqual(t, out.cycles(), c.tx, "%d B out", c.n)
	}
}

// TestSmallFrameRate: frames of 64 B back to back overflow the receive buffer, but more than 100
// Mpps are delivered.
func TestSmallFrameRate(t *testing.T) {
	o := defaultRig()
	o.quiet = true
	o.link = simcore.LinkSpec{Latency: 50 * simcore.Nanosecond, Credits: 256}
	r := openedRx(t, o)
	h := r.host
	h.OpenRx(0, 12, nil)
	for range 4000 {
		h.Post(0, 0, 0x7000_0000+uint64(h.Rx[0].PI)*0x100)
	}
	h.RingRx(0)
	r.run()
	var p pace
	delivered := uint64(0)
	r.trace = func(x boundary.Crossing) {
		if d := r.nic.Regs().Port(nicspec.CntRxDelivered, 0); d != delivered {
			delivered = d
			p.note(x.Last)
		}
	}
	for range 6000 {
		r.peers[0].send(nictest.Pattern(64, 1))
	}
	r.run()
	t.Logf("64 B: a frame delivered every %.2f cycles, %d of 6000", p.cycles(), delivered)
	require.LessOrEqual(t, p.cycles(), 4.0)
}

// mixed draws n frame sizes, mostly of 256 B and more, and returns them with their total number of
// beats.
func mixed(n int, small bool) (sizes []int, beats int) {
	rng := rand.New(rand.NewPCG(uint64(n), 7))
	for range n {
		size := []int{256, 257, 314, 330}[rng.IntN(4)]
		if rng.IntN(20) == 0 {
			size = []int{512, 1500, 256 + rng.IntN(1245)}[rng.IntN(3)]
		}
		if small && rng.IntN(8) == 0 {
			size = 60 + rng.IntN(30)
		}
		sizes = append(sizes, size)
		beats += (size + 63) / 64
	}
	return sizes, beats
}

// TestMixedRates: with frame sizes in random order, one queue, and memory as distant as on a board,
// the NIC runs at line rate and drops nothing [C4].
func TestMixedRates(t *testing.T) {
	for _, small := range []bool{false, true} {
		o := defaultRig()
		o.quiet = true
		o.link = simcore.LinkSpec{Latency: 640 * simcore.Nanosecond, Credits: 4096}
		r := openedTx(t, o)
		h := r.host
		h.Write32(nicspec.RegRxDefault, rxDefaultQueue0)
		h.OpenRx(0, 12, nil)
		h.OpenTx(0, 12)
		var first, last int64
		kind := boundary.FrameIn
		r.trace = func(x boundary.Crossing) {
			if x.Kind == kind {
				if first == 0 {
					first = x.First
				}
				last = x.Last
			}
		}
		sizes, beats := mixed(3000, small)
		for range sizes {
			h.Post(0, 0, 0x0100_0000_7000_0000+uint64(h.Rx[0].PI)*0x4000)
		}
		h.RingRx(0)
		r.run()
		for _, n := range sizes {
			r.peers[0].send(nictest.Pattern(n, 1))
		}
		r.run()
		regs := r.nic.Regs()
		require.EqualValues(t, len(sizes), regs.Port(nicspec.CntRxDelivered, 0))
		require.EqualValues(t, beats, last-first+1, "no cycle is lost")

		first, last, kind = 0, 0, boundary.FrameOut
		r.peers[0].drop = true
		for _, n := range sizes {
			h.PostWqe(0, nictest.Wqe(1, nil, []nictest.Piece{{Key: testKey, Addr: 0, N: max(n, nicspec.FrameMin)}},
				func(w nicspec.Wqe) { w.SetFComplete(false) }))
		}
		h.RingTx(0)
		r.run()
		require.EqualValues(t, len(sizes), regs.Port(nicspec.CntTxFrames, 0))
		t.Logf("%d beats left in %d cycles", beats, last-first+1)
		require.LessOrEqual(t, float64(last-first+1), 1.02*float64(beats))
	}
}
