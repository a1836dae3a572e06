package mem_test

import (
	"testing"

	"github.com/stretchr/testify/require"
	"pgregory.net/rapid"

	"nictwin/models/memory/mem"
	"nictwin/models/memory/mem/memtest"
	"nictwin/models/nic/nicspec"
	_ "nictwin/models/sim/fixedseed"
)

const pageBytes = 1 << 16

// Sparse must behave as a plain slice does.
func TestSparse(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		const size = 3*pageBytes + 17
		m, want := mem.NewSparse(size), make([]byte, size)
		for range rapid.IntRange(1, 20).Draw(t, "ops") {
			n := rapid.IntRange(0, 2*pageBytes).Draw(t, "n")
			at := rapid.IntRange(0, size-n).Draw(t, "at")
			if rapid.Bool().Draw(t, "write") {
				b := make([]byte, n)
				for i := range b {
					b[i] = byte(at + i*7)
				}
				m.Write(uint64(at), b)
				copy(want[at:], b)
			}
			got := make([]byte, n)
			m.Read(uint64(at), got)
			require.Equal(t, want[at:at+n], got)
		}
	})
	m := mem.NewSparse(100)
	require.True(t, m.Has(100, 0))
	require.False(t, m.Has(99, 2))
	require.False(t, m.Has(1<<63, 2))
}

// Accesses across the border between pages found directly and pages found by the map must work.
func TestSparseFarPages(t *testing.T) {
	const edge = 1 << 32
	m, want := mem.NewSparse(1<<40), []byte("both sides")
	got := make([]byte, len(want))
	m.Read(edge-5, got)
	require.Equal(t, make([]byte, len(want)), got)
	m.Write(edge-5, want)
	m.Write(1<<39, want)
	for _, at := range []uint64{edge - 5, 1 << 39} {
		m.Read(at, got)
		require.Equal(t, want, got)
	}
}

func sparse() (*memtest.Bench, error) {
	const size = 3 * pageBytes
	m := mem.NewSparse(size)
	peek := func(addr uint64, b []byte) error { m.Read(addr, b); return nil }
	return &memtest.Bench{Target: m, Peek: peek, Size: size, Ends: true,
		Nowhere: []uint64{size + 1, 1 << 63, ^uint64(0)}}, nil
}

func space() (*memtest.Bench, error) {
	const size = 2*pageBytes + 100
	s, err := mem.NewSpace(pageBytes, size)
	if err != nil {
		return nil, err
	}
	nowhere := []uint64{pageBytes, mem.Bus(nicspec.EndpointHost, mem.MaxBytes-1), mem.Bus(2, 0), mem.Bus(255, 8)}
	return &memtest.Bench{Target: s, Peek: s.Read, Base: mem.Bus(nicspec.EndpointHost, 0), Size: size, Ends: true,
		Nowhere: nowhere}, nil
}

func TestTargets(t *testing.T) {
	memtest.RunContract(t, "sparse", sparse)
	memtest.RunContract(t, "space", space)
}

func FuzzSpace(f *testing.F) { memtest.FuzzContract(f, space) }

func write(s *mem.Space, bus uint64, b ...byte) error {
	a := mem.Access{Op: mem.Write, Addr: bus, Data: b, Done: func(*mem.Access) {}}
	s.Access(&a)
	return a.Err
}

