package corebus_test

import (
	"errors"
	"testing"

	"github.com/stretchr/testify/require"

	"nictwin/models/memory/mem"
	"nictwin/models/server/cpu"
	"nictwin/models/sim/simcore"
	"nictwin/stack/driver"
	"nictwin/stack/driver/corebus"
)

const ns = simcore.Nanosecond

// door is a device that records register writes.
type door struct {
	e  *simcore.Engine
	at []simcore.Ps
}

func (d *door) Write(uint32, []byte) error { d.at = append(d.at, d.e.Now()); return nil }

func (d *door) Read(_ uint32, _ int, done func(uint64, error)) error { done(7, nil); return nil }

func newBus(t *testing.T, name string) (*simcore.Engine, *mem.Space, *door, *corebus.Bus) {
	e := simcore.NewEngine()
	space, err := mem.NewSpace(1<<20, 1<<20)
	require.NoError(t, err)
	s, err := cpu.Preset(name)
	require.NoError(t, err)
	core, err := cpu.Builder{Scheduler: e, Spec: s, Memory: space}.Build("Core")
	require.NoError(t, err)
	d := &door{e: e}
	b, err := corebus.New(core, d, corebus.DefaultSpec())
	require.NoError(t, err)
	return e, space, d, b
}

// TestPosting checks that posting an entry on Arm takes the time measured by the off-path study, most of it for the
// register write.
func TestPosting(t *testing.T) {
	e, space, d, b := newBus(t, "bf3")
	ended := false
	b.Write(0x1000, make([]byte, 64), func(err error) { ended = err == nil })
	require.True(t, ended)
	require.NoError(t, b.WriteReg(0, make([]byte, 4)))
	require.NoError(t, e.Run())
	require.Equal(t, []simcore.Ps{276 * ns}, d.at)
	b.ReadReg(0, 4, func(v uint64, err error) {
		require.NoError(t, err)
		require.EqualValues(t, 7, v)
	})
	b.Read(mem.Bus(7, 0), make([]byte, 1), func(err error) { require.ErrorIs(t, err, mem.ErrNoMemory) })
	b.Write(mem.Bus(7, 0), make([]byte, 1), func(err error) { require.ErrorIs(t, err, mem.ErrNoMemory) })
	require.NoError(t, e.Run())
	require.Zero(t, space.Stray)
}

// TestWatches checks that 2,000 watches are polled in turn, see a write after at most 50 us, and cost no events while
// nothing is written.
func TestWatches(t *testing.T) {
	e, space, _, b := newBus(t, "bf3")
	const rings = 2000
	var seen []simcore.Ps
	var stop func()
	for i := range uint64(rings) {
		s, err := b.Watch(0x1000+i*64, 64, func() { seen = append(seen, e.Now()) })
		require.NoError(t, err)
		stop = s
	}
	_, err := b.Watch(0x1000, 64, func() {})
	require.ErrorContains(t, err, "overlaps")
	require.NoError(t, e.Run())
	require.Zero(t, e.Pending())
	began := e.Now()
	write := func(ring uint64) {
		space.Access(&mem.Access{Op: mem.Write, Addr: 0x1000 + ring*64, Data: []byte{1}, Done: func(*mem.Access) {}})
		require.NoError(t, e.Run())
	}
	for ring := range uint64(rings) {
		write(ring * 7 % rings)
	}
	require.Len(t, seen, rings)
	longest := simcore.Ps(0)
	for _, at := range seen {
		longest = max(longest, at-began)
		began = at
	}
	require.InDelta(t, float64(50*simcore.Microsecond), float64(longest), float64(simcore.Microsecond))
	stop()
	write(rings - 1)
	require.Len(t, seen, rings)
}

// TestSpec checks that every invalid field of a spec is named.
func TestSpec(t *testing.T) {
	_, err := corebus.New(nil, nil, corebus.DefaultSpec())
	require.ErrorContains(t, err, "want a core")
	_, _, d, b := newBus(t, "host-fn")
	_, err = corebus.New(b.Core(), d, corebus.Spec{Build: -1, Take: -1})
	for _, says := range []string{"poll_cycles 0", "build_cycles -1", "take_cycles -1"} {
		require.ErrorContains(t, err, says)
	}
}

