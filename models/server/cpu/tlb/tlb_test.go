package tlb_test

import (
	"math/rand/v2"
	"testing"

	"github.com/sarchlab/akita/v3/sim"
	"github.com/stretchr/testify/require"

	"nictwin/models/inject"
	"nictwin/models/memory/mem"
	"nictwin/models/memory/mem/memtest"
	"nictwin/models/server/cpu/tlb"
	_ "nictwin/models/sim/fixedseed"
	"nictwin/models/sim/simcore"
)

const (
	ns   = simcore.Nanosecond
	size = 1 << 24
)

func tiny() tlb.Spec {
	return tlb.Spec{PageBytes: tlb.Page4K, Entries: 4, Ways: 2, Walkers: 2, Tables: size / 2, Covers: size / 4}
}

// ledger counts the accesses that reach memory. It can refuse reads of some addresses.
type ledger struct {
	mem.Target
	reads  []uint64
	passed uint64
	refuse uint64
}

func (l *ledger) Access(a *mem.Access) {
	if a.Addr >= size/2 && a.Addr < size/2+1<<16 && len(a.Data) == 8 {
		if l.reads = append(l.reads, a.Addr-size/2); a.Addr == l.refuse {
			a.Finish(mem.ErrAborted)
			return
		}
	} else {
		l.passed += uint64(len(a.Data))
	}
	l.Target.Access(a)
}

func build(t testing.TB, e sim.Engine, s tlb.Spec, d inject.DelaySpec) (*tlb.TLB, *ledger, *mem.Space) {
	space, err := mem.NewSpace(size, 1<<20)
	require.NoError(t, err)
	slow, err := inject.NewDelay("Delay", e, d, space)
	require.NoError(t, err)
	l := &ledger{Target: slow}
	x, err := tlb.Builder{Spec: s, Memory: l}.Build("TLB")
	require.NoError(t, err)
	return x, l, space
}

func TestKeepsTheProtocol(t *testing.T) {
	for name, d := range map[string]inject.DelaySpec{"at once": {},
		"delay": {Latency: 40 * ns, Jitter: 90 * ns, Seed: 5}} {
		for _, akita := range []bool{false, true} {
			memtest.RunContract(t, name, func() (*memtest.Bench, error) {
				own, other := simcore.NewEngine(), sim.NewSerialEngine()
				var e sim.Engine = own
				if akita {
					e = other
				}
				x, _, space := build(t, e, tiny(), d)
				b := &memtest.Bench{Target: x, Peek: space.Read, Size: size, Ends: true, Window: 5 << 12,
					Nowhere: []uint64{mem.Bus(3, 0), size}}
				b.Step = func() (bool, error) {
					if akita {
						return false, other.Run()
					}
					err := own.RunUntil(own.Now() + 30*ns)
					return own.Next() != nil, err
				}
				return b, nil
			})
		}
	}
}

// A miss must cost a read for each level, one after the other; accesses to cached pages must cost
// nothing.
func TestWalks(t *testing.T) {
	const latency = 50 * ns
	for pages, levels := range map[int64]int{tlb.Page4K: 4, tlb.Page2M: 3, tlb.Page1G: 2} {
		s := tiny()
		s.PageBytes = pages
		require.Equal(t, levels, s.Levels())
		e := simcore.NewEngine()
		x, l, _ := build(t, e, s, inject.DelaySpec{Latency: latency})
		var ends []simcore.Ps
		a := &mem.Access{Op: mem.Read, By: mem.Core, Data: make([]byte, 64),
			Done: func(*mem.Access) { ends = append(ends, e.Now()) }}
		x.Access(a)
		require.NoError(t, e.Run())
		a.Addr = 1 << 10
		x.Access(a)
		require.NoError(t, e.Run())
		first := simcore.Ps(levels+1) * latency
		require.Equal(t, []simcore.Ps{first, first + latency}, ends)
		require.Len(t, l.reads, levels)
		require.Equal(t, tlb.Stats{Hits: 1, Misses: 1, Walks: 1, WalkReads: uint64(levels), AcceptedBytes: 128,
			PassedBytes: 128}, x.Stats())
	}
}

// Every page must have an entry of its own on the last level, 512 pages must share one on the next,
// and the levels must not overlap.
func TestTableLayout(t *testing.T) {
	e := simcore.NewEngine()
	s := tiny() // page tables for 4 MB: 1,024 pages
	x, l, _ := build(t, e, s, inject.DelaySpec{})
	require.EqualValues(t, 1024*8+2*8+8+8, s.TableBytes())
	a := &mem.Access{Op: mem.Read, Data: make([]byte, 1), Done: func(*mem.Access) {}}
	for page := range uint64(1024) {
		a.Addr = page << 12
		l.reads = l.reads[:0]
		x.Access(a)
		require.Equal(t, []uint64{1024*8 + 16 + 8, 1024*8 + 16, 1024*8 + page/512*8, page * 8}, l.reads)
	}
}

