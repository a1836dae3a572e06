package dram_test

import (
	"math/rand/v2"
	"testing"

	"github.com/sarchlab/akita/v3/sim"
	"github.com/stretchr/testify/require"

	"nictwin/models/memory/dram"
	"nictwin/models/memory/mem"
	"nictwin/models/sim/simcore"
)

const ns = simcore.Nanosecond

func preset(t testing.TB, name string) dram.Spec {
	t.Helper()
	s, err := dram.Preset(name)
	require.NoError(t, err)
	return s
}

func newDRAM(t testing.TB, e sim.Engine, s dram.Spec) (*dram.DRAM, *mem.Space) {
	t.Helper()
	space, err := mem.NewSpace(1<<28, 1<<20)
	require.NoError(t, err)
	d, err := dram.Builder{Scheduler: e, Spec: s, Memory: space}.Build("DRAM")
	require.NoError(t, err)
	return d, space
}

// load keeps a number of accesses of one kind in flight.
type load struct {
	op    mem.Op
	bytes int
	depth int
	span  uint64 // size of the address range, from base on
	base  uint64
	next  func(l *load) uint64

	m    mem.Target
	e    *simcore.Engine
	rng  *rand.Rand
	at   uint64
	stop bool
	done uint64 // bytes completed
	wait simcore.Ps
	n    int
}

func random(l *load) uint64 {
	return l.base + uint64(l.rng.Int64N(int64(l.span)/int64(l.bytes)))*uint64(l.bytes)
}

func sequential(l *load) uint64 {
	l.at += uint64(l.bytes)
	return l.base + (l.at-uint64(l.bytes))%l.span
}

func (l *load) start(e *simcore.Engine, m mem.Target, seed uint64) {
	l.e, l.m, l.rng = e, m, rand.New(rand.NewPCG(seed, uint64(l.op)))
	for range l.depth {
		a := &mem.Access{Op: l.op, Data: make([]byte, l.bytes)}
		var since simcore.Ps
		issue := func() {
			since, a.Addr = e.Now(), l.next(l)
			m.Access(a)
		}
		// issue the load's next access a little later, as a link would
		again := &simcore.Event{H: handler(issue)}
		a.Done = func(*mem.Access) {
			l.done += uint64(l.bytes)
			l.wait += e.Now() - since
			l.n++
			if !l.stop {
				again.At = e.Now() + ns
				e.Schedule(again)
			}
		}
		issue()
	}
}

// handler is a function that handles events.
type handler func()

func (h handler) Handle(sim.Event) error { h(); return nil }

// sustained returns the throughput in Gbps after the DRAM has settled: of all loads, and of each.
func sustained(t testing.TB, s dram.Spec, loads ...*load) (all float64, each []float64) {
	t.Helper()
	e := simcore.NewEngine()
	d, _ := newDRAM(t, e, s)
	return through(t, e, d, d, loads...)
}

// through returns the results of function sustained for loads on m, a memory in front of the DRAM.
func through(t testing.TB, e *simcore.Engine, d *dram.DRAM, m mem.Target, loads ...*load) (all float64,
	each []float64) {
	t.Helper()
	const warm, span = 20 * simcore.Microsecond, 200 * simcore.Microsecond
	for i, l := range loads {
		l.start(e, m, uint64(i))
	}
	require.NoError(t, e.RunUntil(warm))
	before := make([]uint64, len(loads))
	for i, l := range loads {
		before[i] = l.done
	}
	require.NoError(t, e.RunUntil(warm+span))
	for i, l := range loads {
		gbps := float64(l.done-before[i]) * 8 / (float64(span) / 1000)
		each, all = append(each, gbps), all+gbps
		l.stop = true
	}
	require.NoError(t, e.Run())
	require.True(t, d.Idle())
	c := d.Counters()
	require.Equal(t, c.ReadBytes+c.WrittenBytes, c.FinishedBytes)
	return all, each
}
