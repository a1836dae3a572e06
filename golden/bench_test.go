package golden

import (
	"math/rand/v2"
	"testing"

	"github.com/stretchr/testify/require"

	"nictwin/models/format/wire"
	"nictwin/models/nic/boundary"
	"nictwin/models/nic/nicspec"
	"nictwin/models/sim/simcore"
)

// steady records n full-size RoCEv2 frames in each chosen direction, after the setup: a referee that sees them is
// in steady state.
func steady(t testing.TB, n, size int, rx, tx bool, parts nicspec.Cap1Reg) (Config, []boundary.Crossing) {
	t.Helper()
	o := defaultRig()
	o.spec.Parts |= parts
	r := newRig(t, o)
	m := r.mem
	m.Write32(nicspec.RegDevctl, 1|2<<4)
	m.Write32(nicspec.RegCtrl, 3)
	for q := range 4 {
		m.rule(q, steadyRule(m, q, parts))
		m.OpenRx(q, 6, func(f *nicspec.RxqEntryFields) { f.SplitMode = nicspec.SplitModeHeaders })
		m.OpenTx(q, 6)
	}
	m.readable(pattern(keySpan, 1))
	frame := roceFrame(size)
	for i := range n {
		q := i / 16 % 4
		if i%16 == 0 {
			if rx {
				m.post(q, 16)
			}
			for k := 0; tx && k < 16; k++ {
				w := nicspec.WqeFields{Opcode: nicspec.OpcodeSend, InlineLen: 14, Nseg: 1, FComplete: k%4 == 3}
				copy(w.Slots[:], frame)
				(&nicspec.SegFields{Key: goodKey, Len: uint32(size - 14), Addr: 0x1000 + uint64(k)*4096 + 14}).Encode(
					w.Slots[16:])
				m.push(q, &w)
			}
			if tx {
				m.RingTx(q)
			}
			r.step(simcore.Microsecond)
		}
		if rx {
			frame[0] = uint8(q) << 1
			frame[len(frame)-5] = uint8(i)
			r.peers[0].send(frame)
			r.step(60 * simcore.Nanosecond)
		}
	}
	r.settle()
	m.readCounters()
	return DefaultConfig(o.spec.Build), r.tape
}

// roceFrame returns a RoCEv2 frame over IPv4 with an ICRC and no UDP checksum.
func roceFrame(size int) []byte {
	rng := rand.New(rand.NewPCG(1, 1))
	f := append(make([]byte, 12), 8, 0, 0x45, 0, 0, 0, 0, 0, 0, 0, 64, 17, 0, 0, 10, 0, 0, 1, 10, 0, 0, 2)
	f = append(f, 0xc0, 1, 0x12, 0xb7, 0, 0, 0, 0, 4, 0x40, 0xff, 0xff, 0, 0, 0, 17, 0x80, 0, 0, 9)
	for len(f) < size {
		f = append(f, uint8(rng.Uint64()))
	}
	f[16], f[17] = uint8((size-14)>>8), uint8(size-14)
	f[38], f[39] = uint8((size-34)>>8), uint8(size-34)
	if err := wire.SealFrame(f, false); err != nil {
		panic(err)
	}
	return f
}

// benchReferee measures the second half of a run's frames, when the referee's pools have grown.
func benchReferee(b *testing.B, size int, rx, tx bool) {
	cfg, run := steady(b, 1024, size, rx, tx, 0)
	p := judge(b, cfg, run)
	require.True(b, p.Passed(), "%v", p)
	var at []int // indices of the frames on the tape
	for i := range run {
		if !run[i].Kind.IsTLP() {
			at = append(at, i)
		}
	}
	from, to := at[len(at)/2], at[len(at)-1]
	frames := float64(len(at) / 2)
	b.ReportAllocs()
	b.ResetTimer()
	for range b.N {
		b.StopTimer()
		g, err := New(cfg)
		require.NoError(b, err)
		for i := range run[:from] {
			g.Observe(run[i])
		}
		b.StartTimer()
		for i := from; i < to; i++ {
			g.Observe(run[i])
		}
	}
	ns := float64(b.Elapsed().Nanoseconds()) / float64(b.N)
	b.ReportMetric(ns/frames, "ns/frame")
	b.ReportMetric(float64(to-from)/frames, "crossings/frame")
	b.ReportMetric(ns/float64(to-from), "ns/crossing")
}

func BenchmarkReceive1500(b *testing.B) { benchReferee(b, 1500, true, false) }
func BenchmarkSend1500(b *testing.B)    { benchReferee(b, 1500, false, true) }
func BenchmarkReceive64(b *testing.B)   { benchReferee(b, 64, true, false) }

func TestSteadyStateAllocatesNothing(t *testing.T) {
	for _, dir := range []struct {
		rx, tx bool
		parts  nicspec.Cap1Reg
	}{{rx: true}, {tx: true}, {rx: true, parts: rxParts}} {
		cfg, run := steady(t, 2048, 300, dir.rx, dir.tx, dir.parts)
		g, err := New(cfg)
		require.NoError(t, err)
		half := len(run) / 2
		for i := range run[:half] {
			g.Observe(run[i])
		}
		at := half
		const steps = 1000
		n := testing.AllocsPerRun(1, func() {
			for range steps {
				g.Observe(run[at])
				at++
			}
		})
		require.Zero(t, n, "allocations over %d crossings, receive %v", steps, dir.rx)
		for ; at < len(run); at++ {
			g.Observe(run[at])
		}
		require.True(t, g.Finish().Passed())
	}
}

func TestCopiesAllocateNothing(t *testing.T) {
	o := defaultRig()
	o.spec.NumTxq, o.spec.Parts = 8, nicspec.PartCopy
	o.spec.Timing.TxPrefetch = 64 // prefetch keeps up: entries come while others are sent
	r := newRig(t, o)
	m := r.mem
	m.Write32(nicspec.RegCtrl, 3)
	m.key(5, nicspec.KeyEntryFields{Valid: 1, RightRead: true, Variant: 9, Length: 1 << 24, BusBase: keyBus})
	m.key(7, nicspec.KeyEntryFields{Valid: 1, RightWrite: true, Length: 1 << 24, BusBase: copyBus + 1<<24})
	m.OpenTx(0, 8)
	for i := range 250 {
		w := nicspec.WqeFields{Opcode: nicspec.OpcodeCopy, Nseg: 2, FComplete: i%8 == 0}
		(&nicspec.SegFields{Key: goodKey, Len: 20000, Addr: uint64(i%200) * 20000}).Encode(w.Slots[:])
		(&nicspec.SegFields{Key: 7, Len: 20000, Addr: uint64(i%200) * 30000}).Encode(w.Slots[16:])
		m.push(0, &w)
	}
	m.RingTx(0)
	m.readCounters()
	g, err := New(DefaultConfig(o.spec.Build))
	require.NoError(t, err)
	at := len(r.tape) * 2 / 3
	for i := range r.tape[:at] {
		g.Observe(r.tape[i])
	}
	const steps = 3000
	n := testing.AllocsPerRun(1, func() {
		for range steps {
			g.Observe(r.tape[at])
			at++
		}
	})
	require.LessOrEqual(t, n, 2.0, "allocations over %d crossings; the maps of pages may grow", steps)
	for ; at < len(r.tape); at++ {
		g.Observe(r.tape[at])
	}
	p := g.Finish()
	require.True(t, p.Passed(), "%v", p)
	require.Less(t, g.ent.FreePages(), 200, "pages of 4 KB kept for copies")
}