// Each set must evict its least recently used page, and at most as many walks as there are walkers
// may run at a time.
func TestReplacementAndWalkers(t *testing.T) {
	const latency = 50 * ns
	e := simcore.NewEngine()
	x, _, _ := build(t, e, tiny(), inject.DelaySpec{Latency: latency})
	touch := func(pages ...uint64) (walks uint64, took simcore.Ps) {
		before, began := x.Stats().Walks, e.Now()
		for _, p := range pages {
			x.Access(&mem.Access{Op: mem.Read, Addr: p << 12, Data: make([]byte, 1), Done: func(*mem.Access) {}})
		}
		require.NoError(t, e.Run())
		require.True(t, x.Idle())
		return x.Stats().Walks - before, e.Now() - began
	}
	walks, took := touch(0, 2, 0, 1)
	require.EqualValues(t, 3, walks)
	require.Equal(t, (4+4+1)*latency, took, "two at a time")
	walks, _ = touch(0, 4, 0) // evicts page 2
	require.EqualValues(t, 1, walks)
	walks, _ = touch(0, 4, 1)
	require.Zero(t, walks)
	walks, _ = touch(2)
	require.EqualValues(t, 1, walks)
}

// Bytes must be conserved (in = passed on + held); a walk that fails must fail only the accesses to
// its page.
func TestConservationAndFailure(t *testing.T) {
	e := simcore.NewEngine()
	x, l, _ := build(t, e, tiny(), inject.DelaySpec{Latency: 50 * ns})
	l.refuse = size/2 + 7*8
	rng := rand.New(rand.NewPCG(1, 2))
	failed, ended := 0, 0
	for range 2000 {
		page := rng.Uint64N(12)
		x.Access(&mem.Access{Op: mem.Op(rng.IntN(2)), Addr: page<<12 + rng.Uint64N(4000),
			Data: make([]byte, 1+rng.IntN(96)), Done: func(a *mem.Access) {
				if ended++; a.Err != nil {
					require.ErrorIs(t, a.Err, mem.ErrAborted)
					require.ErrorContains(t, a.Err, "walk to page 0x7")
					require.EqualValues(t, 7, page)
					failed++
				}
			}})
		require.NoError(t, e.RunUntil(e.Now()+simcore.Ps(rng.IntN(200))*ns))
		s := x.Stats()
		require.Equal(t, s.AcceptedBytes, s.PassedBytes+s.Held)
	}
	require.NoError(t, e.Run())
	require.Equal(t, 2000, ended)
	require.NotZero(t, failed)
	require.Less(t, l.passed, x.Stats().AcceptedBytes)
}

func TestSpec(t *testing.T) {
	for _, wantErr := range []string{"page_bytes 5", "entries 0", "ways 0", "walkers 0", "covers_bytes 3",
		"tables 0x1: want a multiple of 8"} {
		require.ErrorContains(t, tlb.Spec{PageBytes: 5, Covers: 3, Tables: 1}.Validate(), wantErr)
	}
	for _, name := range []string{"bf3", "bf2", "host-fn", "host-ce", "host-op", "host-rb"} {
		for _, pages := range []int64{tlb.Page4K, tlb.Page2M, tlb.Page1G} {
			s, err := tlb.Preset(name, pages)
			require.NoError(t, err)
			require.NoError(t, s.Validate(), name)
		}
	}
	_, err := tlb.Preset("x", tlb.Page4K)
	require.ErrorContains(t, err, "want one of [bf2")
	_, err = tlb.Preset("bf3", 5)
	require.ErrorContains(t, err, "pages of 5 B")
	_, err = tlb.Builder{Spec: tiny()}.Build("TLB")
	require.ErrorContains(t, err, "no memory")
	_, err = tlb.Builder{Spec: tiny(), Memory: mem.NewSparse(size / 2)}.Build("TLB")
	require.ErrorIs(t, err, mem.ErrNoMemory)
}

func TestNoAllocation(t *testing.T) {
	e := simcore.NewEngine()
	space, err := mem.NewSpace(size, 1<<20)
	require.NoError(t, err)
	slow, err := inject.NewDelay("Delay", e, inject.DelaySpec{Latency: 50 * ns}, space)
	require.NoError(t, err)
	x, err := tlb.Builder{Spec: tiny(), Memory: slow}.Build("TLB")
	require.NoError(t, err)
	var all [6]mem.Access
	for i := range all {
		all[i] = mem.Access{Op: mem.Op(i & 1), Data: make([]byte, 96), Done: func(*mem.Access) {}}
	}
	at := uint64(0)
	step := func() {
		for i := range all {
			at += 3000
			all[i].Addr = at % (1 << 20)
			x.Access(&all[i])
		}
		require.NoError(t, e.Run())
	}
	for range 1000 {
		step()
	}
	require.Zero(t, testing.AllocsPerRun(1000, step))
}
