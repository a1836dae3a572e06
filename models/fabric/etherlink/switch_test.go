package etherlink

import (
	"testing"

	"github.com/sarchlab/akita/v3/sim"
	"github.com/stretchr/testify/require"

	"nictwin/models/fabric/etherlink/core"
	"nictwin/models/format/msg"
	"nictwin/models/sim/simcore"
)

func mbps(l LinkSpec, n int64) LinkSpec { l.Mbps = n; return l }

// TestLatencyOfAnIdleSwitch compares with times computed by hand: 1,000 B and 24 B of overhead take
// 40.96 ns at 200 Gbps, 81.92 ns at 100 Gbps.
func TestLatencyOfAnIdleSwitch(t *testing.T) {
	const cable, inside = 10_000, 90_000
	fast, slow := DefaultLink(), mbps(DefaultLink(), 100_000)
	for _, x := range []struct {
		name string
		mode Mode
		from LinkSpec
		to   LinkSpec
		want simcore.Ps
	}{
		{"cut-through", CutThrough, fast, fast, cable + inside + 40_960 + cable},
		{"store and forward", StoreForward, fast, fast, 40_960 + cable + inside + 40_960 + cable},
		{"cut-through to a slower port", CutThrough, fast, slow, cable + inside + 81_920 + cable},
		{"to a faster port it is stored", CutThrough, slow, fast, 81_920 + cable + inside + 40_960 + cable},
	} {
		t.Run(x.name, func(t *testing.T) {
			bothEngines(t, func(t *testing.T, e sim.Engine) {
				spec := fixed(Default(2))
				spec.Mode = x.mode
				r := newRig(t, e, spec, x.from, x.to)
				r.hosts[1].keep = true
				f := frame(1, 2, 1000, 0, 1)
				r.send(0, f)
				r.run()
				require.Equal(t, []simcore.Ps{x.want}, r.hosts[1].at)
				require.Equal(t, [][]byte{f}, r.hosts[1].got)
			})
		})
	}
}

// A frame that takes longer to arrive than the pipeline's latency must have begun to leave before
// its last bit arrives.
func TestCutThroughBeginsInThePast(t *testing.T) {
	r := newRig(t, simcore.NewEngine(), fixed(Default(2)), DefaultLink())
	r.hosts[1].keep = true
	r.send(0, frame(1, 2, 9216, 0, 1), frame(1, 2, 9216, 0, 1))
	r.run()
	const wire = (9216 + 24) * 40
	require.Equal(t, []simcore.Ps{wire + 110_000, 2*wire + 110_000}, r.hosts[1].at)
}

// Rates must not accumulate rounding errors: 1,000 frames of 1,001 B at 300 Gbps take 1,025 x 8/300
// ns each, which is no whole number of picoseconds.
func TestRateIsExact(t *testing.T) {
	r := newRig(t, simcore.NewEngine(), fixed(Default(2)), mbps(DefaultLink(), 300_000))
	r.hosts[1].keep = true
	r.stream(0, 1000, frame(1, 2, 1001, 0, 1))
	r.run()
	require.Equal(t, simcore.Ps((1000*1025*8*1000+299)/300+110_000), r.hosts[1].at[999])
}

func TestAddressesAreLearnt(t *testing.T) {
	r := newRig(t, simcore.NewEngine(), Default(4), DefaultLink())
	r.send(0, frame(1, 2, 100, 0, 1)) // unknown destination: flooded to all hosts
	r.run()
	r.send(1, frame(2, 1, 100, 0, 1)) // host 1's address was learnt from its frame
	r.run()
	r.send(2, frame(3, 2, 100, 0, 1))
	r.run()
	r.send(0, frame(1, 1, 100, 0, 1), frame(1, 0xff, 9217, 0, 1), make([]byte, 13))
	group := frame(4, 0, 100, 0, 1)
	group[0] = 1
	bridge := append([]byte{1, 0x80, 0xc2, 0, 0, 2}, group[6:]...)
	r.send(3, group, bridge)
	r.run()
	var got []int
	for _, h := range r.hosts {
		got = append(got, h.bytes)
	}
	require.Equal(t, []int{200, 300, 200, 100}, got)
	require.Equal(t, 4, r.sw.Addresses())
	for why, frames := range map[core.Reason]uint64{core.Local: 1, core.Oversize: 1, core.Runt: 1, core.Filtered: 1,
		core.None: 4} {
		require.Equal(t, frames, r.sw.Dropped(why).Frames, why)
	}
	require.EqualValues(t, 2, r.sw.Counters(0).Made.Frames)
}

