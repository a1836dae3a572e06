package dram_test

import (
	"math/rand/v2"
	"testing"

	"github.com/sarchlab/akita/v3/sim"
	"github.com/stretchr/testify/require"
	"gopkg.in/yaml.v3"

	"nictwin/models/inject"
	"nictwin/models/memory/armcache"
	"nictwin/models/memory/dram"
	"nictwin/models/memory/mem"
	"nictwin/models/memory/mem/memtest"
	_ "nictwin/models/sim/fixedseed"
	"nictwin/models/sim/simcore"
)

func hog(t *testing.T, e sim.Engine, m mem.Target, gbps int64) *dram.Hog {
	t.Helper()
	s := dram.DefaultHogSpec()
	s.Rate, s.Base = simcore.Gbps(gbps), 1<<27
	h, err := dram.NewHog("Hog", e, s, m)
	require.NoError(t, err)
	return h
}

// small returns the spec of a memory that is so small that corner cases occur soon.
func small() dram.Spec {
	return dram.Spec{
		Channels: 3, Interleave: 64, Banks: 2, RowBytes: 128, Mapping: dram.Rows, Peak: 60_000, Mixed: 40_000,
		Write: 20_000,
		Batch: 2, Window: 2, Buffer: 8, BankTiming: "offpath", Latency: 20 * ns,
	}
}

// contract returns a DRAM for the contract test, over a delay if d is set, and under a cache if
// cached is set.
func contract(e sim.Engine, d inject.DelaySpec, cached bool) (*memtest.Bench, error) {
	space, err := mem.NewSpace(1<<20, 1<<20)
	if err != nil {
		return nil, err
	}
	var target mem.Target = space
	if d != (inject.DelaySpec{}) {
		if target, err = inject.NewDelay("Delay", e, d, space); err != nil {
			return nil, err
		}
	}
	if target, err = (dram.Builder{Scheduler: e, Spec: small(), Memory: target}).Build("DRAM"); err != nil {
		return nil, err
	}
	b := &memtest.Bench{Target: target, Peek: space.Read, Size: 1 << 20, Ends: true, Window: 700,
		Nowhere: []uint64{mem.Bus(3, 0)}}
	if !cached {
		return b, nil
	}
	s, err := armcache.Preset("bf3")
	if err != nil {
		return nil, err
	}
	s.SizeBytes, s.Ways, s.DeviceWays, s.Fetches, s.WriteBacks = 512, 4, 3, 2, 2
	c, err := armcache.Builder{Scheduler: e, Spec: s, Memory: target}.Build("LLC")
	if err != nil {
		return nil, err
	}
	b.Target, b.Peek = c, c.Read
	return b, nil
}

func TestKeepsTheProtocol(t *testing.T) {
	delay := inject.DelaySpec{Latency: 50 * ns, Jitter: 50 * ns}
	for _, x := range []struct {
		name   string
		delay  inject.DelaySpec
		cached bool
	}{{"over memory", inject.DelaySpec{}, false}, {"over a delay", delay, false},
		{"under a cache", inject.DelaySpec{}, true}} {
		memtest.RunContract(t, x.name, func() (*memtest.Bench, error) {
			e := simcore.NewEngine()
			b, err := contract(e, x.delay, x.cached)
			if err != nil {
				return nil, err
			}
			b.Step = func() (bool, error) {
				err := e.RunUntil(e.Now() + 30*ns)
				return e.Next() != nil, err
			}
			return b, nil
		})
		memtest.RunContract(t, x.name+", on Akita's engine", func() (*memtest.Bench, error) {
			e := sim.NewSerialEngine()
			b, err := contract(e, x.delay, x.cached)
			if err != nil {
				return nil, err
			}
			b.Step = func() (bool, error) { return false, e.Run() }
			return b, nil
		})
	}
}

