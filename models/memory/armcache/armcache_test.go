package armcache_test

import (
	"bytes"
	"errors"
	"testing"

	"github.com/sarchlab/akita/v3/sim"
	"github.com/stretchr/testify/require"
	"gopkg.in/yaml.v3"

	"nictwin/models/inject"
	"nictwin/models/memory/armcache"
	"nictwin/models/memory/armcache/core"
	"nictwin/models/memory/mem"
	"nictwin/models/memory/mem/memtest"
	_ "nictwin/models/sim/fixedseed"
	"nictwin/models/sim/simcore"
)

// stack returns a builder of caches, one over the other, over a delay and memory.
func stack(d inject.DelaySpec, specs ...armcache.Spec) func() (*memtest.Bench, error) {
	return func() (*memtest.Bench, error) {
		e := simcore.NewEngine()
		b, err := over(e, d, specs...)
		if err != nil {
			return nil, err
		}
		b.Step = func() (bool, error) {
			err := e.RunUntil(e.Now() + 30*ns)
			return e.Next() != nil, err
		}
		return b, nil
	}
}

// under returns a builder of a delay over a cache.
func under(d inject.DelaySpec, s armcache.Spec) func() (*memtest.Bench, error) {
	return func() (*memtest.Bench, error) {
		e := simcore.NewEngine()
		b, err := over(e, inject.DelaySpec{}, s)
		if err != nil {
			return nil, err
		}
		b.Step = func() (bool, error) {
			err := e.RunUntil(e.Now() + 30*ns)
			return e.Next() != nil, err
		}
		b.Target, err = inject.NewDelay("Above", e, d, b.Target)
		return b, err
	}
}

func over(e sim.Engine, d inject.DelaySpec, specs ...armcache.Spec) (*memtest.Bench, error) {
	space, err := mem.NewSpace(1<<20, 1<<20)
	if err != nil {
		return nil, err
	}
	slow, err := inject.NewDelay("Delay", e, d, space)
	if err != nil {
		return nil, err
	}
	var target mem.Target = slow
	var back mem.Backdoor = space
	for _, s := range specs {
		c, err := armcache.Builder{Scheduler: e, Spec: s, Memory: target, Backdoor: back}.Build("LLC")
		if err != nil {
			return nil, err
		}
		target, back = c, c
	}
	return &memtest.Bench{Target: target, Peek: back.Read, Size: 1 << 20, Ends: true, Window: 1200,
		Nowhere: []uint64{mem.Bus(3, 0)}}, nil
}

func variants() map[string]armcache.Spec {
	random, none, fast := tiny(), tiny(), tiny()
	random.Replacement, random.Index, random.DeviceWays = core.Random, core.Hashed, 0xf
	none.DeviceWays, none.Fetches, none.WriteBacks = 0, 1, 1
	fast.Rate, fast.HitLatency = simcore.Rate{}, 0
	return map[string]armcache.Spec{"lru": tiny(), "random": random, "no allocation": none, "fast": fast}
}

func TestKeepsTheProtocol(t *testing.T) {
	delay := inject.DelaySpec{Latency: 40 * ns, Jitter: 90 * ns, Seed: 5}
	for name, s := range variants() {
		memtest.RunContract(t, name+" over memory", stack(inject.DelaySpec{}, s))
		memtest.RunContract(t, name+" over a delay", stack(delay, s))
		memtest.RunContract(t, name+" under a delay", under(delay, s))
		memtest.RunContract(t, name+" over another", stack(delay, variants()["random"], s))
	}
	memtest.RunContract(t, "on Akita's engine", func() (*memtest.Bench, error) {
		e := sim.NewSerialEngine()
		b, err := over(e, delay, tiny())
		if err == nil {
			b.Step = func() (bool, error) { return false, e.Run() }
		}
		return b, err
	})
}

