package memrig

import (
	"math/rand/v2"
	"testing"

	"github.com/sarchlab/akita/v3/sim"
	"github.com/stretchr/testify/require"

	"nictwin/models/memory/mem"
	"nictwin/models/memory/mem/memtest"
	"nictwin/models/sim/simcore"
)

// Rig is a memory under test. Contract sets the Step of its Bench if it is nil.
type Rig struct {
	memtest.Bench

	// Flow returns the bytes counted so far. Passes is set if the memory counts a byte as finished
	// when it passes it on, and not when its access is done.
	Flow   func() Flow
	Passes bool

	Idle func() bool
}

// Flow counts bytes of reads and writes.
type Flow struct{ Accepted, Finished, Held uint64 }

// Build makes the memory under test on an engine.
type Build func(t testing.TB, e sim.Engine) *Rig

const step = 30 * simcore.Nanosecond

// Contract checks a memory against the protocol, on the engine of simcore and on that of Akita.
func Contract(t *testing.T, name string, build Build) {
	memtest.RunContract(t, name, func() (*memtest.Bench, error) {
		e := simcore.NewEngine()
		b := build(t, e).Bench
		b.Step = func() (bool, error) {
			err := e.RunUntil(e.Now() + step)
			return e.Next() != nil, err
		}
		return &b, nil
	})
	memtest.RunContract(t, name+", on Akita's engine", func() (*memtest.Bench, error) {
		e := sim.NewSerialEngine()
		b := build(t, e).Bench
		b.Step = func() (bool, error) { return false, e.Run() }
		return &b, nil
	})
}

// Conserve plays seeded traffic. It checks at every instant that accepted = finished + held bytes,
// and that nothing is held in the end.
func Conserve(t *testing.T, build Build) {
	own, other := simcore.NewEngine(), sim.NewSerialEngine()
	play(t, own, build(t, own), func(t simcore.Ps) error { return own.RunUntil(own.Now() + t) })
	play(t, other, build(t, other), func(simcore.Ps) error { return nil })
}

// runner is an engine that can run: simcore's or Akita's.
type runner interface{ Run() error }

func play(t require.TestingT, e runner, r *Rig, wait func(simcore.Ps) error) {
	const accesses, longest, window = 3000, 300, 1 << 16
	rng := rand.New(rand.NewPCG(7, 11))
	issued, done, most := uint64(0), uint64(0), uint64(0)
	check := func() {
		f := r.Flow()
		require.Equal(t, issued, f.Accepted, "bytes of the accesses that were issued")
		require.Equal(t, f.Accepted, f.Finished+f.Held)
		if r.Passes {
			require.GreaterOrEqual(t, f.Finished, done)
		} else {
			require.Equal(t, done, f.Finished, "bytes of the accesses that were done")
		}
		most = max(most, f.Held)
	}
	for range accesses {
		a := &mem.Access{Op: mem.Op(rng.IntN(8)), By: mem.Agent(rng.IntN(int(mem.Agents)))}
		if a.Op > mem.Invalidate {
			a.Op &= 1 // reads and writes only, most of the time
		}
		n := rng.IntN(min(longest, int(r.Size)))
		a.Addr = r.Base + rng.Uint64N(min(r.Size, window)-uint64(n))
		nowhere := len(r.Nowhere) > 0 && rng.IntN(20) == 0
		if nowhere {
			a.Addr, n = r.Nowhere[rng.IntN(len(r.Nowhere))], n+1
		}
		if a.Span = n; a.Op.Moves() {
			a.Data, a.Span = make([]byte, n), 0
		}
		a.Done = func(a *mem.Access) {
			if !nowhere {
				require.NoError(t, a.Err)
				done += uint64(len(a.Data))
			}
		}
		if !nowhere {
			issued += uint64(len(a.Data))
		}
		r.Target.Access(a)
		check()
		require.NoError(t, wait(simcore.Ps(rng.Int64N(2*int64(step)))))
		check()
	}
	require.Positive(t, most, "traffic that is never held shows nothing")
	require.NoError(t, e.Run())
	check()
	require.Equal(t, issued, done)
	require.Zero(t, r.Flow().Held)
	require.True(t, r.Idle())
}

// NoAllocation checks that reads and writes of n bytes, at addresses stride apart, allocate nothing
// in steady state.
func NoAllocation(t *testing.T, n int, stride uint64, build Build) {
	e := simcore.NewEngine()
	r := build(t, e)
	var all [6]mem.Access
	for i := range all {
		all[i] = mem.Access{Op: mem.Op(i & 1), By: mem.Agent(i / 3), Addr: r.Base + uint64(i)*stride,
			Data: make([]byte, n), Done: func(*mem.Access) {}}
	}
	step := func() {
		for i := range all {
			r.Target.Access(&all[i])
		}
		require.NoError(t, e.Run())
	}
	step()
	require.Zero(t, testing.AllocsPerRun(1000, step))
}