// Watchers must be called for every write that touches their bytes, until they are stopped.
func TestWatch(t *testing.T) {
	s, err := mem.NewSpace(1<<20, 1<<20)
	require.NoError(t, err)
	var seen []uint64
	record := func(addr uint64, n int) {
		b := make([]byte, n)
		require.NoError(t, s.Read(addr, b))
		seen = append(seen, addr, uint64(n), uint64(b[0]))
	}
	var stop, stopNext func()
	stop, err = s.Watch(0x2000, 64, record)
	require.NoError(t, err)
	stopNext, err = s.Watch(0x2040, 4, func(addr uint64, n int) { record(addr, n); stopNext() })
	require.NoError(t, err)
	_, err = s.Watch(0x203f, 1, record)
	require.ErrorContains(t, err, "watch of 0x203f..0x2040 overlaps 0x2000..0x2040")
	_, err = s.Watch(5, 0, record)
	require.ErrorContains(t, err, "not empty")
	_, err = s.Watch(mem.Bus(1, 1<<20)-4, 8, record)
	require.ErrorIs(t, err, mem.ErrNoMemory)
	_, err = s.Watch(^uint64(0), 2, record)
	require.ErrorContains(t, err, "not wrap")

	expectNotified := func(want ...uint64) {
		t.Helper()
		require.Equal(t, want, seen)
		seen = nil
	}
	require.NoError(t, write(s, 0x2000, 7))
	expectNotified(0x2000, 1, 7)
	require.NoError(t, write(s, 0x1ffe, 8, 9))
	require.NoError(t, write(s, 0x2010), "of no bytes")
	expectNotified()
	require.NoError(t, write(s, 0x1ffe, 1, 2, 3)) // begins before the range
	expectNotified(0x1ffe, 3, 1)
	require.NoError(t, s.Write(0x2000, []byte{1})) // the backdoor calls no watcher
	expectNotified()
	require.NoError(t, write(s, 0x203f, 4, 5)) // touches both ranges; the second watcher stops itself
	expectNotified(0x203f, 2, 4, 0x203f, 2, 4)
	require.NoError(t, write(s, 0x203f, 4, 5))
	expectNotified(0x203f, 2, 4)
	stop()
	stop()
	require.NoError(t, write(s, 0x2000, 7))
	expectNotified()
	stop, err = s.Watch(0x203f, 2, record)
	require.NoError(t, err, "the range is free again")
	stop()
}

// Functions given to OnWrite must be called for all writes, before the watchers.
func TestOnWrite(t *testing.T) {
	s, err := mem.NewSpace(1<<20, 1<<20)
	require.NoError(t, err)
	var notified []uint64
	s.OnWrite(func(addr uint64, n int) { notified = append(notified, addr, uint64(n)) })
	_, err = s.Watch(0x2000, 64, func(uint64, int) { notified = append(notified, 99) })
	require.NoError(t, err)
	require.NoError(t, write(s, 0x2000, 1, 2))
	require.NoError(t, write(s, mem.Bus(1, 7), 1))
	require.NoError(t, write(s, 0x2000))
	require.Equal(t, []uint64{0x2000, 2, 99, mem.Bus(1, 7), 1}, notified)
}

func TestStrayWrites(t *testing.T) {
	s, err := mem.NewSpace(1<<20, 1<<20)
	require.NoError(t, err)
	require.EqualError(t, write(s, mem.Bus(1, 1<<20), 1), "mem: write of 1 B at 0x100000000100000: no memory there: "+
		"endpoint 1 has 0x100000 B")
	require.EqualError(t, write(s, mem.Bus(7, 0), 1, 2), "mem: write of 2 B at 0x700000000000000: no memory there: "+
		"endpoint 7 has none")
	require.ErrorIs(t, write(s, mem.Bus(0, 1<<20-1), 1, 2), mem.ErrNoMemory)
	require.Equal(t, 3, s.Stray)
	require.ErrorIs(t, s.Write(mem.Bus(7, 0), []byte{1}), mem.ErrNoMemory)
	require.ErrorIs(t, s.Read(mem.Bus(7, 0), []byte{1}), mem.ErrNoMemory)
	require.Equal(t, 3, s.Stray, "counts what initiators write")
	for _, sizes := range [][2]uint64{{0, 1}, {1, 0}, {1, mem.MaxBytes + 1}} {
		_, err := mem.NewSpace(sizes[0], sizes[1])
		require.ErrorContains(t, err, "1 to 2^56")
	}
}

// Without a cache, Clean and Invalidate must complete immediately and change nothing.
func TestMaintenanceWithoutCache(t *testing.T) {
	s, err := mem.NewSpace(1<<20, 1<<20)
	require.NoError(t, err)
	require.NoError(t, write(s, 0x40, 1, 2, 3))
	for _, op := range []mem.Op{mem.Invalidate, mem.Clean} {
		done := 0
		a := mem.Access{Op: op, By: mem.Core, Addr: 0x41, Span: 1, Done: func(*mem.Access) { done++ }}
		s.Access(&a)
		require.Equal(t, 1, done)
		require.NoError(t, a.Err)
		a.Addr = mem.Bus(1, 1<<20)
		s.Access(&a)
		require.ErrorIs(t, a.Err, mem.ErrNoMemory)
		require.ErrorContains(t, a.Err, "mem: "+op.String()+" of 1 B")
	}
	got := make([]byte, 3)
	require.NoError(t, s.Read(0x40, got))
	require.Equal(t, []byte{1, 2, 3}, got)
	require.Zero(t, s.Stray, "no write went astray")
}