// incast returns a rig in which all hosts send to host 0 at once.
func incast(t *testing.T, e sim.Engine, spec Spec, class uint8, count int) *rig {
	r := newRig(t, e, fixed(spec), DefaultLink())
	for i := 1; i < spec.Ports; i++ {
		r.stream(i, count, frame(byte(i+1), 1, 4096, class, uint16(i)))
	}
	return r
}

func TestIncastIsLosslessWithPFC(t *testing.T) {
	var sums [2]uint64
	bothEngines(t, func(t *testing.T, e sim.Engine) {
		r := incast(t, e, Default(13), RoCEClass, 200)
		sum := r.digest()
		r.run()
		require.Zero(t, r.sw.Dropped(core.None))
		require.Equal(t, 12*200*4096, r.hosts[0].bytes)
		c := r.sw.Counters(0)
		require.NotZero(t, c.Marked)
		require.EqualValues(t, c.Marked, r.hosts[0].ce)
		for _, h := range r.hosts[1:] {
			require.NotZero(t, h.pauses)
		}
		if sums[0] == 0 {
			sums[0] = sum()
		}
		sums[1] = sum()
	})
	require.Equal(t, sums[0], sums[1], "the engines agree")
	r := incast(t, simcore.NewEngine(), Default(13), RoCEClass, 200)
	sum := r.digest()
	r.run()
	require.Equal(t, sums[0], sum(), "and so do two runs")
}

// Without PFC, a queue must grow up to its threshold (half of the buffer, with Alpha 1). The excess
// must be dropped, in equal shares of all senders.
func TestIncastDropsWithoutPFC(t *testing.T) {
	spec := Default(13)
	spec.Classes[RoCEClass].PFC = core.PFC{}
	spec.BufferBytes = 1 << 20
	peak := 0
	r := incast(t, simcore.NewEngine(), spec, RoCEClass, 400)
	r.hosts[0].log = func(*host, frameMsg) { peak = max(peak, r.sw.Queued(0, RoCEClass)) }
	r.run()
	require.NotZero(t, r.sw.Dropped(core.Threshold).Frames)
	require.Equal(t, r.sw.Dropped(core.None), r.sw.Dropped(core.Threshold))
	require.InDelta(t, 1<<19, peak, 2*4096)
	for i := 2; i <= 13; i++ {
		require.InEpsilon(t, float64(r.hosts[0].bytes)/12, r.hosts[0].from[byte(i)], 0.1, "host %d", i)
	}
}

// Senders that ignore pauses must overrun the headroom; the drops must be counted under that
// reason.
func TestHeadroomEnds(t *testing.T) {
	r := newRig(t, simcore.NewEngine(), fixed(Default(13)), DefaultLink())
	for i := 1; i < 13; i++ {
		r.hosts[i].polite = false
		r.stream(i, 200, frame(byte(i+1), 1, 4096, RoCEClass, uint16(i)))
	}
	r.run()
	require.NotZero(t, r.sw.Dropped(core.Headroom).Frames)
	require.Equal(t, r.sw.Dropped(core.None), r.sw.Dropped(core.Headroom))
}

// With PFC, senders that share an output must get equal shares of it.
func TestPausedSendersAreServedAlike(t *testing.T) {
	r := incast(t, simcore.NewEngine(), Default(13), RoCEClass, 1<<30)
	r.stop(simcore.Millisecond)
	for i := 2; i <= 13; i++ {
		require.InEpsilon(t, float64(r.hosts[0].bytes)/12, r.hosts[0].from[byte(i)], 0.05, "host %d", i)
	}
	require.InEpsilon(t, 200*4096.0/4120, float64(r.hosts[0].bytes)*8/1_000_000, 0.01,
		"Gbps: the output is busy throughout")
}

// A pause frame must stop exactly its class, for exactly its time.
func TestSwitchObeysPauses(t *testing.T) {
	r := newRig(t, simcore.NewEngine(), fixed(Default(2)), DefaultLink())
	r.hosts[1].keep = true
	r.send(1, pauseFrame(1<<RoCEClass, 1000)) // 1,000 quanta of 512 bits at 200 Gbps: 2,560 ns
	r.send(0, frame(1, 2, 9216, 0, 1), frame(1, 2, 1000, RoCEClass, 1), frame(1, 2, 1000, 0, 1))
	r.run()
	const crossed = 10_000 + 90_000 // time of the pause frame on cable and pipeline, in ps
	const first, other = 9240*40 + 110_000, (9240+2*1024)*40 + 110_000
	require.Equal(t, []simcore.Ps{first, other, crossed + 2_560_000 + 1024*40 + 10_000}, r.hosts[1].at)
	require.EqualValues(t, RoCEClass, r.hosts[1].got[2][15]>>5, "the other class goes first")
	require.Equal(t, simcore.Ps(2_560_000), r.sw.Paused(1, RoCEClass))
	require.EqualValues(t, 1, r.sw.Counters(1).PausesIn.Frames)
}

