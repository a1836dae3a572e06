package core

import (
	"bytes"
	"fmt"
	"math/rand/v2"
	"testing"

	"github.com/stretchr/testify/require"

	"nictwin/models/memory/mem"
)

var geometries = map[string]Geometry{
	"one way":       {SizeBytes: 8 << 6, Ways: 1, DeviceWays: 1, Replacement: LRU, Index: Plain},
	"lru":           {SizeBytes: 16 << 8, Ways: 4, DeviceWays: 0xf, Replacement: LRU, Index: Plain},
	"two of four":   {SizeBytes: 16 << 8, Ways: 4, DeviceWays: 0x3, Replacement: LRU, Index: Hashed},
	"random":        {SizeBytes: 16 << 8, Ways: 4, DeviceWays: 0xc, Replacement: Random, Index: Plain, Seed: 7},
	"15 sets":       {SizeBytes: 15 * 6 * 64, Ways: 6, DeviceWays: 0x3f, Replacement: Random, Index: Hashed, Seed: 8},
	"no allocation": {SizeBytes: 16 << 8, Ways: 4, DeviceWays: 0, Replacement: LRU, Index: Plain},
}

// lockstep plays the same operations on the cache and on a naive one, over the same memory.
type lockstep struct {
	t       *testing.T
	rng     *rand.Rand
	c       *Cache
	n       *naive
	mem     map[uint64][]byte // by line
	pending []uint64          // lines being fetched
	lines   int               // number of memory lines that operations address
	kinds   [4]int
	failed  int
}

func (s *lockstep) memory(line uint64) []byte {
	if s.mem[line] == nil {
		s.mem[line] = make([]byte, mem.LineBytes)
	}
	return s.mem[line]
}

func (s *lockstep) draw() Request {
	r := Request{By: mem.Agent(s.rng.IntN(2)), Line: uint64(s.rng.IntN(s.lines)), Again: s.rng.IntN(4) == 0}
	r.Op = [...]mem.Op{mem.Read, mem.Write, mem.Read, mem.Write, mem.Read, mem.Write, mem.Write, mem.Clean,
		mem.Invalidate}[s.rng.IntN(9)]
	if !r.Op.Moves() {
		return r
	}
	n := mem.LineBytes
	if s.rng.IntN(2) == 0 {
		r.Off = s.rng.IntN(mem.LineBytes)
		n = 1 + s.rng.IntN(mem.LineBytes-r.Off)
	}
	r.Data = make([]byte, n)
	for i := range r.Data {
		r.Data[i] = byte(s.rng.Uint32())
	}
	return r
}

// step does one operation on the cache and on the naive one, and compares outcomes, bytes and counters.
func (s *lockstep) step(i int) {
	r := s.draw()
	twin := r
	twin.Data = bytes.Clone(r.Data)
	room := Room{Fetch: s.rng.IntN(8) > 0}
	if s.rng.IntN(8) > 0 {
		room.WriteBack = make([]byte, mem.LineBytes)
	}
	got := s.c.Step(&r, room)
	want, back := s.n.step(&twin, room.Fetch, room.WriteBack != nil)
	if got != want || got.Kind == Hit && !bytes.Equal(r.Data, twin.Data) {
		require.FailNow(s.t, "not in step", "operation %d, %v by %v of line %d: %+v %x, want %+v %x", i, r.Op, r.By,
			r.Line, got, r.Data, want, twin.Data)
	}
	s.kinds[got.Kind]++
	if got.WriteBack {
		for k, v := range room.WriteBack {
			if b, ok := back[k]; !ok || b != v {
				require.FailNow(s.t, "not in step",
					"operation %d writes line %d back with %#x in byte %d, want %#x, %v", i, got.Victim, v, k, b, ok)
			}
		}
		copy(s.memory(got.Victim), room.WriteBack)
	}
	if got.Kind == Bypass && r.Op == mem.Write {
		copy(s.memory(r.Line)[r.Off:], r.Data)
	}
	if got.Fetch {
		s.pending = append(s.pending, r.Line)
	}
}

// fill ends one of the fetches in flight, with data or as a failure.
func (s *lockstep) fill() {
	i := s.rng.IntN(len(s.pending))
	line := s.pending[i]
	s.pending = append(s.pending[:i], s.pending[i+1:]...)
	if s.rng.IntN(50) == 0 {
		s.failed++
		lost, err := s.c.Fail(line)
		require.NoError(s.t, err)
		require.Equal(s.t, s.n.find(line).dirty, lost)
		s.n.fill(line, nil)
		return
	}
	require.NoError(s.t, s.c.Fill(line, s.memory(line)))
	s.n.fill(line, s.memory(line))
}

// The cache and the naive one must agree on every outcome, byte and counter, in 10^6 operations
// over all geometries.
func TestLockstepWithNaive(t *testing.T) {
	const operations = 1_000_000
	for name, g := range geometries {
		t.Run(name, func(t *testing.T) {
			c, err := New(g)
			require.NoError(t, err)
			c.IsBuffer = isBuffer
			s := &lockstep{t: t, rng: rand.New(rand.NewPCG(11, uint64(g.Ways))), c: c, n: newNaive(g),
				mem: map[uint64][]byte{}, lines: int(g.SizeBytes / mem.LineBytes * 3)}
			for i := range (operations + len(geometries) - 1) / len(geometries) {
				s.step(i)
				if len(s.pending) > 0 && s.rng.IntN(3) > 0 {
					s.fill()
				}
				require.Equal(t, len(s.pending), c.Pending())
			}
			for len(s.pending) > 0 {
				s.fill()
			}
			s.finish()
		})
	}
}

