package cpu_test

import (
	"bytes"
	"errors"
	"testing"

	"github.com/sarchlab/akita/v3/sim"
	"github.com/stretchr/testify/require"

	"nictwin/models/inject"
	"nictwin/models/memory/mem"
	"nictwin/models/server/cpu"
	"nictwin/models/sim/simcore"
)

// Operations must take their times, one after the other.
func TestCharges(t *testing.T) {
	const latency = 50 * ns
	for _, x := range []struct {
		name string
		work func(c *cpu.Core)
		want simcore.Ps // time until the core continues
	}{
		{"cycles", func(c *cpu.Core) { c.Compute(7); c.Spend(3) }, 7*ns + 3},
		{"a load", func(c *cpu.Core) { c.Compute(1); load(c, 0x1000, 8) }, ns + latency},
		{"loads one after the other", func(c *cpu.Core) { load(c, 0x1000, 8); load(c, 0x2000, 8) }, 2 * latency},
		{"four lines at a time", func(c *cpu.Core) { load(c, 0x1000, 256) }, latency},
		{"a fifth waits", func(c *cpu.Core) { load(c, 0x1000, 257) }, 2 * latency},
		{"unaligned", func(c *cpu.Core) { load(c, 0x103f, 2+3*64) }, 2 * latency},
		{"prefetches", func(c *cpu.Core) { prefetch(c, 4); c.Compute(2) }, 2 * ns},
		{"too many prefetches", func(c *cpu.Core) { prefetch(c, 5); c.Compute(2) }, latency + 2*ns},
		{"a load beside prefetches", func(c *cpu.Core) { prefetch(c, 3); c.Compute(9); load(c, 0x1000, 1) },
			9*ns + latency},
		{"stores are posted", func(c *cpu.Core) { store(c, 4); c.Compute(2) }, 2 * ns},
		{"a fifth store waits", func(c *cpu.Core) { store(c, 5); c.Compute(2) }, latency + 2*ns},
		{"a fence", func(c *cpu.Core) { store(c, 1); c.Compute(2); c.Fence() }, latency},
		{"a clean", func(c *cpu.Core) { must(c.Clean(0x1000, 64)) }, latency},
		{"an invalidate after a store", func(c *cpu.Core) { store(c, 1); must(c.Invalidate(0x1000, 64)) }, 2 * latency},
		{"a copy at its rate", func(c *cpu.Core) { must(c.Copy(0x3000, 0x1000, 2*64)) }, 2 * 8 * ns},
		{"a copy as memory allows", func(c *cpu.Core) { must(c.Copy(0x3000, 0x1000, 5*64)) }, latency + 8*ns},
		{"a copy and a fence", func(c *cpu.Core) { must(c.Copy(0x3000, 0x1000, 64)); c.Fence() }, 2 * latency},
		{"a lock behind a store", func(c *cpu.Core) { store(c, 1); c.Acquire(free{}); c.Compute(2) }, latency + 2*ns},
		{"a register write", func(c *cpu.Core) { c.Post(new(regs), 0, make([]byte, 64)) }, 100 * ns},
		{"register writes of 64 B at most", func(c *cpu.Core) { c.Post(new(regs), 60, make([]byte, 72)) }, 300 * ns},
		{"a register write behind a store", func(c *cpu.Core) { store(c, 1); c.Post(new(regs), 0, make([]byte, 4)) },
			latency + 100*ns},
	} {
		t.Run(x.name, func(t *testing.T) {
			for _, e := range []sim.Engine{simcore.NewEngine(), sim.NewSerialEngine()} {
				b := newBench(t, e, plain(), latency)
				end := simcore.Ps(-1)
				x.work(b.core)
				b.core.Call(func() { end = b.now() })
				b.run()
				require.Equal(t, x.want, end)
			}
		})
	}
}

// free is a lock that nobody has.
type free struct{}

func (free) Take(granted func()) { granted() }

// taken is a lock that the test frees.
type taken struct{ free func() }

func (l *taken) Take(granted func()) { l.free = granted }

