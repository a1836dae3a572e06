package core

import (
	"testing"
	"unsafe"

	"github.com/stretchr/testify/require"

	"nictwin/models/memory/mem"
)

// The simulator must allocate blocks only for cached lines and reuse free ones: a ring that devices
// write to 2 of 15 ways needs the blocks of 2 ways, however long it is.
func TestMemoryFollowsTheLinesInUse(t *testing.T) {
	g := Geometry{SizeBytes: 15 * 2 * groupSets * mem.LineBytes, Ways: 15, DeviceWays: FirstWays(2), Replacement: LRU,
		Index: Hashed}
	c, room := newCache(t, g), Room{WriteBack: make([]byte, mem.LineBytes)}
	r := Request{Op: mem.Write, Data: make([]byte, mem.LineBytes)}
	for r.Line = range uint64(100 * groupSets) {
		require.Equal(t, Hit, c.Step(&r, room).Kind)
	}
	lines, _ := c.Resident()
	require.Equal(t, 2*2*groupSets, lines)
	require.LessOrEqual(t, len(c.pool.chunks)*poolBlocks, lines, "each line alone in its block")
	require.GreaterOrEqual(t, len(c.pool.chunks)*poolBlocks, lines/blockLines)

	r.Op = mem.Invalidate
	for r.Line = range uint64(100 * groupSets) {
		c.Step(&r, room)
	}
	lines, _ = c.Resident()
	require.Zero(t, lines)
	require.Len(t, c.pool.free, len(c.pool.chunks)*poolBlocks)
	for _, group := range c.rows {
		for _, at := range group {
			require.Zero(t, at)
		}
	}
}

// A block must begin at a cache line of the simulating machine, and fill whole ones.
func TestBlockFillsLines(t *testing.T) {
	var p pool
	b := p.get()
	require.Zero(t, unsafe.Sizeof(*b)%mem.LineBytes)
	require.Zero(t, uintptr(unsafe.Pointer(b))%mem.LineBytes)
}

// Every line of a pool's blocks must be found by its place.
func TestPlaces(t *testing.T) {
	var p pool
	for i := range uint64(3 * poolBlocks) {
		l := line{p.get(), i % blockLines}
		at := p.place(l)
		require.NotZero(t, at)
		require.Equal(t, l, p.line(at))
		require.Equal(t, l, p.line(at|placePending))
	}
	require.Len(t, p.chunks, 3)
}

// Blocks must be found by their number until their last line has been dropped.
func TestDirectory(t *testing.T) {
	d := directory{runs: map[uint64]*[runBlocks]*block{}}
	far := uint64(1)<<55 + 5
	for _, number := range []uint64{0, runBlocks - 1, runBlocks, far} {
		require.Nil(t, d.find(number))
		d.put(&block{number: number})
	}
	for _, number := range []uint64{0, runBlocks - 1, runBlocks, far} {
		b := d.find(number)
		require.NotNil(t, b)
		require.Equal(t, number, b.number)
		d.forget(b)
		require.Nil(t, d.find(number))
	}
}