// A seeded storm must conserve bytes at every moment (in = out + held), and give the same times in
// every run, also on Akita's engine.
func TestBytesAreConserved(t *testing.T) {
	play := func(e sim.Engine, s dram.Spec, seed uint64) (digest uint64) {
		d, _ := newDRAM(t, e, s)
		rng := rand.New(rand.NewPCG(seed, 2))
		var accepted, finished uint64
		at := 0 * ns
		for i := range 3000 {
			a := &mem.Access{Op: mem.Op(rng.IntN(2)), Addr: uint64(rng.IntN(1 << 16)),
				Data: make([]byte, 1+rng.IntN(700))}
			a.Done = func(a *mem.Access) {
				require.NoError(t, a.Err)
				finished += uint64(len(a.Data))
				digest += (uint64(simcore.Now(e)) ^ uint64(i)<<44) * 0x9e3779b97f4a7c15
			}
			at += simcore.Ps(1+rng.IntN(40)) * ns
			e.Schedule(&simcore.Event{At: at + simcore.Ps(i%997), H: handler(func() {
				accepted += uint64(len(a.Data))
				d.Access(a)
				c := d.Counters()
				require.Equal(t, accepted, c.ReadBytes+c.WrittenBytes)
				require.Equal(t, finished, c.FinishedBytes)
				require.Equal(t, accepted, c.FinishedBytes+c.Held)
			})})
		}
		require.NoError(t, e.Run())
		require.Equal(t, accepted, finished)
		require.True(t, d.Idle())
		require.NotZero(t, d.Counters().Turnarounds)
		require.NotZero(t, d.Counters().RowHits+d.Counters().Joined)
		return digest
	}
	for seed := range uint64(3) {
		for _, s := range []dram.Spec{small(), preset(t, "bf3"), preset(t, "bf2")} {
			want := play(simcore.NewEngine(), s, seed)
			require.Equal(t, want, play(simcore.NewEngine(), s, seed))
			require.Equal(t, want, play(sim.NewSerialEngine(), s, seed))
		}
	}
}

// A few writes must get their turn among endless reads, and a few reads among endless writes.
func TestNobodyIsLockedOut(t *testing.T) {
	s := preset(t, "bf2") // without a ceiling for writes
	r, w := reads(256, random), writes(64, random)
	w.depth = 1
	_, each := sustained(t, s, r, w)
	require.Greater(t, each[1], 10.0)
	r, w = reads(64, random), writes(256, sequential)
	r.depth = 1
	sustained(t, s, r, w)
	require.Less(t, r.wait/simcore.Ps(r.n), 400*ns)
	require.Greater(t, r.n, 400)
}

// A hog must issue at its rate, half reads and half writes, until it is stopped.
func TestHog(t *testing.T) {
	e := simcore.NewEngine()
	d, _ := newDRAM(t, e, preset(t, "bf3"))
	h := hog(t, e, d, 200)
	h.Start()
	h.Start()
	require.NoError(t, e.RunUntil(100*simcore.Microsecond))
	h.Stop()
	require.NoError(t, e.Run())
	require.InEpsilon(t, 200e9/8*100e-6, float64(h.Read+h.Written), 0.01)
	require.InDelta(t, float64(h.Read), float64(h.Written), 256)
	require.Zero(t, h.Missed)

	s := dram.DefaultHogSpec()
	s.Rate, s.Until, s.InFlight, s.Writes = simcore.Gbps(2000), e.Now()+20*simcore.Microsecond, 64, 0
	over, err := dram.NewHog("Over", e, s, d)
	require.NoError(t, err)
	over.Start()
	require.NoError(t, e.Run())
	require.NotZero(t, over.Missed, "it asks for more than there is")

	err = dram.HogSpec{Writes: -1, Until: -1, From: -1}.Validate()
	for _, field := range []string{"rate", "write_permille", "access_bytes", "in_flight", "from_ps", "until_ps"} {
		require.ErrorContains(t, err, field)
	}
	s.From = s.Until + 1
	require.ErrorContains(t, s.Validate(), "want 0 for no end, or from_ps or more")
	s.From, s.Span = 0, 1<<63
	require.ErrorContains(t, s.Validate(), "span_bytes 9223372036854775808: want access_bytes to")
	s.Span = 1 << 40
	_, err = dram.NewHog("Far", e, s, d)
	require.ErrorIs(t, err, mem.ErrNoMemory)
}

