package cpu_test

import (
	"encoding/binary"
	"math/rand/v2"
	"testing"

	"github.com/sarchlab/akita/v3/sim"
	"github.com/stretchr/testify/require"

	"nictwin/models/inject"
	"nictwin/models/memory/mem"
	"nictwin/models/server/cpu"
	"nictwin/models/sim/simcore"
)

// A loop that finds nothing must cost no events, and see a write at its next poll.
func TestIdleCostsNoEvents(t *testing.T) {
	for _, e := range []sim.Engine{simcore.NewEngine(), sim.NewSerialEngine()} {
		b := newBench(t, e, plain(), 0)
		var steps []simcore.Ps
		l, err := b.core.Add(cpu.LoopSpec{Name: "L", Poll: 20}, func(*cpu.Core) bool {
			steps = append(steps, b.now())
			return false
		})
		require.NoError(t, err)
		stop, err := l.Watch(0x1000, 64)
		require.NoError(t, err)
		b.run()
		require.Equal(t, []simcore.Ps{0}, steps)
		b.write(simcore.Second+7*ns, 0x1010, 1)
		b.write(simcore.Second+40*ns, 0x1010, 1) // at the instant of a poll, so the next poll must see it
		b.write(simcore.Second+90*ns, 0x0fff, 1) // outside the watched range
		b.run()
		want := []simcore.Ps{0, simcore.Second + 20*ns, simcore.Second + 60*ns}
		require.Equal(t, want, steps)
		l.WakeAt(2 * simcore.Second)
		l.WakeAt(2*simcore.Second - 20*ns)
		b.run()
		require.Equal(t, append(want, 2*simcore.Second-20*ns), steps)
		stop()
		b.write(3*simcore.Second, 0x1010, 1)
		b.run()
		require.Len(t, steps, 4)
		require.EqualValues(t, 4, b.core.Stats().Steps)
		require.Zero(t, b.core.Stats().Busy)
	}
}

// A second of sleep beside other loops' work must have as many events as a microsecond of it.
func TestEventsDoNotDependOnIdleTime(t *testing.T) {
	count := func(gap simcore.Ps) (handled int) {
		e := simcore.NewEngine()
		b := newBench(t, e, plain(), 0)
		e.AcceptHook(hook(func() { handled++ }))
		for i := range uint64(8) {
			l, err := b.core.Add(cpu.LoopSpec{Name: "L", Poll: 3 + int64(i)}, func(c *cpu.Core) bool { return false })
			require.NoError(t, err)
			_, err = l.Watch(0x1000+64*i, 64)
			require.NoError(t, err)
		}
		for i := range simcore.Ps(50) {
			b.write((i+1)*gap, 0x1000+64*uint64(i%8), 1)
		}
		b.run()
		return handled
	}
	require.Equal(t, count(simcore.Microsecond), count(simcore.Second))
}

type hook func()

// Func implements sim.Hook.
func (h hook) Func(ctx sim.HookCtx) {
	if ctx.Pos == sim.HookPosBeforeEvent {
		h()
	}
}

// script is the software of a test's loops, for a Core and for naivePoller. Each loop polls a
// mailbox of its own; for a new letter it computes, loads and sometimes writes to another loop's
// mailbox.
type script struct {
	loops int
	polls []int64
	seen  []uint64
	log   []visit
}

type visit struct {
	at     simcore.Ps
	loop   int
	letter uint64
}

func mailbox(i int) uint64 { return 0x1000 + 64*uint64(i) }

// machine has the methods of a core that a script uses.
type machine interface {
	Compute(cycles int64)
	Load(addr uint64, b []byte) error
	Store(addr uint64, b []byte) error
}

func (s *script) step(i int, now simcore.Ps, m machine) bool {
	var b [8]byte
	must(m.Load(mailbox(i), b[:]))
	v := binary.LittleEndian.Uint64(b[:])
	if v == s.seen[i] {
		return false
	}
	s.seen[i] = v
	s.log = append(s.log, visit{now, i, v})
	for range v % 4 {
		m.Compute(int64(v % 37))
		must(m.Load(0x8000+v%100*64, b[:]))
	}
	if v%3 == 0 && v > 9 {
		binary.LittleEndian.PutUint64(b[:], v/2)
		must(m.Store(mailbox(int(v)%s.loops), b[:]))
	}
	return v%5 != 0 // some loops sleep at once, others poll again
}

// naivePoller is a core that really polls, with an event for every poll.
type naivePoller struct {
	b       *bench
	s       *script
	spec    cpu.Spec
	latency simcore.Ps
	own     []pending // stores that have not taken effect
	t       simcore.Ps
	i       int
}

type pending struct {
	at   simcore.Ps
	addr uint64
	b    [8]byte
}

func (n *naivePoller) Compute(cycles int64) { n.t += simcore.Ps(cycles) * n.spec.Period }

