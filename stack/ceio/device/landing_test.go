package device

import (
	"testing"

	"github.com/stretchr/testify/require"
)

// TestLandingBuffers checks that the first free buffers are taken, adjacent ones for a run, and each once.
func TestLandingBuffers(t *testing.T) {
	const bytes, base = 128, 1 << 20
	l := landing{slots: slots{pay: base, bytes: bytes, n: 8}, used: make([]bool, 8)}
	take := func(n int) int { return int(l.index(l.take(n).Pay)) }
	require.Equal(t, 0, take(3))
	require.Equal(t, 3, take(2))
	l.used[0], l.used[1] = false, false // behind the third, which is in use
	first, room := l.fit(2)
	require.Equal(t, [2]int{0, 2}, [2]int{first, room}, "not the longer run behind")
	require.Equal(t, 5, take(3), "no two adjacent ones are long enough")
	_, room = l.fit(3)
	require.Equal(t, 2, room)
	require.Equal(t, 0, take(2))
	_, room = l.fit(1)
	require.Zero(t, room)
}