// A load of the memory that method Background returns must slow other accesses down, leave the bytes
// alone, wake no watch, and not keep the DRAM from being idle. It must begin at time From of its spec,
// and end at Until.
func TestBackground(t *testing.T) {
	latency := func(gbps int64) simcore.Ps {
		e := simcore.NewEngine()
		d, space := newDRAM(t, e, preset(t, "bf3"))
		s := dram.DefaultHogSpec()
		s.Rate, s.From, s.Until = simcore.Gbps(gbps), 10*simcore.Microsecond, 60*simcore.Microsecond
		h, err := dram.NewHog("Hog", e, s, d.Background())
		require.NoError(t, err)
		require.NoError(t, space.Write(0, []byte("stays")))
		_, err = space.Watch(0, int(s.Span), func(uint64, int) { t.Error("the load wakes a watch") })
		require.NoError(t, err)
		h.Start()
		require.Equal(t, e.Pending(), e.Armed(), "nothing waits for a load that has not begun")
		require.NoError(t, e.RunUntil(s.From-1))
		require.Zero(t, h.Issued)
		l := &load{op: mem.Read, bytes: 64, depth: 1, base: 1 << 27, span: 1 << 20, next: random}
		l.start(e, d, 1)
		require.NoError(t, e.RunUntil(s.Until))
		require.NotZero(t, h.Read+h.Written)
		l.stop = true
		require.NoError(t, e.Run())
		want := float64(gbps) * 1e9 / 8 * 50e-6
		require.InDelta(t, want, float64(h.Read+h.Written), 512+want/100)
		b := make([]byte, 5)
		require.NoError(t, space.Read(0, b))
		require.Equal(t, "stays", string(b))
		return l.wait / simcore.Ps(l.n)
	}
	low, middle, high := latency(1), latency(200), latency(400)
	require.Greater(t, middle, low+5*ns)
	require.Greater(t, high, middle+5*ns)

	e := simcore.NewEngine()
	d, _ := newDRAM(t, e, preset(t, "bf3"))
	h := hog(t, e, d.Background(), 300)
	h.Start()
	require.NoError(t, e.RunUntil(20*simcore.Microsecond))
	require.NotZero(t, d.Counters().Held+d.Counters().Reads)
	require.True(t, d.Idle(), "a load is no access in progress")
	a := &mem.Access{Op: mem.Write, Addr: 64, Data: make([]byte, 64), Done: func(*mem.Access) {}}
	d.Access(a)
	require.False(t, d.Idle())
	require.NoError(t, e.RunUntil(30*simcore.Microsecond))
	require.True(t, d.Idle())
	d.Background().Access(&mem.Access{Addr: mem.Bus(3, 0), Data: make([]byte, 64),
		Done: func(a *mem.Access) { require.ErrorIs(t, a.Err, mem.ErrNoMemory) }})
	h.Stop()
	require.NoError(t, e.Run())
	n := d.Counters()
	require.Zero(t, n.Held)
	require.NotZero(t, h.Written)
	require.Equal(t, dram.Counters{LoadRead: h.Read, LoadWritten: h.Written},
		dram.Counters{LoadRead: n.LoadRead, LoadWritten: n.LoadWritten}, "bytes of loads have counters of their own")
	require.Equal(t, h.Read, n.ReadBytes)
	require.Equal(t, h.Written+64, n.WrittenBytes, "and count with all others, too")
}

func TestSpecs(t *testing.T) {
	for _, name := range []string{"bf3", "bf3-440", "bf2", "bf2-1600", "host-fn", "host-ce", "host-op", "host-rb"} {
		require.NoError(t, preset(t, name).Validate(), name)
	}
	_, err := dram.Preset("bf4")
	require.ErrorContains(t, err, `preset is "bf4": want one of [bf2 `)
	want := dram.Timing{Burst: 1429, WriteCost: 4267, Turnaround: 16 * (2133 - 1429), BankRead: 20 * ns,
		BankWrite: 44 * ns, Latency: 90 * ns}
	require.Equal(t, want, preset(t, "bf3").Timing())
	err = dram.Spec{Interleave: 96, RowBytes: 64, Mixed: 1, Write: -1, Batch: -1, Buffer: -2, Latency: -1}.Validate()
	for _, field := range []string{"channels", "interleave_bytes", "banks", "row_bytes", "mapping", "peak_mbps",
		"mixed_mbps", "write_mbps", "write_batch", "read_window", "write_buffer", "bank_timing", "read_latency_ps"} {
		require.ErrorContains(t, err, field)
	}
	require.Contains(t, dram.BankTimings(), "jedec-ddr5-5600")
	_, err = dram.Builder{}.Build("DRAM")
	require.ErrorContains(t, err, "no scheduler")
	_, err = dram.Builder{Scheduler: simcore.NewEngine()}.Build("DRAM")
	require.ErrorContains(t, err, "no memory")
	_, err = dram.Builder{Scheduler: simcore.NewEngine(), Memory: mem.NewSparse(1)}.Build("DRAM")
	require.ErrorContains(t, err, "DRAM: channels 0: want 1 to 64")
	d, err := dram.Builder{Scheduler: simcore.NewEngine(), Spec: small(), Memory: mem.NewSparse(64)}.Build("DRAM")
	require.NoError(t, err)
	require.ErrorContains(t, d.Read(0, nil), "to accesses only")
	require.ErrorContains(t, d.Write(0, nil), "to accesses only")
}

// A spec must survive a round trip through YAML.
func TestSpecIsPlainData(t *testing.T) {
	s, err := dram.Preset("bf3")
	require.NoError(t, err)
	text, err := yaml.Marshal(s)
	require.NoError(t, err)
	var got dram.Spec
	require.NoError(t, yaml.Unmarshal(text, &got))
	require.Equal(t, s, got)
	require.NotContains(t, string(text), "geometry")
	require.Contains(t, string(text), "latency_ps: ")
}
