package dsa_test

import (
	"bytes"
	"math/rand/v2"
	"testing"

	"github.com/sarchlab/akita/v3/sim"
	"github.com/stretchr/testify/require"

	"nictwin/models/inject"
	"nictwin/models/memory/armcache"
	"nictwin/models/memory/dram"
	"nictwin/models/memory/mem"
	"nictwin/models/server/host/dsa"
	"nictwin/models/sim/simcore"
)

const ns = simcore.Nanosecond

func build(t testing.TB, e sim.Engine, s dsa.Spec, d inject.DelaySpec) (*dsa.Engine, *mem.Space) {
	space, err := mem.NewSpace(1<<24, 1<<20)
	require.NoError(t, err)
	slow, err := inject.NewDelay("Delay", e, d, space)
	require.NoError(t, err)
	x, err := dsa.Builder{Scheduler: e, Spec: s, Memory: slow}.Build("DSA")
	require.NoError(t, err)
	return x, space
}

func preset(t testing.TB) dsa.Spec {
	s, err := dsa.Preset("host-fn")
	require.NoError(t, err)
	require.NoError(t, s.Validate())
	return s
}

// Copies of any length and alignment must copy exactly their bytes, and conserve them (read =
// written + held), also on Akita's engine.
func TestCopies(t *testing.T) {
	play := func(e sim.Engine) (ends []simcore.Ps) {
		x, space := build(t, e, preset(t), inject.DelaySpec{Latency: 90 * ns, Jitter: 50 * ns, Seed: 3})
		rng := rand.New(rand.NewPCG(5, 6))
		src := make([]byte, 1<<20)
		for i := range src {
			src[i] = byte(rng.Uint32())
		}
		require.NoError(t, space.Write(0, src))
		const copies = 60
		want := make([]byte, copies<<14)
		for i := range copies {
			n, from, at := 1+rng.IntN(1<<rng.IntN(14)), rng.IntN(1<<19), i<<14+rng.IntN(100)
			copy(want[at:], src[from:from+n])
			c := &dsa.Copy{Src: uint64(from), Dst: uint64(1<<21 + at), N: n, Record: uint64(1<<20 + i*32),
				Done: func(c *dsa.Copy) {
					require.NoError(t, c.Err)
					ends = append(ends, simcore.Now(e))
					var rec [dsa.RecordBytes]byte
					require.NoError(t, space.Read(c.Record, rec[:]))
					require.EqualValues(t, dsa.RecordOK, rec[0])
					got := make([]byte, c.N)
					require.NoError(t, space.Read(c.Dst, got))
					require.Equal(t, src[from:from+n], got)
				}}
			require.NoError(t, x.Submit(c))
		}
		if own, ok := e.(*simcore.Engine); ok {
			for range 200 {
				require.NoError(t, own.RunUntil(own.Now()+37*ns))
				s := x.Stats()
				require.Equal(t, s.Read, s.Written+s.Held)
			}
		}
		require.NoError(t, e.(interface{ Run() error }).Run())
		require.True(t, x.Idle())
		require.EqualValues(t, copies, x.Stats().Ended)
		got := make([]byte, len(want))
		require.NoError(t, space.Read(1<<21, got))
		require.True(t, bytes.Equal(want, got))
		return ends
	}
	require.Equal(t, play(simcore.NewEngine()), play(simcore.NewEngine()))
	play(sim.NewSerialEngine())
}

// One descriptor must take its latency and the time of its bytes; many must reach the engine's
// rate, also through a server's caches.
func TestRateAndLatency(t *testing.T) {
	e := simcore.NewEngine()
	x, _ := build(t, e, preset(t), inject.DelaySpec{})
	var end simcore.Ps
	require.NoError(t, x.Submit(&dsa.Copy{Dst: 1 << 20, N: 3000, Done: func(*dsa.Copy) { end = e.Now() }}))
	require.NoError(t, e.Run())
	require.Equal(t, (500+100)*ns, end)

	e = simcore.NewEngine()
	space, err := mem.NewSpace(1<<24, 1<<20)
	require.NoError(t, err)
	d, err := dram.Preset("host-fn")
	require.NoError(t, err)
	ram, err := dram.Builder{Scheduler: e, Spec: d, Memory: space}.Build("DRAM")
	require.NoError(t, err)
	l, err := armcache.Preset("host-fn")
	require.NoError(t, err)
	llc, err := armcache.Builder{Scheduler: e, Spec: l, Memory: ram}.Build("LLC")
	require.NoError(t, err)
	x, err = dsa.Builder{Scheduler: e, Spec: preset(t), Memory: llc}.Build("DSA")
	require.NoError(t, err)
	const copies, n = 100, 1 << 14
	for i := range uint64(copies) {
		require.NoError(t, x.Submit(&dsa.Copy{Src: i * n, Dst: 1<<23 + i*n, N: n}))
	}
	require.NoError(t, e.Run())
	gbps := float64(copies*n) / (float64(e.Now()) / 1000)
	require.InDelta(t, 30, gbps, 1.5)
}