// A core stalls until it has a lock, with all its loops.
func TestLockStalls(t *testing.T) {
	b, l := newBench(t, simcore.NewEngine(), plain(), 50*ns), &taken{}
	end := simcore.Ps(-1)
	b.core.Acquire(l)
	b.core.Compute(3)
	b.core.Call(func() { end = b.now() })
	b.at(400*ns, func() {
		require.False(t, b.core.Idle())
		l.free()
	})
	b.run()
	require.Equal(t, 403*ns, end)
	require.Equal(t, 400*ns, b.core.Stats().Waited)
}

func must(err error) {
	if err != nil {
		panic(err)
	}
}

func load(c *cpu.Core, addr uint64, n int) { must(c.Load(addr, make([]byte, n))) }

func prefetch(c *cpu.Core, lines int) { must(c.Prefetch(0x8000, lines*64)) }

func store(c *cpu.Core, lines int) { must(c.Store(0x9000, make([]byte, lines*64))) }

// regs is a device whose reads the test answers.
type regs struct {
	b      *bench
	writes [][]byte
	times  []simcore.Ps
	saw    []byte // bytes of memory at 0x9000 when a write arrived
	done   func(v uint64, err error)
}

func (r *regs) Write(_ uint32, b []byte) error {
	r.writes = append(r.writes, bytes.Clone(b))
	if r.b != nil {
		r.times, r.saw = append(r.times, r.b.now()), append(r.saw, r.b.bytes(0x9000, 1)...)
	}
	return nil
}

func (r *regs) Read(_ uint32, _ int, done func(uint64, error)) error { r.done = done; return nil }

// Register writes must leave in order, behind the stores before them; a read must stall the core.
func TestRegisters(t *testing.T) {
	b := newBench(t, simcore.NewEngine(), plain(), 50*ns)
	r := &regs{b: b}
	var read, after simcore.Ps
	must(b.core.Store(0x9000, []byte{5}))
	b.core.Post(r, 0, []byte{1, 2, 3, 4})
	must(b.core.Store(0x9000, []byte{6}))
	b.core.Post(r, 64, bytes.Repeat([]byte{7}, 70))
	b.core.ReadReg(r, 4, 4, func(v uint64, err error) {
		require.NoError(t, err)
		require.EqualValues(t, 99, v)
		read = b.now()
	})
	b.core.Call(func() { after = b.now() })
	b.at(900*ns, func() { r.done(99, nil) })
	b.run()
	require.Equal(t, [][]byte{{1, 2, 3, 4}, bytes.Repeat([]byte{7}, 64), bytes.Repeat([]byte{7}, 6)}, r.writes)
	require.Equal(t, []byte{5, 6, 6}, r.saw)
	require.Equal(t, []simcore.Ps{150 * ns, 300 * ns, 400 * ns}, r.times)
	require.Equal(t, []simcore.Ps{900 * ns, 900 * ns}, []simcore.Ps{read, after})
	require.Equal(t, cpu.Stats{Busy: 900 * ns, Waited: 900 * ns, Stores: 2, StoreBytes: 2, StoresEnded: 2, Posts: 3,
		RegReads: 1}, b.core.Stats())
	b.core.ReadReg(refusing{}, 4, 4, func(_ uint64, err error) { require.ErrorIs(t, err, errRefused) })
	b.run()
}

var errRefused = errors.New("refused")

type refusing struct{ cpu.Registers }

func (refusing) Read(uint32, int, func(uint64, error)) error { return errRefused }
func (refusing) Write(uint32, []byte) error                  { return errRefused }

// A core must see its own stores at once, other agents when the stores take effect, in program
// order.
func TestStoresAreForwarded(t *testing.T) {
	b := newBench(t, simcore.NewEngine(), plain(), 50*ns)
	require.NoError(t, b.space.Write(0x1000, bytes.Repeat([]byte{9}, 256)))
	must(b.core.Store(0x103e, []byte{1, 2, 3, 4}))
	must(b.core.Store(0x103f, []byte{5}))
	must(b.core.Copy(0x2001, 0x103e, 100))
	got := make([]byte, 6)
	must(b.core.Load(0x103d, got))
	require.Equal(t, []byte{9, 1, 5, 3, 4, 9}, got)
	must(b.core.Load(0x2001, got))
	require.Equal(t, []byte{1, 5, 3, 4, 9, 9}, got)
	require.Equal(t, byte(9), b.bytes(0x103f, 1)[0])
	b.run()
	require.Equal(t, []byte{9, 1, 5, 3, 4, 9}, b.bytes(0x103d, 6))
	require.Equal(t, append([]byte{1, 5, 3, 4}, bytes.Repeat([]byte{9}, 96)...), b.bytes(0x2001, 100))
	require.Equal(t, append(b.bytes(0x103e, 3), 0), append(b.bytes(0x2001, 3), 0))
}

