package memmap_test

import (
	"testing"

	"github.com/sarchlab/akita/v3/sim"
	"github.com/stretchr/testify/require"

	"nictwin/models/inject"
	"nictwin/models/memory/mem"
	"nictwin/models/memory/mem/memrig"
	"nictwin/models/memory/mem/memtest"
	"nictwin/models/memory/memmap"
	_ "nictwin/models/sim/fixedseed"
	"nictwin/models/sim/simcore"
)

const (
	ns     = simcore.Nanosecond
	border = 1 << 12
)

// build returns a map of the two halves of one space, each behind a delay of its own.
func build(t testing.TB, e sim.Engine, fast, slow inject.DelaySpec) (*memmap.Map, *mem.Space) {
	space, err := mem.NewSpace(2*border, 1<<20)
	require.NoError(t, err)
	a, err := inject.NewDelay("Fast", e, fast, space)
	require.NoError(t, err)
	b, err := inject.NewDelay("Slow", e, slow, space)
	require.NoError(t, err)
	m, err := memmap.New(memmap.Region{Name: "Slow", Base: border, Bytes: border, Memory: b, View: space,
		Watcher: space},
		memmap.Region{Name: "Fast", Bytes: border, Memory: a, View: space})
	require.NoError(t, err)
	return m, space
}

// rig returns a builder of a memory whose accesses cross the border between the two halves.
func rig(fast, slow inject.DelaySpec) memrig.Build {
	return func(t testing.TB, e sim.Engine) *memrig.Rig {
		m, _ := build(t, e, fast, slow)
		return &memrig.Rig{
			Bench: memtest.Bench{Target: m, Peek: m.Read, Base: border - 160, Size: 320, Window: 320,
				Nowhere: []uint64{mem.Bus(3, 0), 2 * border}}, Idle: m.Idle,
			Flow: func() memrig.Flow {
				s := m.Stats()
				return memrig.Flow{Accepted: s.AcceptedBytes, Finished: s.FinishedBytes, Held: s.Held}
			},
		}
	}
}

// The map must keep the order of accesses whatever the latencies of its two memories are, also for
// accesses that cross the border between them.
func TestKeepsTheProtocol(t *testing.T) {
	memrig.Contract(t, "at once", rig(inject.DelaySpec{}, inject.DelaySpec{}))
	memrig.Contract(t, "one slow", rig(inject.DelaySpec{}, inject.DelaySpec{Latency: 70 * ns}))
	memrig.Contract(t, "delays", rig(inject.DelaySpec{Latency: 40 * ns, Jitter: 90 * ns, Seed: 5},
		inject.DelaySpec{Latency: 9 * ns, Jitter: 99 * ns, Seed: 6}))
}

func TestConservation(t *testing.T) {
	memrig.Conserve(t, rig(inject.DelaySpec{Latency: 40 * ns, Jitter: 90 * ns, Seed: 5},
		inject.DelaySpec{Latency: 9 * ns, Jitter: 99 * ns, Seed: 6}))
}

func TestNoAllocation(t *testing.T) {
	memrig.NoAllocation(t, 196, 30, rig(inject.DelaySpec{}, inject.DelaySpec{Latency: 50 * ns}))
}

// A write to the fast memory must wait for those to the slow one; accesses to one memory must not
// wait.
func TestOrder(t *testing.T) {
	e := simcore.NewEngine()
	m, _ := build(t, e, inject.DelaySpec{Latency: 5 * ns}, inject.DelaySpec{Latency: 50 * ns})
	var ends []simcore.Ps
	issue := func(op mem.Op, addr uint64) {
		m.Access(&mem.Access{Op: op, Addr: addr, Data: make([]byte, 8), Done: func(*mem.Access) {
			ends = append(ends,
				e.Now())
		}})
	}
	issue(mem.Write, border)
	issue(mem.Read, 0)
	issue(mem.Write, border+64)
	issue(mem.Write, 0)
	require.NoError(t, e.Run())
	require.Equal(t, []simcore.Ps{5 * ns, 50 * ns, 50 * ns, 55 * ns}, ends)
	require.Equal(t, memmap.Stats{AcceptedBytes: 32, FinishedBytes: 32, Changes: 1}, m.Stats())
	require.True(t, m.Idle())
}

func TestRegions(t *testing.T) {
	m, space := build(t, simcore.NewEngine(), inject.DelaySpec{}, inject.DelaySpec{})
	require.NoError(t, m.Write(border-2, []byte{1, 2, 3, 4}))
	got := make([]byte, 4)
	require.NoError(t, m.Read(border-2, got))
	require.Equal(t, []byte{1, 2, 3, 4}, got)
	require.ErrorIs(t, m.Read(2*border-1, got), mem.ErrNoMemory)
	notified := 0
	stop, err := m.Watch(border, 64, func(uint64, int) { notified++ })
	require.NoError(t, err)
	m.Access(&mem.Access{Op: mem.Write, Addr: border - 1, Data: []byte{1, 2}, Done: func(*mem.Access) {}})
	require.Equal(t, 1, notified)
	stop()
	_, err = m.Watch(border-1, 2, func(uint64, int) {})
	require.ErrorContains(t, err, "want a range in one region")
	_, err = m.Watch(0, 2, func(uint64, int) {})
	require.ErrorContains(t, err, "region Fast does not tell of writes")
	_, err = memmap.New(memmap.Region{Name: "A", Base: 8, Bytes: 8, Memory: space},
		memmap.Region{Name: "B", Base: 12, Bytes: 1, Memory: space},
		memmap.Region{Name: "C", Bytes: 1}, memmap.Region{Name: "D", Base: 99, Memory: space})
	for _, wantErr := range []string{"regions A and B overlap at 0xc", "region C has no memory", "region D has 0x0 B"} {
		require.ErrorContains(t, err, wantErr)
	}
	_, err = memmap.New()
	require.ErrorContains(t, err, "no region")
}

// flagged records of each access that it gets whether it is Again.
type flagged struct {
	mem.Target
	again []bool
}

func (f *flagged) Access(a *mem.Access) {
	f.again = append(f.again, a.Again)
	f.Target.Access(a)
}

// Parts of an access must be Again if the whole is, and accesses behind it must not.
func TestPartsAreAgain(t *testing.T) {
	space, err := mem.NewSpace(2*border, 1<<20)
	require.NoError(t, err)
	f := &flagged{Target: space}
	m, err := memmap.New(memmap.Region{Name: "A", Bytes: border, Memory: f},
		memmap.Region{Name: "B", Base: border, Bytes: border, Memory: f})
	require.NoError(t, err)
	for _, addr := range []uint64{border - 1, 0} {
		for _, again := range []bool{true, false} {
			m.Access(&mem.Access{Addr: addr, Data: make([]byte, 2), Again: again, Done: func(*mem.Access) {}})
		}
	}
	require.Equal(t, []bool{true, true, false, false, true, false}, f.again)
}