// A storm of random accesses must conserve bytes (in = out + held), and give the same times and
// data in every run, also on Akita's engine.
func TestStorm(t *testing.T) {
	for name, spec := range variants() {
		t.Run(name, func(t *testing.T) {
			play := func(e sim.Engine, seed uint64) uint64 {
				b := newBench(t, e, spec, inject.DelaySpec{Latency: 55 * ns})
				s := &storm{b: b}
				s.play(seed, 4000)
				if own, ok := e.(*simcore.Engine); ok {
					for range 400 {
						require.NoError(t, own.RunUntil(own.Now()+37*ns))
						st := b.cache.Stats()
						require.Equal(t, st.AcceptedBytes, st.FinishedBytes+st.Held)
					}
				}
				b.run()
				require.Zero(t, s.open)
				require.NotZero(t, b.cache.Stats().Stalls)
				return s.digest
			}
			for seed := range uint64(3) {
				want := play(simcore.NewEngine(), seed)
				require.Equal(t, want, play(simcore.NewEngine(), seed))
				// without a rate, accesses share instants, and Akita's engine shuffles the delay's
				// events within one
				if spec.Rate.Bytes != 0 {
					require.Equal(t, want, play(sim.NewSerialEngine(), seed))
				}
			}
		})
	}
}

// After an Invalidate that came before the write-back, software must read the stale bytes of DRAM.
func TestStaleBytesAreReadStale(t *testing.T) {
	b := newBench(t, simcore.NewEngine(), tiny(), inject.DelaySpec{Latency: 80 * ns})
	old, now := bytes.Repeat([]byte{0xaa}, 64), bytes.Repeat([]byte{0xbb}, 64)
	require.NoError(t, b.space.Write(0x1000, old))
	b.issue(mem.Write, mem.Device, 0x1000, now)
	got := make([]byte, 64)
	b.issue(mem.Read, mem.Core, 0x1000, got)
	b.run()
	require.Equal(t, now, got)
	b.issue(mem.Invalidate, mem.Core, 0x1000, make([]byte, 64))
	b.issue(mem.Read, mem.Core, 0x1000, got)
	b.run()
	require.Equal(t, old, got)
	c := b.cache.Counters()
	require.EqualValues(t, 1, c[mem.Device].DroppedDirty)
	require.Zero(t, b.ledger.written)

	b.issue(mem.Write, mem.Device, 0x1000, now) // the same accesses, with a Clean before the Invalidate
	b.issue(mem.Clean, mem.Core, 0x1000, make([]byte, 1))
	b.issue(mem.Invalidate, mem.Core, 0x1000, make([]byte, 1))
	b.issue(mem.Read, mem.Core, 0x1000, got)
	b.run()
	require.Equal(t, now, got)
	require.EqualValues(t, 64, b.ledger.written)
}

// Each kind of access must take the time that the spec gives: 4 ns a line at 128 Gbps, 10 ns for a
// hit, and the memory's 80 ns.
func TestTimes(t *testing.T) {
	b := newBench(t, simcore.NewEngine(), tiny(), inject.DelaySpec{Latency: 80 * ns})
	at := func() simcore.Ps { return simcore.Now(b) }
	took := func(op mem.Op, by mem.Agent, addr uint64, n int) simcore.Ps {
		begin := at()
		done := b.issue(op, by, addr, make([]byte, n))
		b.run()
		return *done - begin
	}
	require.Equal(t, 18*ns, took(mem.Write, mem.Device, 0, 128), "whole lines need no fetch")
	require.Equal(t, 14*ns, took(mem.Read, mem.Device, 0, 64), "hit")
	require.Equal(t, 14*ns, took(mem.Read, mem.Core, 10, 4), "a part of a line takes the time of a line")
	require.Equal(t, 18*ns, took(mem.Read, mem.Device, 60, 4+60), "two lines")
	require.Equal(t, 90*ns, took(mem.Read, mem.Device, 0x2000, 128), "past the cache, in one access to memory")
	require.Equal(t, 1, b.ledger.reads)
	require.Equal(t, 14*ns, took(mem.Write, mem.Device, 0x2040, 5), "does not wait for the rest of its line")
	require.Equal(t, 2, b.ledger.reads)
	require.Equal(t, 90*ns, took(mem.Read, mem.Core, 0x3000, 8), "miss")
	require.Equal(t, 90*ns, took(mem.Clean, mem.Core, 0, 1), "waits for the write-back")
	require.Equal(t, 10*ns, took(mem.Clean, mem.Core, 0, 1), "nothing to write back")
}

