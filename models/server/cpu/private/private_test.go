package private_test

import (
	"math/rand/v2"
	"slices"
	"testing"

	"github.com/sarchlab/akita/v3/sim"
	"github.com/stretchr/testify/require"

	"nictwin/models/inject"
	"nictwin/models/memory/armcache"
	"nictwin/models/memory/armcache/core"
	"nictwin/models/memory/mem"
	"nictwin/models/memory/mem/memrig"
	"nictwin/models/memory/mem/memtest"
	"nictwin/models/server/cpu"
	"nictwin/models/server/cpu/private"
	_ "nictwin/models/sim/fixedseed"
	"nictwin/models/sim/simcore"
)

const ns = simcore.Nanosecond

func tiny() private.Spec { return private.Spec{SizeBytes: 512, Ways: 2, HitLatency: 4 * ns} }

// shared returns memory with a delay, with or without a last-level cache in front.
func shared(e sim.Engine, d inject.DelaySpec, llc bool) (memory mem.Target, view mem.Backdoor, sn private.WriteNotifier,
	err error) {
	space, err := mem.NewSpace(1<<20, 1<<20)
	if err != nil {
		return nil, nil, nil, err
	}
	slow, err := inject.NewDelay("Delay", e, d, space)
	if err != nil || !llc {
		return slow, space, space, err
	}
	c, err := armcache.Builder{Scheduler: e, Memory: slow, Backdoor: space, Spec: armcache.Spec{
		Geometry: core.Geometry{SizeBytes: 1024, Ways: 4, DeviceWays: 3, Replacement: core.LRU, Index: core.Plain},
		Rate:     simcore.Gbps(128), HitLatency: 10 * ns, Fetches: 3, WriteBacks: 2,
	}}.Build("LLC")
	return c, c, c, err
}

func build(e sim.Engine, d inject.DelaySpec, llc bool) (*memtest.Bench, error) {
	memory, view, sn, err := shared(e, d, llc)
	if err != nil {
		return nil, err
	}
	c, err := private.Builder{Scheduler: e, Spec: tiny(), Memory: memory, View: view,
		Domain: private.NewDomain(sn)}.Build("L2")
	return &memtest.Bench{Target: c, Peek: c.Read, Size: 1 << 20, Ends: true, Window: 900,
		Nowhere: []uint64{mem.Bus(3, 0)}}, err
}

func TestKeepsTheProtocol(t *testing.T) {
	delay := inject.DelaySpec{Latency: 40 * ns, Jitter: 90 * ns, Seed: 5}
	for name, llc := range map[string]bool{"over memory": false, "over a cache": true} {
		for suffix, d := range map[string]inject.DelaySpec{"": {}, " and a delay": delay} {
			memtest.RunContract(t, name+suffix, func() (*memtest.Bench, error) {
				e := simcore.NewEngine()
				b, err := build(e, d, llc)
				b.Step = func() (bool, error) {
					err := e.RunUntil(e.Now() + 30*ns)
					return e.Next() != nil, err
				}
				return b, err
			})
		}
	}
	memtest.RunContract(t, "on Akita's engine", func() (*memtest.Bench, error) {
		e := sim.NewSerialEngine()
		b, err := build(e, delay, true)
		b.Step = func() (bool, error) { return false, e.Run() }
		return b, err
	})
}

// naive is a private cache to compare with: for each set a list of lines, most recently used first.
type naive struct{ sets map[uint64][]uint64 }

func (n naive) touch(line uint64) (hit bool) {
	const sets, ways = 4, 2
	s := line % sets
	hit = n.drop(line)
	n.sets[s] = append([]uint64{line}, n.sets[s]...)
	n.sets[s] = n.sets[s][:min(ways, len(n.sets[s]))]
	return hit
}

func (n naive) drop(line uint64) bool {
	const sets = 4
	i := slices.Index(n.sets[line%sets], line)
	if i >= 0 {
		n.sets[line%sets] = slices.Delete(n.sets[line%sets], i, i+1)
	}
	return i >= 0
}