// Access outside memory must fail at once and cost nothing; an error that memory reports later must
// end the run.
func TestErrors(t *testing.T) {
	b := newBench(t, simcore.NewEngine(), plain(), 50*ns)
	nowhere := mem.Bus(7, 0)
	for _, err := range []error{
		b.core.Load(nowhere, make([]byte, 1)), b.core.Store(nowhere, []byte{1}), b.core.Prefetch(nowhere, 1),
		b.core.Copy(0, nowhere, 1),
		b.core.Copy(nowhere, 0, 1), b.core.Clean(nowhere, 1), b.core.Invalidate(nowhere, 1),
	} {
		require.ErrorIs(t, err, mem.ErrNoMemory)
	}
	require.ErrorContains(t, b.core.Copy(0x1000, 0x1001, 2), "do not overlap")
	require.NoError(t, b.core.Load(0, nil))
	require.NoError(t, b.core.Store(0, nil))
	require.NoError(t, b.core.Copy(0, 0, 0))
	require.Zero(t, b.Engine.(*simcore.Engine).Pending())
	b.core.Post(refusing{}, 0, []byte{1})
	require.ErrorIs(t, b.Run(), errRefused)
	require.ErrorIs(t, b.core.Err(), errRefused)

	b = newBench(t, simcore.NewEngine(), plain(), 0)
	c, err := cpu.Builder{Scheduler: b, Spec: plain(), Memory: failing{b.delay}, View: b.space}.Build("Core")
	require.NoError(t, err)
	load(c, 0x1000, 1)
	err = b.Run()
	require.ErrorIs(t, err, mem.ErrAborted)
	require.ErrorContains(t, err, "read of 1 B at 0x1000")
	l, err := c.Add(cpu.LoopSpec{Name: "L", Poll: 1}, func(*cpu.Core) bool { return false })
	require.NoError(t, err)
	_, err = l.Watch(0, 1)
	require.ErrorContains(t, err, "built without a Watcher")
	_, err = c.Add(cpu.LoopSpec{}, nil)
	require.ErrorContains(t, err, "poll_cycles 0: want 1 to 2^40")
	require.ErrorContains(t, err, "it has no step")
}

type failing struct{ mem.Target }

func (f failing) Access(a *mem.Access) { a.Finish(mem.ErrAborted) }

func TestBuilder(t *testing.T) {
	e := simcore.NewEngine()
	space, err := mem.NewSpace(1<<20, 1<<20)
	require.NoError(t, err)
	slow, err := inject.NewDelay("Delay", e, inject.DelaySpec{}, space)
	require.NoError(t, err)
	for _, x := range []struct {
		b       cpu.Builder
		wantErr string
	}{
		{cpu.Builder{Spec: plain(), Memory: space}, "no scheduler"},
		{cpu.Builder{Scheduler: e, Spec: plain()}, "no memory"},
		{cpu.Builder{Scheduler: e, Spec: plain(), Memory: slow}, "no view of its memory"},
		{cpu.Builder{Scheduler: e, Memory: space}, "cores 0: want 1 to 1024"},
	} {
		_, err := x.b.Build("Core")
		require.ErrorContains(t, err, x.wantErr)
	}
	bad := cpu.Spec{DataCores: 3, MMIOPost: -1, Copy: simcore.Rate{Bytes: 1}}
	for _, wantErr := range []string{"period_ps 0", "data_cores 3: want 0 to 0 (cores)", "misses 0", "stores 0",
		"mmio_post_ps -1", "copy 1 bytes in 0 ps"} {
		require.ErrorContains(t, bad.Validate(), wantErr)
	}
	for _, name := range []string{"bf3", "bf2", "host-fn", "host-ce", "host-op", "host-rb"} {
		s, err := cpu.Preset(name)
		require.NoError(t, err)
		require.NoError(t, s.Validate(), name)
	}
	_, err = cpu.Preset("bf4")
	require.ErrorContains(t, err, `preset is "bf4": want one of [bf2 bf3`)
}
