package apps

import (
	"slices"
	"testing"

	"github.com/stretchr/testify/require"
	"pgregory.net/rapid"
)

// TestSlotQueue compares a queue of slots with a list, over random pushes and removals.
func TestSlotQueue(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		slots := rapid.IntRange(1, 9).Draw(t, "slots")
		q, want := newSlotQueue(slots), []int{}
		for range rapid.IntRange(1, 60).Draw(t, "steps") {
			slot := rapid.IntRange(0, slots-1).Draw(t, "slot")
			if at := slices.Index(want, slot); at < 0 && rapid.Bool().Draw(t, "push") {
				q.push(slot)
				want = append(want, slot)
			} else {
				q.remove(slot)
				if at >= 0 {
					want = slices.Delete(want, at, at+1)
				}
			}
			got, ok := q.front()
			require.Equal(t, len(want) > 0, ok)
			if ok {
				require.Equal(t, want[0], got)
			}
		}
		for _, slot := range want {
			got, ok := q.front()
			require.True(t, ok)
			require.Equal(t, slot, got)
			q.remove(got)
		}
		_, ok := q.front()
		require.False(t, ok)
	})
}