// Three caches and a device: after each of 30,000 accesses, the caches must hold the same lines as
// the naive ones.
func TestLockstepWithNaive(t *testing.T) {
	e := simcore.NewEngine()
	memory, view, sn, err := shared(e, inject.DelaySpec{Latency: 20 * ns}, false)
	require.NoError(t, err)
	d := private.NewDomain(sn)
	const caches, lines = 3, 40
	var all [caches]*private.Cache
	var want [caches]naive
	for i := range all {
		all[i], err = private.Builder{Scheduler: e, Spec: tiny(), Memory: memory, View: view, Domain: d}.Build("L2")
		require.NoError(t, err)
		want[i].sets = map[uint64][]uint64{}
	}
	rng := rand.New(rand.NewPCG(7, 8))
	for range 30_000 {
		who, line := rng.IntN(caches+1), rng.Uint64N(lines)
		a := &mem.Access{Op: [...]mem.Op{mem.Read, mem.Read, mem.Write, mem.Invalidate}[rng.IntN(4)], By: mem.Core,
			Addr: line*64 + rng.Uint64N(60), Done: func(*mem.Access) {}}
		if a.Span = 4; a.Op.Moves() {
			a.Data = make([]byte, 4)
		}
		var took simcore.Ps
		began := e.Now()
		a.Done = func(*mem.Access) { took = e.Now() - began }
		if who == caches { // the number after the last cache stands for the device
			a.By = mem.Device
			memory.Access(a)
		} else {
			all[who].Access(a)
		}
		require.NoError(t, e.Run())
		for i := range want {
			switch {
			case i == who && a.Op == mem.Invalidate, i != who && a.Op == mem.Write:
				want[i].drop(line)
			case i == who && a.Op.Moves():
				if hit := want[i].touch(line); a.Op == mem.Read {
					require.Equal(t, hit, took == 4*ns)
				}
			}
			for l := range uint64(lines) {
				require.Equal(t, slices.Contains(want[i].sets[l%4], l), all[i].Has(l*64))
			}
		}
	}
	for _, c := range all {
		s := c.Stats()
		require.NotZero(t, s.Snooped)
		require.Equal(t, s.AcceptedBytes, s.FinishedBytes)
		require.True(t, c.Idle())
	}
}

// A line that another agent writes while it is being fetched must not be cached when it arrives.
func TestWrittenOnItsWay(t *testing.T) {
	e := simcore.NewEngine()
	memory, view, sn, err := shared(e, inject.DelaySpec{Latency: 20 * ns}, false)
	require.NoError(t, err)
	c, err := private.Builder{Scheduler: e, Spec: tiny(), Memory: memory, View: view,
		Domain: private.NewDomain(sn)}.Build("L2")
	require.NoError(t, err)
	read := &mem.Access{Op: mem.Read, By: mem.Core, Addr: 0x100, Data: make([]byte, 8), Done: func(*mem.Access) {}}
	write := &mem.Access{Op: mem.Write, Addr: 0x13f, Data: []byte{1}, Done: func(*mem.Access) {}}
	memory.Access(write) // takes effect at 20 ns
	require.NoError(t, e.RunUntil(10*ns))
	c.Access(read) // is done at 30 ns
	require.NoError(t, e.Run())
	require.False(t, c.Has(0x100))
	c.Access(read)
	require.NoError(t, e.Run())
	require.True(t, c.Has(0x100))
}

// recorder records of each read whether it is one of lines that the cache has or fetches.
type recorder struct {
	mem.Target
	again []bool
}

func (r *recorder) Access(a *mem.Access) {
	if a.Op == mem.Read {
		r.again = append(r.again, a.Again)
	}
	r.Target.Access(a)
}

