package driver

import (
	"errors"
	"testing"

	"github.com/stretchr/testify/require"
)

// TestInOrder checks that buffers are posted in order, out of order on request, and each once.
func TestInOrder(t *testing.T) {
	var posted []uint64
	full := errors.New("full")
	o := NewInOrder(4, func(i uint64) error {
		if len(posted) == 6 {
			return full
		}
		posted = append(posted, i)
		return nil
	})
	step := func(want ...uint64) {
		t.Helper()
		require.Equal(t, want, posted)
		posted = nil
	}
	require.NoError(t, o.Free(1))
	require.NoError(t, o.Free(3))
	step()
	require.NoError(t, o.Overtake(1))
	step(1)
	require.NoError(t, o.Free(0))
	step(0)
	require.NoError(t, o.Overtake(5))
	step(3)
	require.NoError(t, o.Free(2))
	step()
	require.NoError(t, o.Free(1))
	step(1, 2)
	posted = make([]uint64, 6)
	require.NoError(t, o.Free(0))
	require.ErrorIs(t, o.Overtake(1), full)
	require.ErrorIs(t, o.Free(3), full)
}
