package armcache_test

import (
	"testing"

	"github.com/stretchr/testify/require"

	"nictwin/models/memory/armcache"
	"nictwin/models/memory/armcache/core"
	"nictwin/models/memory/dram"
	"nictwin/models/memory/mem"
	"nictwin/models/sim/simcore"
)

// receive is a NIC that writes a cyclic ring, and a copy engine that reads each slot some slots
// later, like a SmartNIC that receives into staging buffers.
type receive struct {
	e          *simcore.Engine
	cache      *armcache.Cache
	dram       *dram.DRAM
	ring       uint64 // size of the ring, in bytes
	lag        uint64 // distance from the writes to the copies, in bytes
	invalidate bool   // invalidate each slot after it was copied
	written    uint64 // bytes whose write was issued
	payload    uint64 // bytes copied
	depth      int
}

const slot = 256

func newReceive(t *testing.T, llc int64, ways int) *receive {
	t.Helper()
	s, err := armcache.Preset("bf3")
	require.NoError(t, err)
	s.SizeBytes, s.DeviceWays = llc, core.FirstWays(ways)
	r := &receive{e: simcore.NewEngine(), depth: 64}
	space, err := mem.NewSpace(1<<24, 1<<20)
	require.NoError(t, err)
	d, err := dram.Preset("bf3")
	require.NoError(t, err)
	r.dram, err = dram.Builder{Scheduler: r.e, Spec: d, Memory: space}.Build("DRAM")
	require.NoError(t, err)
	r.cache, err = armcache.Builder{Scheduler: r.e, Spec: s, Memory: r.dram}.Build("LLC")
	require.NoError(t, err)
	return r
}

// start keeps depth writes in flight; each one that ends starts the copy of a slot.
func (r *receive) start() {
	for range r.depth {
		in := &mem.Access{Op: mem.Write, Data: make([]byte, slot)}
		begin := func() {
			in.Addr = r.written % r.ring
			r.written += slot
			r.cache.Access(in)
		}
		again := &simcore.Event{H: handler(begin)}
		in.Done = func(a *mem.Access) {
			if r.written > r.lag {
				r.copy((a.Addr + r.ring - r.lag) % r.ring)
			}
			again.At = r.e.Now() + ns
			r.e.Schedule(again)
		}
		begin()
	}
}

// copy reads a slot, and then invalidates it if invalidate is set.
func (r *receive) copy(addr uint64) {
	drop := &mem.Access{Op: mem.Invalidate, By: mem.Core, Addr: addr, Span: slot, Done: func(*mem.Access) {}}
	r.cache.Access(&mem.Access{Op: mem.Read, Addr: addr, Data: make([]byte, slot), Done: func(*mem.Access) {
		r.payload += slot
		if r.invalidate {
			r.cache.Access(drop)
		}
	}})
}

// How often payload crosses DRAM depends on the ring. A ring that fits the cache must never reach
// DRAM. A larger one is written back once and never read, so it gets the write rate. If copies come
// so late that the bytes have left the cache, each byte is also read back, at the mixed rate.
// Invalidating copied slots avoids DRAM, unless copies come too late. Without allocation, all bytes
// cross DRAM twice.
func TestPassesThroughDRAM(t *testing.T) {
	const llc = 1 << 20
	for _, x := range []struct {
		name        string
		ring, lag   uint64
		invalidate  bool
		ways        int
		back, again float64 // DRAM bytes written and DRAM bytes read, per byte of payload
		gbps        float64 // 0: more than DRAM can sustain
	}{
		{"fits", llc / 2, 0, false, 16, 0, 0, 0},
		{"larger", 4 * llc, 0, false, 16, 1, 0, 240},
		{"larger, late", 4 * llc, 3 * llc, false, 16, 1, 1, 240},
		{"invalidated", 4 * llc, 0, true, 16, 0, 0, 0},
		{"invalidated, within the cache", 4 * llc, llc / 2, true, 16, 0, 0, 0},
		{"invalidated, late", 4 * llc, 3 * llc, true, 16, 1, 1, 240},
		{"no allocation", llc / 2, llc / 4, false, 0, 1, 1, 240},
	} {
		t.Run(x.name, func(t *testing.T) {
			r := newReceive(t, llc, x.ways)
			r.ring, r.lag, r.invalidate = x.ring, x.lag, x.invalidate
			r.start()
			require.NoError(t, r.e.RunUntil(300*simcore.Microsecond))
			before, payload := r.dram.Counters(), r.payload
			const span = 100 * simcore.Microsecond
			require.NoError(t, r.e.RunUntil(r.e.Now()+span))
			after, bytes := r.dram.Counters(), float64(r.payload-payload)
			gbps := bytes * 8000 / float64(span)
			back, again := float64(after.WrittenBytes-before.WrittenBytes)/bytes,
				float64(after.ReadBytes-before.ReadBytes)/bytes
			t.Logf("%s: %.0f Gbps, DRAM bytes written %.3f, read %.3f for each of payload", x.name, gbps, back, again)
			require.InDelta(t, x.back, back, 0.01)
			require.InDelta(t, x.again, again, 0.01)
			if x.gbps == 0 {
				require.Greater(t, gbps, 560.0)
				require.LessOrEqual(t, gbps, 600.1, "every byte passes the cache twice, at 1,200 Gbps")
			} else {
				require.InEpsilon(t, x.gbps, gbps, 0.02)
			}
		})
	}
}