// Reads of a line that is being fetched must wait for that fetch; a write to the line must not.
func TestMissesMerge(t *testing.T) {
	b := newBench(t, simcore.NewEngine(), tiny(), inject.DelaySpec{Latency: 80 * ns})
	b.cache.CountBuffers(func(addr uint64) bool { return addr == 0x1000 })
	require.NoError(t, b.space.Write(0x1000, []byte{1, 2, 3, 4}))
	one, two, three := make([]byte, 4), make([]byte, 4), make([]byte, 1)
	first := b.issue(mem.Read, mem.Core, 0x1000, one)
	write := b.issue(mem.Write, mem.Device, 0x1001, []byte{9})
	second := b.issue(mem.Read, mem.Device, 0x1000, two)
	third := b.issue(mem.Read, mem.Device, 0x1001, three)
	b.run()
	require.Equal(t, 1, b.ledger.reads, "one fetch")
	require.Equal(t, []byte{1, 9, 3, 4}, two)
	require.Equal(t, []byte{9}, three)
	require.EqualValues(t, 1, one[0])
	require.Equal(t, []simcore.Ps{90 * ns, 18 * ns, 90 * ns, 26 * ns}, []simcore.Ps{*first, *write, *second, *third})
	c := b.cache.Counters()
	require.EqualValues(t, 1, c[mem.Device].Joins)
	require.EqualValues(t, []uint64{1, 2, 1},
		[]uint64{c[mem.Core].BufferReads, c[mem.Device].BufferReads, c[mem.Device].BufferHits}, "at its first byte")
}

// No more lines may be fetched at a time than the spec allows: three per 80 ns here.
func TestFetchesAreBounded(t *testing.T) {
	s := tiny()
	s.SizeBytes, s.Rate = 64<<10, simcore.Rate{}
	b := newBench(t, simcore.NewEngine(), s, inject.DelaySpec{Latency: 80 * ns})
	done := b.issue(mem.Read, mem.Core, 0, make([]byte, 9*64))
	b.run()
	require.Equal(t, 3*80*ns+10*ns, *done)
	require.EqualValues(t, 2, b.cache.Stats().Stalls)
	require.Equal(t, 2*80*ns, b.cache.Stats().Stalled)
}

// The pipeline must process lines at exactly its rate: at 1,200 Gbps a line takes 426 2/3 ps.
func TestRate(t *testing.T) {
	s, err := armcache.Preset("bf3")
	require.NoError(t, err)
	b := newBench(t, simcore.NewEngine(), s, inject.DelaySpec{})
	var last *simcore.Ps
	for i := range uint64(300) {
		last = b.issue(mem.Write, mem.Device, i*256, make([]byte, 256))
	}
	b.run()
	require.Equal(t, simcore.Ps(1200*64*8000/1200)+s.HitLatency, *last)
}

// Watchers must be called when a write takes effect, and the backdoor must change every copy of the
// bytes.
func TestWatchAndBackdoor(t *testing.T) {
	b := newBench(t, simcore.NewEngine(), tiny(), inject.DelaySpec{Latency: 80 * ns})
	var seen []byte
	_, err := b.cache.Watch(0x1000, 8, func(addr uint64, n int) { seen = append(seen, b.bytes(addr, n)...) })
	require.NoError(t, err)
	_, err = b.cache.Watch(1<<30, 8, nil)
	require.ErrorIs(t, err, mem.ErrNoMemory)
	b.issue(mem.Write, mem.Device, 0x1004, []byte{5, 6})
	require.Equal(t, []byte{5, 6}, seen)
	require.NoError(t, b.cache.Write(0x1003, []byte{1, 2, 3}))
	require.Equal(t, []byte{1, 2, 3}, b.bytes(0x1003, 3))
	got := make([]byte, 4)
	b.issue(mem.Read, mem.Core, 0x1003, got)
	b.run()
	require.Equal(t, []byte{1, 2, 3, 0}, got)
	require.Equal(t, []byte{5, 6}, seen)
	b.issue(mem.Clean, mem.Core, 0x1000, got) // the write-back of this Clean is in flight
	require.NoError(t, b.cache.Write(0x1003, []byte{9}))
	b.run()
	require.NoError(t, b.space.Read(0x1003, got))
	require.Equal(t, []byte{9, 2, 3, 0}, got)
	blind, err := armcache.Builder{Scheduler: b, Spec: tiny(), Memory: b.ledger}.Build("LLC2")
	require.NoError(t, err)
	require.ErrorContains(t, blind.Read(0, got), "to accesses only")
	require.ErrorContains(t, blind.Write(0, got), "to accesses only")
}