// A read of a line that the cache is fetching or writing must tell the memory behind that it is no further lookup; one
// of a line that a device has written meanwhile must not.
func TestReadsAgain(t *testing.T) {
	e := simcore.NewEngine()
	memory, view, sn, err := shared(e, inject.DelaySpec{Latency: 50 * ns}, false)
	require.NoError(t, err)
	behind := &recorder{Target: memory}
	c, err := private.Builder{Scheduler: e, Spec: tiny(), Memory: behind, View: view,
		Domain: private.NewDomain(sn)}.Build("L2")
	require.NoError(t, err)
	access := func(op mem.Op, addr uint64, n int) {
		c.Access(&mem.Access{Op: op, By: mem.Core, Addr: addr, Data: make([]byte, n), Done: func(*mem.Access) {}})
	}
	access(mem.Read, 0x100, 64) // as by a prefetch
	access(mem.Read, 0x108, 8)
	access(mem.Read, 0x13c, 8) // of the next line, too
	require.NoError(t, e.Run())
	access(mem.Read, 0x100, 8) // a hit
	access(mem.Write, 0x100, 8)
	access(mem.Read, 0x100, 8)
	require.NoError(t, e.Run())
	require.Equal(t, []bool{false, true, false, true}, behind.again)
	access(mem.Read, 0x200, 8)
	sn.(*mem.Space).Access(&mem.Access{Op: mem.Write, Addr: 0x200, Data: []byte{1}, Done: func(*mem.Access) {}})
	access(mem.Read, 0x200, 8)
	require.NoError(t, e.Run())
	require.Equal(t, []bool{false, false}, behind.again[4:])
}

// A core that polls a line must pay the private latency, and miss once after a device has written
// it.
func TestPolledLine(t *testing.T) {
	e := simcore.NewEngine()
	memory, view, sn, err := shared(e, inject.DelaySpec{Latency: 50 * ns}, false)
	require.NoError(t, err)
	space := sn.(*mem.Space)
	p, err := private.Builder{Scheduler: e, Spec: tiny(), Memory: memory, View: view,
		Domain: private.NewDomain(sn)}.Build("L2")
	require.NoError(t, err)
	c, err := cpu.Builder{Scheduler: e, Spec: cpu.Spec{Period: 1000, Cores: 1, Misses: 4, Stores: 4}, Memory: p,
		View: p, Watcher: space}.Build("Core")
	require.NoError(t, err)
	var entry [8]byte
	var steps []simcore.Ps
	l, err := c.Add(cpu.LoopSpec{Name: "L", Poll: 10}, func(c *cpu.Core) bool {
		steps = append(steps, c.Now())
		require.NoError(t, c.Load(0x1000, entry[:]))
		return len(steps)%2 == 0 // the step that sees a write asks for one more poll
	})
	require.NoError(t, err)
	_, err = l.Watch(0x1000, 64)
	require.NoError(t, err)
	require.NoError(t, e.Run())
	for range 2 {
		space.Access(&mem.Access{Op: mem.Write, Addr: 0x1008, Data: []byte{1}, Done: func(*mem.Access) {}})
		require.NoError(t, e.Run())
	}
	// The first poll misses, which takes until 50 ns. The poll at 60 ns finds the line invalidated by the write of 50
	// ns, and misses, until 110 ns. The next one hits. The second write causes one more miss.
	require.Equal(t, []simcore.Ps{0, 60 * ns, 110 * ns, 120 * ns}, steps[:4])
	require.Equal(t, private.Stats{Hits: p.Stats().Hits, Misses: 3, Snooped: 2, AcceptedBytes: 8 * uint64(len(steps)),
		FinishedBytes: 8 * uint64(len(steps)),
		MemoryRead:    24, MemoryReads: 3}, p.Stats())
}

