package host_test

import (
	"testing"

	"github.com/sarchlab/akita/v3/sim"
	"github.com/stretchr/testify/require"

	"nictwin/models/memory/gpu"
	"nictwin/models/memory/mem"
	"nictwin/models/memory/mem/memrig"
	"nictwin/models/memory/mem/memtest"
	"nictwin/models/memory/memmap"
	"nictwin/models/server/cpu"
	"nictwin/models/server/cpu/tlb"
	"nictwin/models/server/host"
	_ "nictwin/models/sim/fixedseed"
	"nictwin/models/sim/simcore"
)

const (
	ns   = simcore.Nanosecond
	half = 1 << 24
)

// rig is a machine of a preset, with little memory.
type rig struct {
	sim.Engine
	t   testing.TB
	s   *host.Server
	gpu *gpu.Memory
}

func newRig(t testing.TB, e sim.Engine, preset string) *rig {
	base := mem.Bus(1, 0)
	if preset[0] == 'b' {
		base = 0
	}
	spec, err := host.Preset(preset, base, tlb.Page4K)
	require.NoError(t, err)
	require.NoError(t, spec.Validate(), preset)
	spec.SocketBytes, spec.TLB.Covers = half, half*uint64(spec.Sockets)
	spec.TLB.Tables = base + half/2
	space, err := mem.NewSpace(2*half, 2*half)
	require.NoError(t, err)
	g, err := gpu.Preset("gen5")
	require.NoError(t, err)
	g.Base, g.Bytes = mem.Bus(1, 1<<40), 1<<20
	card, err := gpu.Builder{Scheduler: e, Spec: g}.Build("GPU")
	require.NoError(t, err)
	s, err := host.Builder{Scheduler: e, Spec: spec, Memory: space,
		Elsewhere: []memmap.Region{card.Region()}}.Build("Host")
	require.NoError(t, err)
	return &rig{e, t, s, card}
}

func (r *rig) core(socket, n int) *host.Core {
	c, err := r.s.Core(socket, n)
	require.NoError(r.t, err)
	again, err := r.s.Core(socket, n)
	require.NoError(r.t, err)
	require.Same(r.t, c, again)
	return c
}

func (r *rig) run() {
	require.NoError(r.t, r.Run())
	require.True(r.t, r.s.Idle())
}

// ofCore returns a builder of memory as a core accesses it: through TLB, caches and throttle,
// across the border of the sockets.
func ofCore(preset string) memrig.Build {
	return func(t testing.TB, e sim.Engine) *memrig.Rig {
		r := newRig(t, e, preset)
		c := r.core(0, 1)
		base := uint64(0x1000)
		if preset[0] == 'h' {
			base = mem.Bus(1, half-500)
		}
		return &memrig.Rig{Bench: memtest.Bench{
			Target: c.TLB, Peek: c.Memory.Read, Base: base, Size: 1000, Window: 1000,
			Nowhere: []uint64{mem.Bus(1, 2*half), mem.Bus(3, 0)},
		}}
	}
}

// A core's memory must follow the protocol of package mem, on a server and on a card.
func TestKeepsTheProtocol(t *testing.T) {
	for _, preset := range []string{"host-fn", "host-op", "host-ce", "host-rb", "bf3", "bf2"} {
		memrig.Contract(t, preset, ofCore(preset))
	}
}

// A device's accesses to either socket must conserve bytes: accepted = finished + held.
func TestConservation(t *testing.T) {
	memrig.Conserve(t, func(t testing.TB, e sim.Engine) *memrig.Rig {
		r := newRig(t, e, "host-rb")
		d, err := r.s.Device(1, "IIO")
		require.NoError(t, err)
		return &memrig.Rig{
			Bench: memtest.Bench{Target: d, Base: mem.Bus(1, half-500), Size: 1000,
				Nowhere: []uint64{mem.Bus(1, 2*half), mem.Bus(3, 0)}}, Idle: r.s.Idle,
			Flow: func() memrig.Flow {
				s := d.Stats()
				return memrig.Flow{Accepted: s.AcceptedBytes, Finished: s.FinishedBytes, Held: s.Held}
			},
		}
	})
}

