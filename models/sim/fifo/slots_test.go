package fifo

import (
	"slices"
	"testing"

	"github.com/stretchr/testify/require"
	"pgregory.net/rapid"

	_ "nictwin/models/sim/fixedseed"
)

// TestSlots compares a queue of slots with a list, over random pushes and removals.
func TestSlots(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		slots := rapid.IntRange(1, 9).Draw(t, "slots")
		q, want := NewSlots(slots), []int{}
		for range rapid.IntRange(1, 60).Draw(t, "steps") {
			slot := rapid.IntRange(0, slots-1).Draw(t, "slot")
			if at := slices.Index(want, slot); at < 0 && rapid.Bool().Draw(t, "push") {
				q.Push(slot)
				want = append(want, slot)
			} else {
				q.Remove(slot)
				if at >= 0 {
					want = slices.Delete(want, at, at+1)
				}
			}
			got, ok := q.Front()
			require.Equal(t, len(want) > 0, ok)
			if ok {
				require.Equal(t, want[0], got)
			}
		}
		for _, slot := range want {
			got, ok := q.Front()
			require.True(t, ok)
			require.Equal(t, slot, got)
			q.Remove(got)
		}
		_, ok := q.Front()
		require.False(t, ok)
	})
}
