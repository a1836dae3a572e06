package memlink_test

import (
	"testing"

	"github.com/sarchlab/akita/v3/sim"
	"github.com/stretchr/testify/require"

	"nictwin/models/inject"
	"nictwin/models/memory/mem"
	"nictwin/models/memory/mem/memrig"
	"nictwin/models/memory/mem/memtest"
	"nictwin/models/memory/memlink"
	_ "nictwin/models/sim/fixedseed"
	"nictwin/models/sim/simcore"
)

const ns = simcore.Nanosecond

func spec() memlink.Spec {
	return memlink.Spec{Latency: 30 * ns, Rate: simcore.Gbps(64), HeaderBytes: 8}
}

func build(t testing.TB, e sim.Engine, d inject.DelaySpec) (*memlink.Link, *mem.Space) {
	space, err := mem.NewSpace(1<<20, 1<<20)
	require.NoError(t, err)
	slow, err := inject.NewDelay("Delay", e, d, space)
	require.NoError(t, err)
	l, err := memlink.Builder{Scheduler: e, Spec: spec(), Memory: slow}.Build("Link")
	require.NoError(t, err)
	return l, space
}

// rig returns a builder of a link over a memory with a delay.
func rig(d inject.DelaySpec) memrig.Build {
	return func(t testing.TB, e sim.Engine) *memrig.Rig {
		l, space := build(t, e, d)
		return &memrig.Rig{
			Bench: memtest.Bench{Target: l, Peek: space.Read, Size: 1 << 20, Ends: true,
				Nowhere: []uint64{mem.Bus(3, 0)}}, Idle: l.Idle,
			Flow: func() memrig.Flow {
				s := l.Stats()
				return memrig.Flow{Accepted: s.AcceptedBytes, Finished: s.FinishedBytes, Held: s.Held}
			},
		}
	}
}

func TestKeepsTheProtocol(t *testing.T) {
	memrig.Contract(t, "at once", rig(inject.DelaySpec{}))
	memrig.Contract(t, "delay", rig(inject.DelaySpec{Latency: 40 * ns, Jitter: 90 * ns, Seed: 5}))
}

func TestConservation(t *testing.T) {
	memrig.Conserve(t, rig(inject.DelaySpec{Latency: 40 * ns, Jitter: 90 * ns, Seed: 5}))
}

func TestNoAllocation(t *testing.T) {
	memrig.NoAllocation(t, 96, 1000, rig(inject.DelaySpec{Latency: 40 * ns}))
}

// An access must take the latency of both directions and the time of its bytes, at 8 B/ns: a
// write's on the way there, a read's on the way back.
func TestTimes(t *testing.T) {
	e := simcore.NewEngine()
	l, _ := build(t, e, inject.DelaySpec{})
	var ends []simcore.Ps
	for _, x := range []struct {
		op mem.Op
		n  int
	}{{mem.Read, 64}, {mem.Read, 64}, {mem.Write, 64}, {mem.Clean, 64}} {
		a := &mem.Access{Op: x.op, Done: func(*mem.Access) { ends = append(ends, e.Now()) }}
		if a.Span = x.n; x.op.Moves() {
			a.Data = make([]byte, x.n)
		}
		l.Access(a)
	}
	require.NoError(t, e.Run())
	// Requests leave at 1, 2, 11 and 12 ns; responses take 9, 9, 1 and 1 ns.
	require.Equal(t, []simcore.Ps{(31 + 9 + 30) * ns, (40 + 9 + 30) * ns, (49 + 1 + 30) * ns, (50 + 1 + 30) * ns}, ends)
	require.Equal(t, memlink.Stats{Accesses: 4, AcceptedBytes: 192, FinishedBytes: 192, ThereBytes: 96, BackBytes: 160},
		l.Stats())
	require.True(t, l.Idle())
}

func TestSpec(t *testing.T) {
	err := memlink.Spec{Latency: -1, HeaderBytes: -1, Rate: simcore.Rate{Ps: 1}}.Validate()
	for _, wantErr := range []string{"latency_ps -1", "header_bytes -1", "rate 0 bytes in 1 ps"} {
		require.ErrorContains(t, err, wantErr)
	}
	e := simcore.NewEngine()
	_, err = memlink.Builder{Memory: mem.NewSparse(1)}.Build("Link")
	require.ErrorContains(t, err, "no scheduler")
	_, err = memlink.Builder{Scheduler: e}.Build("Link")
	require.ErrorContains(t, err, "no memory")
	_, err = memlink.Builder{Scheduler: e, Memory: mem.NewSparse(1), Spec: memlink.Spec{Latency: -1}}.Build("Link")
	require.ErrorContains(t, err, "Link: latency_ps")
}