func (s *lockstep) finish() {
	require.Equal(s.t, s.n.Counters, s.c.Counters)
	lines, dirtyLines := 0, 0
	for _, set := range s.n.sets {
		for _, l := range set {
			lines++
			if l.dirty {
				dirtyLines++
			}
			got := make([]byte, mem.LineBytes)
			s.c.Peek(l.line, 0, got)
			for i, v := range got {
				require.Equal(s.t, l.bytes[i], v)
			}
		}
	}
	gotLines, gotDirty := s.c.Resident()
	require.Equal(s.t, []int{lines, dirtyLines}, []int{gotLines, gotDirty})
	sum := s.c.Sum()
	require.EqualValues(s.t, sum.Fetches+sum.FullWrites, uint64(lines)+sum.Evicted+sum.Dropped+sum.FailedFetches,
		"lines in = lines out + held")
	require.NotZero(s.t, s.failed)
	for kind, n := range s.kinds {
		require.NotZero(s.t, n, "no outcome of kind %d: the test is too easy", kind)
	}
}

func newCache(t *testing.T, g Geometry) *Cache {
	t.Helper()
	c, err := New(g)
	require.NoError(t, err)
	return c
}

// A ring larger than an LRU cache must evict a dirty line with every write; one that fits must
// evict none.
func TestCyclicRing(t *testing.T) {
	g := Geometry{SizeBytes: 64 << 10, Ways: 16, DeviceWays: FirstWays(16), Replacement: LRU, Index: Plain}
	for _, x := range []struct {
		lines uint64
		ways  int
		want  float64 // dirty evictions per write in the second round
	}{{1024, 16, 0}, {1025 + 63, 16, 1}, {2048, 16, 1}, {512, 8, 0}, {1024, 8, 1}} {
		g.DeviceWays = FirstWays(x.ways)
		c, room := newCache(t, g), Room{WriteBack: make([]byte, mem.LineBytes)}
		var before uint64
		for round := range 2 {
			before = c.Counters[mem.Device].EvictedDirty
			for line := range x.lines {
				r := Request{Op: mem.Write, Line: line, Data: make([]byte, mem.LineBytes)}
				require.Equal(t, Hit, c.Step(&r, room).Kind, round)
			}
		}
		require.Equal(t, x.want, float64(c.Counters[mem.Device].EvictedDirty-before)/float64(x.lines), fmt.Sprint(x))
	}
}

// Lookups of buffers must be counted apart, once for each line that an initiator reads, also if it waits for a fetch.
func TestLookupsOfBuffers(t *testing.T) {
	for _, isBuffer := range []func(uint64) bool{nil, isBuffer} {
		c, r := newCache(t, geometries["lru"]), Request{By: mem.Core, Data: make([]byte, 8)}
		c.IsBuffer = isBuffer
		read := func(want Kind, line uint64, again bool) {
			r.Line, r.Again = line, again
			require.Equal(t, want, c.Step(&r, Room{Fetch: true}).Kind)
		}
		read(Joined, 3, false) // as by a prefetch
		read(Joined, 3, true)  // the load behind it
		read(Joined, 3, false) // of another core
		read(Joined, 4, false) // no buffer
		require.NoError(t, c.Fill(3, make([]byte, mem.LineBytes)))
		read(Hit, 3, true)
		read(Hit, 3, false)
		got := c.Counters[mem.Core]
		require.EqualValues(t, []uint64{6, 2}, []uint64{got.Reads, got.ReadHits})
		if isBuffer == nil {
			require.Zero(t, got.BufferReads)
			continue
		}
		require.EqualValues(t, []uint64{3, 1}, []uint64{got.BufferReads, got.BufferHits})
	}
}

// An Invalidate of a dirty line must lose its bytes; after a Clean it must lose nothing.
func TestInvalidateLosesWhatWasNotCleaned(t *testing.T) {
	c := newCache(t, geometries["lru"])
	back := make([]byte, mem.LineBytes)
	room := Room{Fetch: true, WriteBack: back}
	line := bytes.Repeat([]byte{7}, mem.LineBytes)
	require.Equal(t, Outcome{Kind: Hit}, c.Step(&Request{Op: mem.Write, Line: 5, Data: line}, room))
	require.Equal(t, Outcome{Kind: Hit, WriteBack: true, Victim: 5},
		c.Step(&Request{Op: mem.Clean, By: mem.Core, Line: 5}, room))
	require.Equal(t, line, back)
	line[0] = 8
	require.Equal(t, Outcome{Kind: Hit}, c.Step(&Request{Op: mem.Write, Line: 5, Data: line}, room))
	require.Equal(t, Outcome{Kind: Hit}, c.Step(&Request{Op: mem.Invalidate, By: mem.Core, Line: 5}, room))
	require.EqualValues(t, 1, c.Counters[mem.Device].DroppedDirty, "it was the device's")
	read := Request{Op: mem.Read, By: mem.Core, Line: 5, Data: make([]byte, 1)}
	require.Equal(t, Outcome{Kind: Joined, Fetch: true}, c.Step(&read, room))
	require.NoError(t, c.Fill(5, back))
	require.Equal(t, Outcome{Kind: Hit}, c.Step(&read, room))
	require.EqualValues(t, 7, read.Data[0], "stale: what was cleaned, not what was written after it")
	require.Error(t, c.Fill(5, back))
	_, err := c.Fail(6)
	require.Error(t, err)
}

func TestGeometryReportsEverything(t *testing.T) {
	err := Geometry{SizeBytes: 100, Ways: 4, DeviceWays: 0x10}.Validate()
	for _, field := range []string{"size_bytes 100", "device_ways 0x10", "replacement \"\": want lru or random",
		"index"} {
		require.ErrorContains(t, err, field)
	}
	require.ErrorContains(t, Geometry{}.Validate(), "ways 0: want 1 to 64")
	_, err = New(Geometry{})
	require.Error(t, err)
}
