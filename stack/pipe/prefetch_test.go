package pipe

import (
	"testing"

	"github.com/stretchr/testify/require"
)

// prefetched is a memory that records the lines which a consumer loads in advance.
type prefetched struct {
	plain
	lines []uint64
}

func (m *prefetched) Prefetch(addr uint64, n int) error {
	for ; n > 0; n -= LineBytes {
		m.lines = append(m.lines, (addr-ringAt)/LineBytes)
		addr += LineBytes
	}
	return nil
}

// TestPrefetch checks which lines a consumer loads in advance: the next ones behind the first element after a wait, as
// many as it takes behind others, and the next ones on request.
func TestPrefetch(t *testing.T) {
	s, mem := Spec{LogLines: 3, Batch: 1, Credit: 1}, new(prefetched)
	p, err := NewProducer(s, place, mem)
	require.NoError(t, err)
	c, err := NewConsumer(s, place, mem)
	require.NoError(t, err)
	take := func(found bool, want ...uint64) {
		t.Helper()
		mem.lines = nil
		e, err := c.Poll()
		require.NoError(t, err)
		require.Equal(t, found, e != nil)
		require.Equal(t, want, mem.lines)
	}
	push := func(lines int) { require.NoError(t, p.Push(make([]byte, lines*LineBytes))) }
	take(false)
	for _, n := range []int{1, 1, 2, 1} {
		push(n)
	}
	take(true, 1, 2, 3, 4)
	take(true, 5)
	take(true, 6, 7)
	take(true, 0)
	take(false)
	push(1)
	take(true, 6, 7, 0, 1)
	mem.lines = nil
	c.Prefetch()
	require.Equal(t, []uint64{6, 7, 0, 1}, mem.lines)
}
