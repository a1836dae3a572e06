package throttle_test

import (
	"testing"

	"github.com/sarchlab/akita/v3/sim"
	"github.com/stretchr/testify/require"

	"nictwin/models/inject"
	"nictwin/models/memory/mem"
	"nictwin/models/memory/mem/memrig"
	"nictwin/models/memory/mem/memtest"
	"nictwin/models/server/host/throttle"
	_ "nictwin/models/sim/fixedseed"
	"nictwin/models/sim/simcore"
)

const ns = simcore.Nanosecond

func build(t testing.TB, e sim.Engine, r simcore.Rate, d inject.DelaySpec) (*throttle.Throttle, *mem.Space) {
	space, err := mem.NewSpace(1<<20, 1<<20)
	require.NoError(t, err)
	slow, err := inject.NewDelay("Delay", e, d, space)
	require.NoError(t, err)
	x, err := throttle.Builder{Scheduler: e, Spec: throttle.Spec{Rate: r}, Memory: slow}.Build("Throttle")
	require.NoError(t, err)
	return x, space
}

// rig returns a builder of a throttle over a memory that answers with a delay.
func rig(r simcore.Rate) memrig.Build {
	return func(t testing.TB, e sim.Engine) *memrig.Rig {
		x, space := build(t, e, r, inject.DelaySpec{Latency: 40 * ns, Jitter: 90 * ns, Seed: 5})
		return &memrig.Rig{
			Bench: memtest.Bench{Target: x, Peek: space.Read, Size: 1 << 20, Ends: true,
				Nowhere: []uint64{mem.Bus(3, 0)}}, Idle: x.Idle, Passes: true,
			Flow: func() memrig.Flow {
				s := x.Stats()
				return memrig.Flow{Accepted: s.AcceptedBytes, Finished: s.PassedBytes, Held: s.Held}
			},
		}
	}
}

func TestKeepsTheProtocol(t *testing.T) {
	memrig.Contract(t, "free", rig(simcore.Rate{}))
	memrig.Contract(t, "slow", rig(simcore.Gbps(16)))
}

func TestConservation(t *testing.T) { memrig.Conserve(t, rig(simcore.Gbps(16))) }

func TestNoAllocation(t *testing.T) { memrig.NoAllocation(t, 196, 0, rig(simcore.Gbps(16))) }

// Traffic must have the rate that was set, from the time when it was set.
func TestRates(t *testing.T) {
	e := simcore.NewEngine()
	x, _ := build(t, e, simcore.Rate{}, inject.DelaySpec{})
	var ends []simcore.Ps
	send := func(n int) {
		for range n {
			x.Access(&mem.Access{Op: mem.Write, By: mem.Core, Data: make([]byte, 64), Done: func(*mem.Access) {
				ends = append(ends, e.Now())
			}})
		}
	}
	send(3)
	require.Zero(t, e.Pending(), "no bound, no events")
	require.NoError(t, x.SetRate(simcore.Rate{Bytes: 64, Ps: 100 * ns}))
	send(4)
	require.NoError(t, e.RunUntil(150*ns))
	require.Equal(t, throttle.Stats{AcceptedBytes: 7 * 64, PassedBytes: 5 * 64, Held: 2 * 64, Delayed: 3}, x.Stats())
	require.NoError(t, x.SetRate(simcore.Rate{Bytes: 64, Ps: 10 * ns}))
	require.NoError(t, e.Run())
	require.Equal(t, []simcore.Ps{0, 0, 0, 0, 100 * ns, 150 * ns, 160 * ns}, ends)
	require.True(t, x.Idle())
	require.ErrorContains(t, x.SetRate(simcore.Rate{Bytes: -1}), "rate -1 bytes")
	_, err := throttle.Builder{Spec: throttle.Spec{Rate: simcore.Rate{Ps: 1}}}.Build("Throttle")
	for _, wantErr := range []string{"no scheduler", "no memory", "rate 0 bytes in 1 ps"} {
		require.ErrorContains(t, err, wantErr)
	}
}
