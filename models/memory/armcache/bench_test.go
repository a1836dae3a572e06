package armcache_test

import (
	"testing"

	"github.com/stretchr/testify/require"

	"nictwin/models/memory/armcache"
	"nictwin/models/memory/mem"
	"nictwin/models/sim/simcore"
)

// streamer is a device that writes a ring through a cache, and reads it back.
type streamer struct {
	e     *simcore.Engine
	cache *armcache.Cache
	a     mem.Access
	ring  uint64
	at    uint64
}

func newStreamer(t testing.TB, ring uint64) *streamer {
	e := simcore.NewEngine()
	s, err := armcache.Preset("bf3")
	require.NoError(t, err)
	space, err := mem.NewSpace(1<<26, 1<<20)
	require.NoError(t, err)
	c, err := armcache.Builder{Scheduler: e, Spec: s, Memory: space}.Build("LLC")
	require.NoError(t, err)
	x := &streamer{e: e, cache: c, ring: ring}
	x.a.Data, x.a.Done = make([]byte, 256), func(*mem.Access) {}
	return x
}

// step writes 256 B and reads them back: two accesses.
func (x *streamer) step(t testing.TB) {
	x.a.Addr = x.at % x.ring
	for _, op := range []mem.Op{mem.Write, mem.Read} {
		x.a.Op = op
		x.cache.Access(&x.a)
		if err := x.e.Run(); err != nil {
			t.Fatal(err)
		}
	}
	x.at += 256
}

func (x *streamer) warm(t testing.TB) {
	for range 2 * x.ring / 256 {
		x.step(t)
	}
}

// BenchmarkStream measures a ring that fits the cache, and one whose lines are all written back.
func BenchmarkStream(b *testing.B) {
	for name, ring := range map[string]uint64{"fits": 1 << 20, "evicts": 1 << 25} {
		b.Run(name, func(b *testing.B) {
			x := newStreamer(b, ring)
			x.warm(b)
			b.ReportAllocs()
			b.ResetTimer()
			for range b.N {
				x.step(b)
			}
		})
	}
}

func TestNoAllocationPerAccess(t *testing.T) {
	for _, ring := range []uint64{1 << 20, 1 << 25} {
		x := newStreamer(t, ring)
		x.warm(t)
		require.Zero(t, testing.AllocsPerRun(2000, func() { x.step(t) }), "a ring of %d B", ring)
	}
}