func TestErrors(t *testing.T) {
	e := simcore.NewEngine()
	s := preset(t)
	s.Queue, s.Engines = 1, 1
	x, space := build(t, e, s, inject.DelaySpec{})
	for c, wantErr := range map[*dsa.Copy]string{
		{}:                                    "want 1 B or more",
		{Src: 5, Dst: 9, N: 5}:                "do not overlap",
		{Dst: 100, N: 1, Record: 33}:          "want a multiple of 32",
		{Dst: mem.Bus(7, 0), N: 1}:            "no memory there",
		{Src: mem.Bus(7, 0), N: 1}:            "no memory there",
		{Dst: 9, N: 1, Record: mem.Bus(7, 0)}: "no memory there",
	} {
		require.ErrorContains(t, x.Submit(c), wantErr)
	}
	require.NoError(t, x.Submit(&dsa.Copy{Dst: 100, N: 1}))
	require.NoError(t, x.Submit(&dsa.Copy{Dst: 100, N: 1}))
	require.ErrorIs(t, x.Submit(&dsa.Copy{Dst: 100, N: 1}), dsa.ErrFull)
	require.NoError(t, e.Run())

	x, err := dsa.Builder{Scheduler: e, Spec: s, Memory: &aborting{Space: space, at: 5000}}.Build("DSA")
	require.NoError(t, err)
	ended := false
	require.NoError(t, x.Submit(&dsa.Copy{Dst: 1 << 20, N: 20_000, Record: 64, Done: func(c *dsa.Copy) {
		require.ErrorIs(t, c.Err, mem.ErrAborted)
		ended = true
	}}))
	require.NoError(t, e.Run())
	require.True(t, ended)
	ended = false
	require.NoError(t, x.Submit(&dsa.Copy{Src: 5000, Dst: 1 << 20, N: 1, Done: func(c *dsa.Copy) {
		require.ErrorContains(t, c.Err, "read of 1 B at 0x1388")
		ended = true
	}}))
	require.NoError(t, e.Run())
	require.True(t, ended)
	b := make([]byte, 1)
	require.NoError(t, space.Read(64, b))
	require.EqualValues(t, dsa.RecordFailed, b[0])
	require.True(t, x.Idle())
	require.Zero(t, x.Stats().Held)
	require.NoError(t, x.Err(), "the record says that the copy failed")
	x, err = dsa.Builder{Scheduler: e, Spec: s, Memory: &aborting{Space: space, at: 5000, writes: true}}.Build("DSA")
	require.NoError(t, err)
	b64 := dsa.EncodeDescriptor(0, 100, 1, 8192)
	require.NoError(t, x.Portal().Write(0, b64[:]))
	require.NoError(t, e.Run())
	require.ErrorContains(t, x.Err(), "dsa: DSA: completion record at 0x2000")
	_, err = dsa.Builder{Spec: dsa.Spec{Latency: -1, Rate: simcore.Rate{Ps: 1}}}.Build("DSA")
	for _, wantErr := range []string{"no scheduler", "no memory", "rate 0 bytes", "latency_ps -1", "engines 0",
		"queue 0", "ahead 0", "chunk_bytes 0"} {
		require.ErrorContains(t, err, wantErr)
	}
	_, err = dsa.Preset("bf3")
	require.ErrorContains(t, err, "want host-fn")
}

// aborting is a memory that aborts reads at or above an address, or writes.
type aborting struct {
	*mem.Space
	at     uint64
	writes bool
}

func (m *aborting) Access(a *mem.Access) {
	if (a.Op == mem.Write) == m.writes && a.Addr >= m.at {
		a.Finish(mem.ErrAborted)
		return
	}
	m.Space.Access(a)
}

func TestNoAllocation(t *testing.T) {
	e := simcore.NewEngine()
	x, _ := build(t, e, preset(t), inject.DelaySpec{Latency: 40 * ns})
	var all [6]dsa.Copy
	for i := range all {
		all[i] = dsa.Copy{Src: uint64(i) << 14, Dst: 1<<20 + uint64(i)<<14, N: 10_000, Record: 1 << 22}
	}
	step := func() {
		for i := range all {
			require.NoError(t, x.Submit(&all[i]))
		}
		require.NoError(t, e.Run())
	}
	step()
	require.Zero(t, testing.AllocsPerRun(200, step))
}
