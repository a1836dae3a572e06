package cpu_test

import (
	"testing"

	"github.com/sarchlab/akita/v3/sim"
	"github.com/stretchr/testify/require"

	"nictwin/models/inject"
	"nictwin/models/memory/mem"
	"nictwin/models/server/cpu"
	"nictwin/models/sim/simcore"
)

const ns = simcore.Nanosecond

// plain returns the spec of a core whose times are easy to add up.
func plain() cpu.Spec {
	return cpu.Spec{Period: 1000, Cores: 1, Misses: 4, Stores: 4, MMIOPost: 100 * ns,
		Copy: simcore.Rate{Bytes: 8, Ps: ns}}
}

// handler is a function that handles events.
type handler func()

func (h handler) Handle(sim.Event) error { h(); return nil }

// bench is a core over memory with a delay.
type bench struct {
	sim.Engine
	t     testing.TB
	space *mem.Space
	delay *inject.Delay
	core  *cpu.Core
}

func newBench(t testing.TB, e sim.Engine, s cpu.Spec, latency simcore.Ps) *bench {
	t.Helper()
	b := &bench{Engine: e, t: t}
	var err error
	b.space, err = mem.NewSpace(1<<24, 1<<20)
	require.NoError(t, err)
	b.delay, err = inject.NewDelay("Delay", e, inject.DelaySpec{Latency: latency}, b.space)
	require.NoError(t, err)
	b.core, err = cpu.Builder{Scheduler: e, Spec: s, Memory: b.delay, View: b.space, Watcher: b.space}.Build("Core")
	require.NoError(t, err)
	return b
}

// at schedules a call of f.
func (b *bench) at(t simcore.Ps, f func()) {
	b.Schedule(&simcore.Event{At: t, H: handler(f)})
}

// write schedules a device's write, to take effect at a time.
func (b *bench) write(t simcore.Ps, addr uint64, data ...byte) {
	b.at(t, func() {
		b.space.Access(&mem.Access{Op: mem.Write, Addr: addr, Data: data,
			Done: func(a *mem.Access) { require.NoError(b.t, a.Err) }})
	})
}

func (b *bench) now() simcore.Ps { return simcore.Now(b) }

// run runs until no event is left, and requires that the core is idle.
func (b *bench) run() {
	b.t.Helper()
	require.NoError(b.t, b.Run())
	b.settled()
}

func (b *bench) settled() {
	b.t.Helper()
	require.NoError(b.t, b.core.Err())
	require.True(b.t, b.core.Idle())
	s := b.core.Stats()
	require.Equal(b.t, s.StoreBytes, s.StoresEnded)
	require.Equal(b.t, s.Copied, s.CopiesEnded)
}

func (b *bench) bytes(addr uint64, n int) []byte {
	got := make([]byte, n)
	require.NoError(b.t, b.space.Read(addr, got))
	return got
}
