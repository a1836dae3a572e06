package core

import (
	"testing"

	"github.com/stretchr/testify/require"

	"nictwin/models/mem"
)

// Only ways that are used take memory: a ring that devices write to 2 of 15 ways takes that of 2.
func TestMemoryFollowsTheWaysInUse(t *testing.T) {
	g := Geometry{SizeBytes: 15 * 2 * groupSets * mem.LineBytes, Ways: 15, DeviceWays: FirstWays(2), Replacement: LRU, Index: Hashed}
	c, room := newCache(t, g), Room{WriteBack: make([]byte, mem.LineBytes)}
	r := Request{Op: mem.Write, Data: make([]byte, mem.LineBytes)}
	for r.Line = range uint64(100 * groupSets) {
		require.Equal(t, Hit, c.Step(&r, room).Kind)
	}
	taken := 0
	for _, group := range c.contents {
		if group != nil {
			taken++
		}
	}
	require.Equal(t, 2*2, taken)
	lines, _ := c.Resident()
	require.Equal(t, 2*2*groupSets, lines)
}

// A run's lines are found side by side, whatever their sets, and gone when they are evicted.
func TestDirectory(t *testing.T) {
	d := directory{runs: map[uint64]*run{}}
	far := uint64(1)<<57 + 5
	for i, line := range []uint64{0, runLines - 1, runLines, far} {
		_, ok := d.way(line)
		require.False(t, ok)
		d.put(line, i)
	}
	for i, line := range []uint64{0, runLines - 1, runLines, far} {
		way, ok := d.way(line)
		require.True(t, ok)
		require.Equal(t, i, way)
		d.forget(line)
		_, ok = d.way(line)
		require.False(t, ok)
	}
	d.put(1, MaxWays-1)
	way, _ := d.way(1)
	require.Equal(t, MaxWays-1, way)
}