// Strict classes must be sent first; the others must share the rate by weight.
func TestScheduling(t *testing.T) {
	spec := fixed(Default(4))
	spec.Classes[1].Weight, spec.Classes[2].Weight, spec.Classes[5].Weight = 1, 3, 0
	r := newRig(t, simcore.NewEngine(), spec, DefaultLink())
	by := map[uint8]int{}
	r.hosts[0].log = func(_ *host, f frameMsg) { by[f.Data[15]>>5] += len(f.Data) }
	slow := 0
	r.stream(1, 1<<30, frame(2, 1, 1500, 1, 1))
	r.stream(2, 1<<30, frame(3, 1, 900, 2, 1))
	r.hosts[3].refill = nil
	for range 50 {
		r.send(3, frame(4, 1, 1000, 5, 1))
		slow += 1000
	}
	r.stop(50 * simcore.Microsecond)
	require.Equal(t, slow, by[5])
	require.InEpsilon(t, 3, float64(by[2])*924/900/(float64(by[1])*1524/1500), 0.05)
}

// Flows to a LAG must use all of its ports; each flow must keep its port and its order.
func TestLAG(t *testing.T) {
	spec := Default(4)
	spec.LAGs = [][]int{{1, 2}}
	spec.Table = []core.Entry{{MAC: core.MAC{2, 0, 0, 0, 0, 9}, Port: 2}}
	r := newRig(t, simcore.NewEngine(), spec, DefaultLink())
	seen := map[[2]byte]map[int]bool{}
	for i, h := range r.hosts {
		h.log = func(_ *host, f frameMsg) {
			flow := [2]byte(f.Data[34:36])
			if seen[flow] == nil {
				seen[flow] = map[int]bool{}
			}
			seen[flow][i] = true
		}
	}
	for flow := range uint16(64) {
		r.send(0, frame(1, 9, 200, 0, flow), frame(1, 9, 300, 0, flow))
	}
	r.run()
	require.Len(t, seen, 64)
	for flow, ports := range seen {
		require.Len(t, ports, 1, flow)
	}
	a, b := r.hosts[1].bytes, r.hosts[2].bytes
	require.Equal(t, 64*500, a+b)
	require.InDelta(t, a, b, 64*500/4)
	require.Zero(t, r.hosts[3].bytes)
	r.send(1, frame(9, 0xee, 100, 0, 1)) // flooded to all ports except those of the LAG where it entered
	r.run()
	require.Equal(t, []int{100, a, b, 100}, []int{r.hosts[0].bytes, r.hosts[1].bytes, r.hosts[2].bytes,
		r.hosts[3].bytes})
}

// A frame that stands for a packet with another framing on the wire (ether.Frame.Trim), such as InfiniBand's,
// must be counted with that packet's bytes at every port that it is copied to.
func TestFramingsOfCopies(t *testing.T) {
	const long, trim = 1000, 56
	r := newRig(t, simcore.NewEngine(), Default(4), DefaultLink())
	trims := map[int]int{}
	for _, h := range r.hosts {
		h.log = func(_ *host, f *msg.Frame) { trims[f.Trim]++ }
	}
	f := r.hosts[0].pool.Copy(frame(1, 9, long, 0, 1)) // unknown destination
	f.Trim = trim
	r.hosts[0].out.Push(f)
	r.hosts[0].push()
	r.run()
	require.Equal(t, map[int]int{trim: 3}, trims)
	require.EqualValues(t, long-trim, r.sw.Counters(0).In.Bytes)
	require.EqualValues(t, 2*(long-trim), r.sw.Counters(0).Made.Bytes)
	for p := 1; p < 4; p++ {
		require.EqualValues(t, long-trim, r.sw.Counters(p).Out.Bytes)
	}
}

// A frame that stands for a shorter packet with another framing (ether.Frame.Trim) must take that packet's time
// and be counted with its bytes: 488 B and 24 B of overhead take 20.48 ns at 200 Gbps.
func TestAnotherFraming(t *testing.T) {
	bothEngines(t, func(t *testing.T, e sim.Engine) {
		spec := fixed(Default(2))
		spec.Mode = StoreForward
		r := newRig(t, e, spec, DefaultLink())
		r.hosts[1].keep = true
		f := r.pool.Copy(frame(1, 2, 1000, 0, 1))
		f.Trim = 512
		r.hosts[0].out.Push(f)
		r.hosts[0].push()
		r.run()
		require.Equal(t, []simcore.Ps{20_480 + 10_000 + 90_000 + 20_480 + 10_000}, r.hosts[1].at)
		require.Equal(t, Count{Frames: 1, Bytes: 488}, r.sw.Counters(1).Out)
	})
}