// TestNoAllocation checks that a driver's work on its core allocates nothing: stores and loads, register writes and
// reads, and handling watched writes.
func TestNoAllocation(t *testing.T) {
	e, space, d, b := newBus(t, "bf3")
	seen := 0
	_, err := b.Watch(0x2000, 64, func() { seen++ })
	require.NoError(t, err)
	entry, value := make([]byte, 64), uint64(0)
	wrote := mem.Access{Op: mem.Write, Addr: 0x2000, Data: entry[:8], Done: func(*mem.Access) {}}
	over := func(err error) {
		if err != nil {
			panic(err)
		}
	}
	read := func(v uint64, err error) { value += v }
	lock, section := &driver.Lock{Addr: 0x3000}, func() { b.Write(0x1000, entry, over) }
	step := func() {
		d.at = d.at[:0]
		b.Write(0x1000, entry, over)
		over(b.WriteReg(0, entry[:4]))
		b.Read(0x1000, entry, over)
		b.ReadReg(0, 4, read)
		over(b.Locked(lock, section, over))
		space.Access(&wrote)
		over(e.Run())
	}
	step()
	require.Zero(t, testing.AllocsPerRun(1000, step))
	require.EqualValues(t, 7*seen, value)
	require.Positive(t, seen)
}

// TestFlush checks that a flush of an endpoint reads a register through that endpoint's root, not through the other.
func TestFlush(t *testing.T) {
	e, _, arm, b := newBus(t, "bf3")
	host := &silent{door: arm}
	flushed := false
	apart := corebus.Apart{Bus: b, Roots: [2]cpu.Registers{arm, host}}
	apart.Flush(1, func(err error) { flushed = err == nil })
	require.NoError(t, e.Run())
	require.False(t, flushed, "the answer has not come")
	host.answer(0, nil)
	require.NoError(t, e.Run())
	require.True(t, flushed)
}

// silent is a device that answers register reads only when the test lets it.
type silent struct {
	*door
	answer func(uint64, error)
}

func (s *silent) Read(_ uint32, _ int, done func(uint64, error)) error { s.answer = done; return nil }

// TestDefer checks that what is deferred runs in a later turn of the core, once, and that it may defer again.
func TestDefer(t *testing.T) {
	e, _, _, b := newBus(t, "bf3")
	var order []string
	require.NoError(t, b.Defer(func() {
		order = append(order, "first")
		require.NoError(t, b.Defer(func() { order = append(order, "again") }))
	}))
	require.NoError(t, b.Defer(func() { order = append(order, "second") }))
	require.Empty(t, order, "not in this turn")
	require.NoError(t, e.Run())
	require.Equal(t, []string{"first", "second", "again"}, order)
	require.Less(t, e.Now(), 10*simcore.Microsecond, "no event is left")
}

// TestLocked checks that critical sections of three cores follow each other: a section begins when the doorbell of the
// one before has left, though the core of that one has other work, too, and its word is read and written.
func TestLocked(t *testing.T) {
	e, space, d, first := newBus(t, "host-ce")
	buses := []*corebus.Bus{first}
	for range 2 {
		core, err := cpu.Builder{Scheduler: e, Spec: first.Core().Spec(), Memory: space}.Build("Core")
		require.NoError(t, err)
		b, err := corebus.New(core, d, corebus.HostSpec())
		require.NoError(t, err)
		buses = append(buses, b)
	}
	lock := &driver.Lock{Addr: 0x8000}
	const long = 5 * simcore.Microsecond
	var order []int
	var began []simcore.Ps
	sections := func(list ...int) {
		for _, i := range list {
			b := buses[i]
			b.Core().Spend(ns * simcore.Ps(i)) // cores ask in this order
			require.NoError(t, b.Locked(lock, func() {
				order, began = append(order, i), append(began, e.Now())
				b.Write(0x1000, make([]byte, 64), func(err error) { require.NoError(t, err) })
				require.NoError(t, b.WriteReg(0, make([]byte, 4)))
			}, func(err error) { require.NoError(t, err) }))
			require.NoError(t, b.Defer(func() { b.Core().Spend(long) }))
		}
		require.Len(t, order, 0, "not in this turn")
		require.NoError(t, e.Run())
	}
	sections(0, 1, 2, 0)
	require.ElementsMatch(t, []int{0, 1, 2, 0}, order)
	require.Len(t, d.at, 4)
	for i := range 3 {
		require.LessOrEqual(t, d.at[i], began[i+1], "the next section begins after the doorbell")
	}
	require.Less(t, began[2]-began[0], long, "they wait for sections alone")
	require.Positive(t, buses[1].Core().Stats().Waited)
	require.EqualValues(t, 3, buses[1].Core().Stats().Stores, "the entry, and the word before and after")
	require.EqualValues(t, 1, buses[1].Core().Stats().Loads, "the word")

	err := errors.New("freed was not called")
	require.NoError(t, first.Locked(&driver.Lock{Addr: mem.Bus(7, 0)}, func() {}, func(x error) { err = x }))
	require.NoError(t, e.Run())
	require.ErrorIs(t, err, mem.ErrNoMemory)
}
