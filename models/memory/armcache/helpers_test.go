package armcache_test

import (
	"math/rand/v2"
	"testing"

	"github.com/sarchlab/akita/v3/sim"
	"github.com/stretchr/testify/require"

	"nictwin/models/inject"
	"nictwin/models/memory/armcache"
	"nictwin/models/memory/armcache/core"
	"nictwin/models/memory/mem"
	"nictwin/models/sim/simcore"
)

const ns = simcore.Nanosecond

// tiny returns the spec of a cache that is so small that evictions and stalls occur soon.
func tiny() armcache.Spec {
	return armcache.Spec{
		Geometry: core.Geometry{SizeBytes: 512, Ways: 4, DeviceWays: 0x3, Replacement: core.LRU, Index: core.Plain},
		Rate:     simcore.Gbps(128), HitLatency: 10 * ns, Fetches: 3, WriteBacks: 2,
	}
}

// ledger counts what reaches the memory behind a cache.
type ledger struct {
	mem.Target
	read, written uint64
	reads, writes int
}

func (l *ledger) Access(a *mem.Access) {
	switch a.Op {
	case mem.Read:
		l.reads++
		l.read += uint64(len(a.Data))
	case mem.Write:
		l.writes++
		l.written += uint64(len(a.Data))
	}
	l.Target.Access(a)
}

// bench is a cache over a memory that answers with a delay.
type bench struct {
	sim.Engine
	t      *testing.T
	space  *mem.Space
	ledger *ledger
	cache  *armcache.Cache
}

func newBench(t *testing.T, e sim.Engine, s armcache.Spec, d inject.DelaySpec) *bench {
	t.Helper()
	b := &bench{Engine: e, t: t}
	var err error
	b.space, err = mem.NewSpace(1<<24, 1<<20)
	require.NoError(t, err)
	slow, err := inject.NewDelay("Delay", e, d, b.space)
	require.NoError(t, err)
	b.ledger = &ledger{Target: slow}
	b.cache, err = armcache.Builder{Scheduler: e, Spec: s, Memory: b.ledger, Backdoor: b.space}.Build("LLC")
	require.NoError(t, err)
	return b
}

// issue starts an access; the result holds the time when it was done.
func (b *bench) issue(op mem.Op, by mem.Agent, addr uint64, data []byte) *simcore.Ps {
	done := new(simcore.Ps)
	*done = -1
	a := &mem.Access{Op: op, By: by, Addr: addr, Done: func(a *mem.Access) {
		require.NoError(b.t, a.Err)
		*done = simcore.Now(b)
	}}
	if a.Data = data; !op.Moves() {
		a.Data, a.Span = nil, len(data)
	}
	b.cache.Access(a)
	return done
}

// run runs until no event is left, and requires that nothing is held.
func (b *bench) run() {
	b.t.Helper()
	require.NoError(b.t, b.Run())
	require.True(b.t, b.cache.Idle())
	s := b.cache.Stats()
	require.Equal(b.t, s.AcceptedBytes, s.FinishedBytes)
	c := b.cache.Counters()
	sum := c.Sum()
	require.Equal(b.t, sum.ReadBytes+sum.WriteBytes, s.AcceptedBytes, "every byte has its turn once")
	require.Equal(b.t, []uint64{sum.MemoryReadBytes(), sum.MemoryWriteBytes()}, []uint64{s.MemoryRead, s.MemoryWritten})
	require.Equal(b.t, []uint64{b.ledger.read, b.ledger.written}, []uint64{s.MemoryRead, s.MemoryWritten})
}

func (b *bench) bytes(addr uint64, n int) []byte {
	got := make([]byte, n)
	require.NoError(b.t, b.cache.Read(addr, got))
	return got
}

// handler is a function that handles events.
type handler func()

func (h handler) Handle(sim.Event) error { h(); return nil }

// storm issues random accesses at random times, and hashes their results. Almost no access comes at a whole nanosecond,
// and all other events do, so that they hardly coincide.
type storm struct {
	b      *bench
	digest uint64
	open   int
}

func (s *storm) play(seed uint64, n int) {
	rng := rand.New(rand.NewPCG(seed, 1))
	at := 0 * ns
	for i := range n {
		at += simcore.Ps(1+rng.IntN(8)) * ns
		op := [...]mem.Op{mem.Read, mem.Write, mem.Read, mem.Write, mem.Write, mem.Clean, mem.Invalidate}[rng.IntN(7)]
		a := &mem.Access{Op: op, By: mem.Agent(rng.IntN(2)), Addr: uint64(rng.IntN(4096))}
		if size := 1 + rng.IntN(300); op.Moves() {
			a.Data = make([]byte, size)
		} else {
			a.Span = size
		}
		for k := range a.Data {
			a.Data[k] = byte(i + k)
		}
		a.Done = func(a *mem.Access) {
			s.open--
			require.NoError(s.b.t, a.Err)
			h := core.Mix(uint64(i)<<40 ^ uint64(simcore.Now(s.b)))
			for _, v := range a.Data {
				h = core.Mix(h ^ uint64(v))
			}
			s.digest += h // a sum, as the order of accesses done at one instant does not matter
		}
		s.open++
		s.b.Schedule(&simcore.Event{At: at + simcore.Ps(i%997), H: handler(func() { s.b.cache.Access(a) })})
	}
}
