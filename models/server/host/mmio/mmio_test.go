package mmio_test

import (
	"errors"
	"testing"

	"github.com/sarchlab/akita/v3/sim"
	"github.com/stretchr/testify/require"

	"nictwin/models/inject"
	"nictwin/models/memory/mem"
	"nictwin/models/server/cpu"
	"nictwin/models/server/host/mmio"
	"nictwin/models/sim/simcore"
)

const ns = simcore.Nanosecond

// rig is a core, a path, and a window on slow memory.
type rig struct {
	sim.Engine
	space *mem.Space
	core  *cpu.Core
	path  *mmio.Path
}

func newRig(t testing.TB, e sim.Engine, s mmio.Spec) *rig {
	r := &rig{Engine: e}
	var err error
	r.space, err = mem.NewSpace(1<<20, 1<<20)
	require.NoError(t, err)
	slow, err := inject.NewDelay("Delay", e, inject.DelaySpec{Latency: 10 * ns}, r.space)
	require.NoError(t, err)
	r.path, err = mmio.Builder{Scheduler: e, Spec: s, Registers: &mmio.Window{Memory: slow, Base: 0x1000}}.Build("Path")
	require.NoError(t, err)
	r.core, err = cpu.Builder{Scheduler: e, Spec: cpu.Spec{Period: 1000, Cores: 1, Misses: 4, Stores: 4,
		MMIOPost: 100 * ns}, Memory: r.space}.Build("Core")
	require.NoError(t, err)
	return r
}

// The first write must arrive after the latency alone, each later one a service time after the one before. Only a
// path with Spec.Depth accesses in flight may hold back the core.
func TestPath(t *testing.T) {
	for _, e := range []sim.Engine{simcore.NewEngine(), sim.NewSerialEngine()} {
		r := newRig(t, e, mmio.Spec{Latency: 500 * ns, Service: 1000 * ns, Depth: 3})
		var landed []simcore.Ps
		_, err := r.space.Watch(0x1000, 64*8, func(uint64, int) { landed = append(landed, simcore.Now(e)) })
		require.NoError(t, err)
		var posted []simcore.Ps
		for i := range uint32(5) {
			r.core.Post(r.path, i*64, []byte{byte(i + 1), 7})
			r.core.Call(func() { posted = append(posted, simcore.Now(e)) })
		}
		read := simcore.Ps(0)
		r.core.ReadReg(r.path, 4*64, 2, func(v uint64, err error) {
			require.NoError(t, err)
			require.EqualValues(t, 0x705, v)
			read = simcore.Now(e)
		})
		if own, ok := e.(*simcore.Engine); ok {
			require.NoError(t, own.RunUntil(5700*ns))
			require.Zero(t, read, "the value is on its way back")
			require.False(t, r.path.Idle())
		}
		require.NoError(t, e.Run())
		require.Equal(t, []simcore.Ps{610 * ns, 1610 * ns, 2610 * ns, 3610 * ns, 4610 * ns}, landed)
		require.Equal(t, []simcore.Ps{100 * ns, 200 * ns, 300 * ns, 600 * ns, 1600 * ns}, posted)
		require.Equal(t, (5600+10+500)*ns, read)
		require.Equal(t, mmio.Stats{Writes: 5, Delivered: 5, Reads: 1}, r.path.Stats())
		require.True(t, r.path.Idle())
		require.True(t, r.core.Idle())
	}
}

// The papers' emulated registers must take less than 1,000 writes a second, with a latency that
// does not depend on that rate.
func TestEmulated(t *testing.T) {
	e := simcore.NewEngine()
	r := newRig(t, e, mmio.Emulated())
	var landed []simcore.Ps
	_, err := r.space.Watch(0x1000, 64, func(uint64, int) { landed = append(landed, simcore.Now(e)) })
	require.NoError(t, err)
	for range 100 {
		r.core.Post(r.path, 0, make([]byte, 64))
	}
	require.NoError(t, e.Run())
	require.InDelta(t, float64(simcore.Microsecond), float64(landed[0]), float64(200*simcore.Nanosecond))
	require.InDelta(t, float64(99*simcore.Millisecond), float64(e.Now()), float64(10*simcore.Microsecond))
	require.EqualValues(t, 100, r.path.Stats().Delivered)
}

var errNo = errors.New("no")

type refusing struct{}

func (refusing) Write(uint32, []byte) error                  { return errNo }
func (refusing) Read(uint32, int, func(uint64, error)) error { return errNo }

func TestErrors(t *testing.T) {
	e := simcore.NewEngine()
	_, err := mmio.Builder{Spec: mmio.Spec{Latency: -1, Service: -1}}.Build("Path")
	for _, wantErr := range []string{"no scheduler", "no registers", "latency_ps -1", "service_ps -1", "depth 0"} {
		require.ErrorContains(t, err, wantErr)
	}
	w, err := mmio.Builder{Scheduler: e, Spec: mmio.Spec{Depth: 1}, Registers: refusing{}}.Build("Path")
	require.NoError(t, err)
	require.ErrorContains(t, w.Write(0, make([]byte, 65)), "want 64 B at most")
	require.NoError(t, w.Read(0, 4, func(_ uint64, err error) { require.ErrorIs(t, err, errNo) }))
	require.ErrorContains(t, w.Write(0, nil), "1 are on the way already (depth)")
	require.NoError(t, e.Run())
	require.NoError(t, w.Write(0, []byte{1}))
	require.ErrorIs(t, e.Run(), errNo)
	win := &mmio.Window{Memory: mem.NewSparse(64)}
	require.ErrorContains(t, win.Read(0, 9, nil), "want 1 to 8 B")
	require.ErrorContains(t, win.Write(0, nil), "want 1 to 64 B")
	require.ErrorIs(t, win.Write(60, make([]byte, 8)), mem.ErrNoMemory)
}

func TestNoAllocation(t *testing.T) {
	e := simcore.NewEngine()
	r := newRig(t, e, mmio.Spec{Latency: 500 * ns, Service: 200 * ns, Depth: 2})
	b := make([]byte, 64)
	step := func() {
		for range 8 {
			r.core.Post(r.path, 0, b)
		}
		require.NoError(t, e.Run())
	}
	step()
	require.Zero(t, testing.AllocsPerRun(1000, step))
}
