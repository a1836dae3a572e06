package inject_test

import (
	"testing"

	"github.com/stretchr/testify/require"

	"nictwin/models/inject"
	"nictwin/models/memory/mem"
	"nictwin/models/memory/mem/memtest"
	_ "nictwin/models/sim/fixedseed"
	"nictwin/models/sim/simcore"
)

// delays returns a bench with a chain of delays before a memory.
func delays(specs ...inject.DelaySpec) func() (*memtest.Bench, error) {
	return func() (*memtest.Bench, error) {
		e := simcore.NewEngine()
		space, err := mem.NewSpace(1<<20, 1<<20)
		if err != nil {
			return nil, err
		}
		var target mem.Target = space
		for _, s := range specs {
			if target, err = inject.NewDelay("Delay", e, s, target); err != nil {
				return nil, err
			}
		}
		step := func() (bool, error) {
			err := e.RunUntil(e.Now() + 30*simcore.Nanosecond)
			return e.Next() != nil, err
		}
		return &memtest.Bench{Target: target, Peek: space.Read, Size: 1 << 20, Ends: true,
			Nowhere: []uint64{mem.Bus(3, 0)}, Step: step}, nil
	}
}

func TestDelayKeepsTheProtocol(t *testing.T) {
	const ns = simcore.Nanosecond
	memtest.RunContract(t, "none", delays(inject.DelaySpec{}))
	memtest.RunContract(t, "latency", delays(inject.DelaySpec{Latency: 70 * ns}))
	memtest.RunContract(t, "jitter", delays(inject.DelaySpec{Jitter: 200 * ns, Seed: 1}))
	memtest.RunContract(t, "both", delays(inject.DelaySpec{Latency: 50 * ns, Jitter: 100 * ns, Seed: 2}))
	memtest.RunContract(t, "two",
		delays(inject.DelaySpec{Jitter: 100 * ns, Seed: 3},
			inject.DelaySpec{Latency: 40 * ns, Jitter: 60 * ns, Seed: 4}))
}

// Reads take the latency and a jitter within its bound, writes the latency alone; the same seed gives the same
// delays.
func TestDelayTakesItsTime(t *testing.T) {
	const ns = simcore.Nanosecond
	times := func(spec inject.DelaySpec, op mem.Op) (all []simcore.Ps) {
		e := simcore.NewEngine()
		d, err := inject.NewDelay("Delay", e, spec, mem.NewSparse(100))
		require.NoError(t, err)
		for range 50 {
			d.Access(&mem.Access{Op: op, Data: make([]byte, 1), Done: func(*mem.Access) { all = append(all, e.Now()) }})
		}
		require.NoError(t, e.Run())
		require.Len(t, all, 50)
		return all
	}
	spec := inject.DelaySpec{Latency: 20 * ns, Jitter: 100 * ns, Seed: 9}
	for _, at := range times(spec, mem.Write) {
		require.Equal(t, 20*ns, at, "writes have no jitter")
	}
	reads := times(spec, mem.Read)
	require.GreaterOrEqual(t, reads[0], 20*ns)
	require.Less(t, reads[0], 40*ns)
	require.Greater(t, reads[49], 100*ns)
	require.LessOrEqual(t, reads[49], 120*ns)
	require.Equal(t, reads, times(spec, mem.Read))
	spec.Seed++
	require.NotEqual(t, reads, times(spec, mem.Read))
	_, err := inject.NewDelay("Delay", simcore.NewEngine(), inject.DelaySpec{Latency: -1, Jitter: 2 * simcore.Second},
		nil)
	require.ErrorContains(t, err, "latency_ps -1")
	require.ErrorContains(t, err, "jitter_ps 2000000000000")
}
