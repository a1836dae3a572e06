package rootbus_test

import (
	"testing"

	"github.com/stretchr/testify/require"

	"nictwin/models/memory/armcache"
	"nictwin/models/memory/mem"
	"nictwin/models/sim/simcore"
	"nictwin/stack/driver/rootbus"
)

// TestTimedAllocatesNothing checks that accesses of a timed bus go through the cache and take its time, many at once,
// and that they allocate nothing in steady state.
func TestTimedAllocatesNothing(t *testing.T) {
	e := simcore.NewEngine()
	space, err := mem.NewSpace(1<<20, 1<<20)
	require.NoError(t, err)
	spec, err := armcache.Preset("bf3")
	require.NoError(t, err)
	cache, err := armcache.Builder{Scheduler: e, Spec: spec, Memory: space, Backdoor: space}.Build("Cache")
	require.NoError(t, err)
	bus := rootbus.NewTimed(nil, cache)
	var failed error
	ended := 0
	done := func(err error) {
		ended++
		if err != nil {
			failed = err
		}
	}
	const each = 8
	var in, out [each][100]byte
	round := func() {
		for i := range each {
			out[i][0]++
			bus.Write(uint64(0x1000+200*i), out[i][:], done)
			bus.Read(uint64(0x1000+200*i), in[i][:], done)
		}
		if err := e.Run(); err != nil {
			failed = err
		}
	}
	began := e.Now()
	round()
	require.GreaterOrEqual(t, e.Now()-began, spec.HitLatency)
	for range 20 {
		round()
	}
	require.Zero(t, testing.AllocsPerRun(200, round))
	require.NoError(t, failed)
	require.Equal(t, out, in)
	require.Equal(t, 222*2*each, ended)
}