// The count of bytes that one component of a machine passes on must equal the count that the next one accepts.
func TestPartsAgree(t *testing.T) {
	r := newRig(t, simcore.NewEngine(), "host-fn")
	c := r.core(0, 0)
	require.NoError(t, c.Copy(mem.Bus(1, half-5000), mem.Bus(1, half+100), 4000))
	require.NoError(t, c.Load(mem.Bus(1, 1<<40), make([]byte, 300)))
	require.NoError(t, c.Store(mem.Bus(1, 1<<40), make([]byte, 300)))
	r.run()
	const entry = 8 // bytes of a page-table entry
	walked, p := c.TLB.Stats(), c.Private.Stats()
	require.Positive(t, walked.WalkReads)
	require.Equal(t, walked.AcceptedBytes, walked.PassedBytes)
	require.Equal(t, walked.PassedBytes+entry*walked.WalkReads, p.FinishedBytes)
	require.Equal(t, p.MemoryRead+p.MemoryWritten, c.Throttle.Stats().PassedBytes)
	require.Equal(t, c.Throttle.Stats().PassedBytes, c.Memory.Stats().FinishedBytes)
	crossed := r.s.Sockets.Links()[0].Stats().FinishedBytes
	near, far := r.s.LLC[0].Stats().FinishedBytes, r.s.LLC[1].Stats().FinishedBytes
	require.Positive(t, crossed)
	require.Equal(t, crossed, far)
	require.Equal(t, c.Memory.Stats().FinishedBytes, near+far+r.gpu.Stats().FinishedBytes)
	for i, l := range r.s.LLC {
		require.Equal(t, l.Stats().MemoryRead+l.Stats().MemoryWritten, r.s.DRAM[i].Counters().FinishedBytes)
	}
}

// Accesses of a core and of a device must allocate nothing, through all parts of a machine.
func TestNoAllocation(t *testing.T) {
	memrig.NoAllocation(t, 196, 100, ofCore("host-op"))
	memrig.NoAllocation(t, 196, 100, func(t testing.TB, e sim.Engine) *memrig.Rig {
		d, err := newRig(t, e, "host-fn").s.Device(0, "IIO")
		require.NoError(t, err)
		return &memrig.Rig{Bench: memtest.Bench{Target: d, Base: mem.Bus(1, half-500)}}
	})
}

// A device on socket 0 writes an entry that one core of each socket polls. Both must wake at the
// same time, and the core of the other socket must wait longer for the line; until then both must
// sleep without events.
func TestPollingAcrossSockets(t *testing.T) {
	for _, e := range []sim.Engine{simcore.NewEngine(), sim.NewSerialEngine()} {
		r := newRig(t, e, "host-fn")
		dev, err := r.s.Device(0, "IIO")
		require.NoError(t, err)
		var seen [2]simcore.Ps
		for socket := range 2 {
			c := r.core(socket, 0)
			at := mem.Bus(1, 0x1000+uint64(socket)*64)
			var entry [8]byte
			l, err := c.Add(cpu.LoopSpec{Name: "L", Poll: 10}, func(core *cpu.Core) bool {
				require.NoError(t, core.Load(at, entry[:]))
				if entry[0] == 0 {
					return false
				}
				core.Call(func() { seen[socket] = simcore.Now(e) })
				require.NoError(t, core.Store(at, make([]byte, 1)))
				return true
			})
			require.NoError(t, err)
			_, err = l.Watch(at, 64)
			require.NoError(t, err)
		}
		r.run()
		if own, ok := e.(*simcore.Engine); ok {
			require.Zero(t, own.Pending())
		}
		// The second pass counts: translations and lines are cached by then.
		var took [2]simcore.Ps
		for range 2 {
			began := simcore.Now(e)
			dev.Access(&mem.Access{Op: mem.Write, Addr: mem.Bus(1, 0x1000),
				Data: append([]byte{1}, make([]byte, 64)...), Done: func(*mem.Access) {}})
			dev.Access(&mem.Access{Op: mem.Write, Addr: mem.Bus(1, 0x1040), Data: []byte{1},
				Done: func(*mem.Access) {}})
			r.run()
			for i := range took {
				took[i] = seen[i] - began
			}
		}
		require.InDelta(t, float64(60*ns), float64(took[1]-took[0]), float64(8*ns),
			"two crossings, less what the polls differ")
		require.Less(t, took[0], 60*ns)
		require.EqualValues(t, 4, dev.Stats().Inserts)
	}
}