func (n *naivePoller) Load(addr uint64, b []byte) error {
	must(n.b.space.Read(addr, b))
	for _, p := range n.own {
		if p.addr == addr {
			copy(b, p.b[:])
		}
	}
	n.t += n.latency
	return nil
}

func (n *naivePoller) Store(addr uint64, b []byte) error {
	p := pending{n.t + n.latency, addr, [8]byte(b)}
	n.own = append(n.own, p)
	n.b.at(p.at, func() {
		n.own = n.own[1:]
		n.b.space.Access(&mem.Access{Op: mem.Write, By: mem.Core, Addr: addr, Data: p.b[:], Done: func(*mem.Access) {}})
	})
	return nil
}

// poll polls one loop, and schedules the next poll.
func (n *naivePoller) poll() {
	start := n.b.now()
	n.t = start
	n.s.step(n.i, start, n)
	end := max(n.t, start+simcore.Ps(n.s.polls[n.i])*n.spec.Period)
	n.i = (n.i + 1) % n.s.loops
	n.b.Schedule(&simcore.Event{At: end, H: handler(n.poll), Secondary: true})
}

// letters schedules a device's writes to the mailboxes at odd picoseconds, when no loop polls.
func letters(b *bench, rng *rand.Rand, loops int) (last simcore.Ps) {
	at := simcore.Ps(1)
	for range 300 {
		at += 2 * simcore.Ps(1+rng.IntN([...]int{20, 400, 50_000}[rng.IntN(3)])*500)
		var data [8]byte
		binary.LittleEndian.PutUint64(data[:], 1+rng.Uint64N(1000))
		b.write(at, mailbox(rng.IntN(loops)), data[:]...)
	}
	return at
}

// Whenever something is written, a sleeping loop must see it at the same poll as on a core that
// polls all the time.
func TestWakesAsAPollerDoes(t *testing.T) {
	const latency = 6 * ns
	for seed := range uint64(30) {
		draw := func() (*rand.Rand, *script) {
			rng := rand.New(rand.NewPCG(seed, 13))
			s := &script{loops: 1 + rng.IntN(6)}
			s.seen = make([]uint64, s.loops)
			for range s.loops {
				s.polls = append(s.polls, 6+int64(rng.IntN(40)))
			}
			return rng, s
		}
		sleeping := func(e sim.Engine) []visit {
			b := newBench(t, e, plain(), latency)
			rng, s := draw()
			for i := range s.loops {
				l, err := b.core.Add(cpu.LoopSpec{Name: "L", Poll: s.polls[i]},
					func(c *cpu.Core) bool { return s.step(i, c.Now(), c) })
				require.NoError(t, err)
				_, err = l.Watch(mailbox(i), 64)
				require.NoError(t, err)
			}
			letters(b, rng, s.loops)
			b.run()
			return s.log
		}
		e := simcore.NewEngine()
		b := newBench(t, e, plain(), latency)
		rng, s := draw()
		n := &naivePoller{b: b, s: s, spec: plain(), latency: latency}
		b.Schedule(&simcore.Event{H: handler(n.poll), Secondary: true})
		last := letters(b, rng, s.loops)
		require.NoError(t, e.RunUntil(last+50*simcore.Microsecond))
		want := s.log
		require.Greater(t, len(want), 50)
		same(t, want, sleeping(simcore.NewEngine()), seed)
		same(t, want, sleeping(sim.NewSerialEngine()), seed)
	}
}

func same(t *testing.T, want, got []visit, seed uint64) {
	t.Helper()
	for i := range min(len(want), len(got)) {
		require.Equal(t, want[i], got[i], "seed %d: letter %d, after %v", seed, i, want[max(0, i-3):i])
	}
	require.Len(t, got, len(want), "seed %d", seed)
}

// It must be possible to add and stop loops while others sleep and work.
func TestLoopsComeAndGo(t *testing.T) {
	b := newBench(t, simcore.NewEngine(), plain(), 0)
	steps := map[string][]simcore.Ps{}
	loops := map[string]*cpu.Loop{}
	add := func(name string, poll int64, step func() bool) {
		l, err := b.core.Add(cpu.LoopSpec{Name: name, Poll: poll}, func(c *cpu.Core) bool {
			steps[name] = append(steps[name], c.Now())
			return step()
		})
		require.NoError(t, err)
		require.Equal(t, name, l.Name())
		loops[name] = l
	}
	idle := func() bool { return false }
	add("A", 10, idle)
	b.at(105*ns, func() { add("B", 4, idle) }) // A is polled at 100 and 110 ns: B follows at 120
	b.at(211*ns, func() { loops["A"].Wake() }) // A is polled at 124, 138, ... 222 ns
	b.at(300*ns, func() { loops["B"].Stop() })
	b.at(401*ns, func() { loops["B"].Wake(); loops["B"].WakeAt(0); loops["A"].Wake() })
	once := 0
	b.at(500*ns, func() {
		add("C", 1, func() bool {
			once++
			loops["C"].Stop()
			loops["C"].Stop()
			return true
		})
	})
	b.run()
	require.Equal(t, []simcore.Ps{0, 222 * ns}, steps["A"][:2])
	require.Equal(t, []simcore.Ps{120 * ns}, steps["B"])
	require.Len(t, steps["A"], 3)
	require.Equal(t, 1, once)
}

