package driver

import (
	"maps"
	"slices"
	"testing"

	"github.com/stretchr/testify/require"
	"pgregory.net/rapid"

	_ "nictwin/models/sim/fixedseed"
)

// TestArena checks that allocations lie inside the arena, are aligned and do not overlap, and that freed memory can be
// allocated again in one piece.
func TestArena(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		const from, bytes = 1<<56 | 100, 5000
		a, owned, left := NewArena(from, bytes), map[uint64]uint64{}, uint64(bytes)
		for range rapid.IntRange(1, 60).Draw(t, "calls") {
			if at := slices.Sorted(maps.Keys(owned)); len(at) > 0 && rapid.Bool().Draw(t, "free") {
				x := rapid.SampledFrom(at).Draw(t, "at")
				require.NoError(t, a.Free(x))
				require.Error(t, a.Free(x))
				left += owned[x]
				delete(owned, x)
				continue
			}
			n, align := rapid.Uint64Range(1, 900).Draw(t, "n"), uint64(1)<<rapid.IntRange(0, 8).Draw(t, "align")
			at, err := a.Alloc(n, align)
			if err != nil {
				require.Less(t, a.Largest(), n+align, "there is room whatever the alignment costs")
				continue
			}
			require.Zero(t, at%align)
			require.GreaterOrEqual(t, at, uint64(from))
			require.LessOrEqual(t, at+n, uint64(from+bytes))
			for x, m := range owned {
				require.True(t, at+n <= x || x+m <= at, "%d B at %#x overlap %d B at %#x", n, at, m, x)
			}
			owned[at], left = n, left-n
			require.Equal(t, left, a.Left())
		}
		for x := range owned {
			require.NoError(t, a.Free(x))
		}
		require.EqualValues(t, bytes, a.Largest(), "all of it is one piece again")
		at, err := a.Alloc(bytes, 1)
		require.NoError(t, err)
		require.EqualValues(t, from, at)
	})
}

// TestArenaSaysWhatWouldBeRight checks that invalid allocations and frees are refused with an error that says what
// would be right.
func TestArenaSaysWhatWouldBeRight(t *testing.T) {
	a := NewArena(0, 256)
	for _, x := range []struct {
		n, align uint64
		text     string
	}{
		{0, 1, "want 1 B or more"}, {1, 0, "power of two"}, {1, 3, "power of two"},
		{257, 1, "no room for 257 B at a multiple of 1: 256 B are free, 256 of them in one piece"},
		{1 << 63, 1 << 63, "no room"},
	} {
		_, err := a.Alloc(x.n, x.align)
		require.ErrorContains(t, err, x.text)
	}
	require.ErrorContains(t, a.Free(64), "that Alloc returned")
	_, d := newFake(t, false)
	_, err := d.Alloc(2, 64, 64)
	require.ErrorContains(t, err, "endpoint 2 has no memory")
	require.ErrorContains(t, d.Free(1<<57), "endpoint 2 has no memory")
	_, err = d.Alloc(1, 64, 64)
	require.ErrorContains(t, err, "0 B are free")
}

// TestRoomError checks that an error for lack of memory names the endpoint, but not for an Arena that the caller
// manages.
func TestRoomError(t *testing.T) {
	_, err := NewArena(0, 64).Alloc(128, 64)
	var room *RoomError
	require.ErrorAs(t, err, &room)
	require.Equal(t, RoomError{Endpoint: -1, Bytes: 128, Align: 64, Left: 64, Largest: 64}, *room)
}