// A core must copy 7 GB/s from its last-level cache. From DRAM it must copy less, as its line fill
// buffers do not cover the latency, and still less from the other socket. A throttle must bound the
// sum of loads and stores.
func TestMemcpy(t *testing.T) {
	const n = 1 << 18
	for _, x := range []struct {
		name     string
		src      uint64
		cached   bool
		throttle simcore.Rate
		low, top float64 // GB/s
	}{
		{"from the cache", mem.Bus(1, 0), true, simcore.Rate{}, 6.5, 7},
		{"from DRAM", mem.Bus(1, 0), false, simcore.Rate{}, 5, 6.6},
		{"from the other socket's DRAM", mem.Bus(1, half), false, simcore.Rate{}, 3, 4.5},
		{"throttled", mem.Bus(1, 0), true, simcore.Rate{Bytes: 8, Ps: ns}, 3.8, 4},
	} {
		t.Run(x.name, func(t *testing.T) {
			e := simcore.NewEngine()
			r := newRig(t, e, "host-fn")
			c := r.core(0, 0)
			if x.cached {
				require.NoError(t, r.core(0, 1).Prefetch(x.src, n))
				r.run()
			}
			require.NoError(t, r.s.Throttle(x.throttle))
			began, end := e.Now(), simcore.Ps(0)
			require.NoError(t, c.Copy(mem.Bus(1, n), x.src, n))
			c.Fence()
			c.Call(func() { end = e.Now() })
			r.run()
			gbps := n / (float64(end-began) / 1000)
			t.Logf("%.2f GB/s", gbps)
			require.GreaterOrEqual(t, gbps, x.low)
			require.LessOrEqual(t, gbps, x.top)
		})
	}
}

func TestSpec(t *testing.T) {
	spec := host.Spec{LLC: nil}
	err := spec.Validate()
	for _, wantErr := range []string{"cpu.period_ps 0", "tlb.entries 0", "private.ways 0", "dram.channels 0",
		"iio.bytes 0", "socket_bytes 0", "sockets 0: want 1 to 8"} {
		require.ErrorContains(t, err, wantErr)
	}
	_, err = host.Preset("x", 0, tlb.Page4K)
	require.ErrorContains(t, err, `preset is "x"`)
	_, err = host.Builder{}.Build("Host")
	require.ErrorContains(t, err, "want a scheduler and a memory")
	r := newRig(t, simcore.NewEngine(), "bf3")
	_, err = r.s.Core(0, 16)
	require.ErrorContains(t, err, "core 16: want 0 to 15")
	_, err = r.s.Core(1, 0)
	require.ErrorContains(t, err, "socket 1: want 0 to 0")
	_, err = r.s.Device(1, "IIO")
	require.ErrorContains(t, err, "socket 1: want 0 to 0")
	require.Len(t, r.s.LLC, 1)
	require.Nil(t, newRig(t, simcore.NewEngine(), "bf2").s.LLC[0])
	require.Len(t, r.s.DRAM, 1)
	good, err := host.Preset("bf3", 0, tlb.Page4K)
	require.NoError(t, err)
	space, err := mem.NewSpace(1<<20, 1<<20)
	require.NoError(t, err)
	_, err = host.Builder{Scheduler: r, Spec: good, Memory: space}.Build("Host")
	require.ErrorIs(t, err, mem.ErrNoMemory)
}