// Software outside of loops must begin at the next poll, and the loops must continue after it.
func TestSoftwareBetweenPolls(t *testing.T) {
	b := newBench(t, simcore.NewEngine(), plain(), 0)
	var steps []simcore.Ps
	l, err := b.core.Add(cpu.LoopSpec{Name: "L", Poll: 20},
		func(c *cpu.Core) bool { steps = append(steps, c.Now()); return false })
	require.NoError(t, err)
	var done simcore.Ps
	b.at(105*ns, func() {
		b.core.Compute(33)
		b.core.Call(func() { done = b.now() })
		l.Wake()
	})
	b.at(130*ns, func() { require.Equal(t, 10*ns, b.core.BusyTime(), "work that is not done counts up to now") })
	b.run()
	require.Equal(t, 33*ns, b.core.BusyTime())
	require.Equal(t, 153*ns, done)
	require.Equal(t, []simcore.Ps{0, 153 * ns}, steps)
	require.Equal(t, 33*ns, b.core.Stats().Busy)
}

// A core must allocate nothing in steady state.
func TestNoAllocation(t *testing.T) {
	e := simcore.NewEngine()
	space, err := mem.NewSpace(1<<20, 1<<20)
	require.NoError(t, err)
	step := newSteady(t, e, space)
	for range 2000 {
		step()
	}
	require.Zero(t, testing.AllocsPerRun(2000, step))
}

// newSteady returns a function that sends a letter to a loop, which handles it as software handles
// a packet.
func newSteady(t testing.TB, e *simcore.Engine, space *mem.Space) func() {
	slow, err := inject.NewDelay("Delay", e, inject.DelaySpec{Latency: 40 * ns}, space)
	require.NoError(t, err)
	spec, err := cpu.Preset("bf3")
	require.NoError(t, err)
	core, err := cpu.Builder{Scheduler: e, Spec: spec, Memory: slow, View: space, Watcher: space}.Build("Core")
	require.NoError(t, err)
	var entry [64]byte
	r := silent{}
	l, err := core.Add(cpu.LoopSpec{Name: "L", Poll: 20}, func(c *cpu.Core) bool {
		must(c.Load(0x1000, entry[:]))
		if entry[0] == 0 {
			return false
		}
		c.Compute(100)
		must(c.Load(0x2000, entry[:]))
		must(c.Prefetch(0x3000, 128))
		must(c.Copy(0x4000, 0x3000, 512))
		entry[0] = 0
		must(c.Store(0x1000, entry[:]))
		c.Post(r, 0, entry[:4])
		return true
	})
	require.NoError(t, err)
	_, err = l.Watch(0x1000, 64)
	require.NoError(t, err)
	a := &mem.Access{Op: mem.Write, Addr: 0x1000, Data: []byte{1}, Done: func(*mem.Access) {}}
	return func() {
		space.Access(a)
		if err := e.Run(); err != nil {
			t.Fatal(err)
		}
	}
}

type silent struct{}

func (silent) Write(uint32, []byte) error                        { return nil }
func (silent) Read(uint32, int, func(v uint64, err error)) error { return nil }

// The busy time must not fall when a loop is stopped while its step waits for memory.
func TestBusyTimeOfAStoppedLoop(t *testing.T) {
	b := newBench(t, simcore.NewEngine(), plain(), 100*ns)
	var l *cpu.Loop
	l, err := b.core.Add(cpu.LoopSpec{Name: "L", Poll: 20}, func(c *cpu.Core) bool {
		var x [64]byte
		require.NoError(t, c.Load(0x1000, x[:]))
		return true
	})
	require.NoError(t, err)
	var before simcore.Ps
	b.at(50*ns, func() {
		before = b.core.BusyTime()
		require.Equal(t, 50*ns, before)
		l.Stop()
	})
	b.at(60*ns, func() { require.Equal(t, before+10*ns, b.core.BusyTime()) })
	b.run()
	require.GreaterOrEqual(t, b.core.BusyTime(), before)
	require.Equal(t, b.core.Stats().Busy, b.core.BusyTime())
}

// A step that disarms its own loop's timer and finds work must be followed by another step.
func TestDisarmInAWorkingStep(t *testing.T) {
	b := newBench(t, simcore.NewEngine(), plain(), 0)
	steps := 0
	var l *cpu.Loop
	l, err := b.core.Add(cpu.LoopSpec{Name: "L", Poll: 20}, func(*cpu.Core) bool {
		steps++
		l.Disarm()
		return steps < 5
	})
	require.NoError(t, err)
	b.run()
	require.Equal(t, 5, steps)
	require.True(t, b.core.Idle())
}