func TestBuilder(t *testing.T) {
	e := simcore.NewEngine()
	memory, view, sn, err := shared(e, inject.DelaySpec{}, false)
	require.NoError(t, err)
	d := private.NewDomain(sn)
	for _, x := range []struct {
		b       private.Builder
		wantErr string
	}{
		{private.Builder{Memory: memory, View: view, Domain: d, Spec: tiny()}, "no scheduler"},
		{private.Builder{Scheduler: e, View: view, Domain: d, Spec: tiny()}, "no memory"},
		{private.Builder{Scheduler: e, Memory: memory, Domain: d, Spec: tiny()}, "no view"},
		{private.Builder{Scheduler: e, Memory: memory, View: view, Spec: tiny()}, "no domain"},
		{private.Builder{Scheduler: e, Memory: memory, View: view, Domain: d,
			Spec: private.Spec{SizeBytes: 100, Ways: 2}}, "size_bytes 100: want a multiple of 128"},
		{private.Builder{Scheduler: e, Memory: memory, View: view, Domain: d, Spec: private.Spec{HitLatency: -1}},
			"hit_latency_ps -1"},
	} {
		_, err := x.b.Build("L2")
		require.ErrorContains(t, err, x.wantErr)
	}
	for range private.MaxCaches {
		_, err := private.Builder{Scheduler: e, Memory: memory, View: view, Domain: d, Spec: tiny()}.Build("L2")
		require.NoError(t, err)
	}
	_, err = private.Builder{Scheduler: e, Memory: memory, View: view, Domain: d, Spec: tiny()}.Build("L2")
	require.ErrorContains(t, err, "64 caches, the most")
	for _, name := range []string{"bf3", "bf2", "host-fn", "host-ce", "host-op", "host-rb"} {
		s, err := private.Preset(name)
		require.NoError(t, err)
		require.NoError(t, s.Validate(), name)
	}
	_, err = private.Preset("x")
	require.ErrorContains(t, err, "want one of [bf2")
}

func TestConservation(t *testing.T) {
	memrig.Conserve(t, func(t testing.TB, e sim.Engine) *memrig.Rig {
		b, err := build(e, inject.DelaySpec{Latency: 40 * ns, Jitter: 90 * ns, Seed: 5}, false)
		require.NoError(t, err)
		c := b.Target.(*private.Cache)
		return &memrig.Rig{Bench: *b, Idle: c.Idle, Flow: func() memrig.Flow {
			s := c.Stats()
			return memrig.Flow{Accepted: s.AcceptedBytes, Finished: s.FinishedBytes, Held: s.Held}
		}}
	})
}

// Memory that does not report writes must not be cached: each read must go to the memory behind,
// and so see the writes there.
func TestUncached(t *testing.T) {
	e := simcore.NewEngine()
	space, err := mem.NewSpace(1<<20, 1<<20)
	require.NoError(t, err)
	c, err := private.Builder{Scheduler: e, Spec: tiny(), Memory: space, Domain: private.NewDomain(space),
		Uncached: []private.Range{{Base: 4096, Bytes: 4096}}}.Build("L2")
	require.NoError(t, err)
	for _, x := range []struct {
		addr uint64
		kept bool
	}{{4032, true}, {4096, false}, {8128, false}, {8192, true}} {
		for _, op := range []mem.Op{mem.Write, mem.Read} {
			c.Access(&mem.Access{Op: op, By: mem.Core, Addr: x.addr, Data: make([]byte, 64),
				Done: func(a *mem.Access) { require.NoError(t, a.Err) }})
			require.NoError(t, e.Run())
		}
		require.Equal(t, x.kept, c.Has(x.addr), "%#x", x.addr)
	}
	require.EqualValues(t, 2, c.Stats().Hits)
	require.EqualValues(t, 2, c.Stats().MemoryReads)
}

func TestNoAllocation(t *testing.T) {
	e := simcore.NewEngine()
	memory, view, sn, err := shared(e, inject.DelaySpec{Latency: 20 * ns}, false)
	require.NoError(t, err)
	c, err := private.Builder{Scheduler: e, Spec: tiny(), Memory: memory, View: view,
		Domain: private.NewDomain(sn)}.Build("L2")
	require.NoError(t, err)
	a := &mem.Access{By: mem.Core, Data: make([]byte, 96), Done: func(*mem.Access) {}}
	at := uint64(0)
	step := func() {
		for i := range 4 {
			a.Op, a.Addr = mem.Op(i&1), at%4096
			c.Access(a)
			require.NoError(t, e.Run())
			at += 40
		}
	}
	step()
	require.Zero(t, testing.AllocsPerRun(1000, step))
}
