package rnic

import (
	"math/rand/v2"
	"testing"
	"unsafe"

	"github.com/stretchr/testify/require"

	"nictwin/models/rnic/core"
	"nictwin/models/rnic/rnicspec"
)

// TestChainIsAQueue compares a chain with a slice; removed elements are appended again.
func TestChainIsAQueue(t *testing.T) {
	var x chain[*fetch]
	var want, idle []*fetch
	rng := rand.New(rand.NewPCG(1, 1))
	for range 10_000 {
		if len(want) == 0 || rng.IntN(2) == 0 && len(want) < 20 {
			f := take(&idle)
			x.Push(f)
			want = append(want, f)
		} else {
			require.Same(t, want[0], x.Front())
			f := x.Pop()
			require.Same(t, want[0], f)
			require.Nil(t, f.next, "what has left holds on to nothing")
			want, idle = want[1:], append(idle, f)
		}
		require.Equal(t, len(want), x.Len())
	}
}

// TestQueuePairIsInOnePlace checks that a queue pair embeds its transport state, and that a set of
// the context caches fills one cache line.
func TestQueuePairIsInOnePlace(t *testing.T) {
	var q qpair
	require.Greater(t, unsafe.Sizeof(q), unsafe.Sizeof(core.QP{}))
	require.EqualValues(t, 64, unsafe.Sizeof(cacheSet{}))
	d := core.NewDevice()
	require.True(t, d.AddAs(&q.QP, 1, rnicspec.RC))
	require.Same(t, &q.QP, d.QP(1))
	require.False(t, d.AddAs(new(core.QP), 1, rnicspec.UD), "the number is in use")
	require.Same(t, &q.QP, d.QP(1))
}
