package fifo

import (
	"testing"

	"github.com/stretchr/testify/require"
)

func TestQueueGrows(t *testing.T) {
	var r Queue[int]
	next, want := 0, 0
	for i := range 1000 {
		r.Push(next)
		next++
		if i%3 == 0 {
			require.Equal(t, want, *r.Front())
			require.Equal(t, want, r.Pop())
			want++
		}
	}
	for ; r.Len() > 0; want++ {
		require.Equal(t, want, r.Pop())
	}
	require.Equal(t, next, want)
}