// failing is a memory with injected failures.
type failing struct {
	*mem.Sparse
	op mem.Op
}

func (f *failing) Access(a *mem.Access) {
	if a.Op == f.op {
		a.Finish(mem.ErrPoisoned)
		return
	}
	f.Sparse.Access(a)
}

// An error of memory must reach the access that waits for it, or the component if none does.
// Accesses to a line that lies partly outside memory must fail.
func TestErrors(t *testing.T) {
	e := simcore.NewEngine()
	build := func(op mem.Op) *armcache.Cache {
		c, err := armcache.Builder{Scheduler: e, Spec: tiny(), Memory: &failing{mem.NewSparse(1000), op}}.Build("LLC")
		require.NoError(t, err)
		return c
	}
	access := func(c *armcache.Cache, a mem.Access) (err error) {
		err = errors.New("not done")
		a.Done = func(a *mem.Access) { err = a.Err }
		c.Access(&a)
		return errors.Join(e.Run(), err)
	}
	require.ErrorIs(t, access(build(mem.Read), mem.Access{By: mem.Core, Data: make([]byte, 4)}), mem.ErrPoisoned)
	require.ErrorIs(t, access(build(mem.Read), mem.Access{By: mem.Device, Data: make([]byte, 4)}), mem.ErrPoisoned)
	c := build(mem.Read)
	require.ErrorContains(t, access(c, mem.Access{Op: mem.Write, Addr: 64, Data: make([]byte, 4)}),
		"bytes written to line 0x40 are lost")
	require.ErrorIs(t, c.Err(), mem.ErrPoisoned)
	require.ErrorContains(t, access(build(mem.Read), mem.Access{Addr: 990, Data: make([]byte, 4)}),
		"memory ends inside its line")
	require.ErrorContains(t, access(build(mem.Read), mem.Access{Addr: 999, Data: make([]byte, 4)}), "it has 0x3e8 B")
	c = build(mem.Write)
	require.NoError(t, access(c, mem.Access{Op: mem.Write, Data: make([]byte, 64)}))
	require.ErrorIs(t, access(c, mem.Access{Op: mem.Clean, Span: 64}), mem.ErrPoisoned)
}

func TestSpecs(t *testing.T) {
	for _, name := range []string{"bf3", "host-fn", "host-ce", "host-ce-6"} {
		s, err := armcache.Preset(name)
		require.NoError(t, err)
		require.NoError(t, s.Validate(), name)
	}
	_, err := armcache.Preset("bf2")
	require.ErrorContains(t, err, "no cache that devices write to")
	_, err = armcache.Preset("bf4")
	require.ErrorContains(t, err, `preset is "bf4": want one of [bf3 host-ce host-ce-6 host-fn host-op host-rb]`)
	err = armcache.Spec{Rate: simcore.Rate{Bytes: -1}, HitLatency: -1}.Validate()
	for _, field := range []string{"ways", "replacement", "index", "rate", "hit_latency_ps", "fetches 0: want",
		"write_backs"} {
		require.ErrorContains(t, err, field)
	}
	_, err = armcache.Builder{}.Build("LLC")
	require.ErrorContains(t, err, "no scheduler")
	_, err = armcache.Builder{Scheduler: simcore.NewEngine()}.Build("LLC")
	require.ErrorContains(t, err, "no memory")
	_, err = armcache.Builder{Scheduler: simcore.NewEngine(), Memory: mem.NewSparse(1)}.Build("LLC")
	require.ErrorContains(t, err, "LLC: ways 0: want 1 to 64")
}

// A spec must survive a round trip through YAML.
func TestSpecIsPlainData(t *testing.T) {
	s, err := armcache.Preset("host-ce-6")
	require.NoError(t, err)
	text, err := yaml.Marshal(s)
	require.NoError(t, err)
	var got armcache.Spec
	require.NoError(t, yaml.Unmarshal(text, &got))
	require.Equal(t, s, got)
	require.NotContains(t, string(text), "geometry")
	require.Contains(t, string(text), "latency_ps: ")
}
