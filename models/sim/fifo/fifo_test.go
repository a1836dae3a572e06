package fifo

import (
	"math/rand/v2"
	"slices"
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

// TestQueueIsAList compares a queue with a slice in every operation, with the oldest value at every
// slot of the buffer.
func TestQueueIsAList(t *testing.T) {
	var q Queue[int]
	var want []int
	rng := rand.New(rand.NewPCG(1, 1))
	for i := range 20_000 {
		n := len(want)
		switch what := rng.IntN(8); {
		case what < 4 && n < 50 || n == 0:
			q.Push(i)
			want = append(want, i)
		case what == 4:
			at := rng.IntN(n)
			q.Remove(at)
			want = slices.Delete(want, at, at+1)
		case what == 5:
			require.Equal(t, want[n-1], q.PopLast())
			want = want[:n-1]
		default:
			require.Equal(t, want[0], q.Pop())
			want = want[1:]
		}
		require.Equal(t, len(want), q.Len())
		for k := range want {
			require.Equal(t, want[k], *q.At(k))
		}
	}
}

// TestQueueHoldsNothing: a queue does not keep removed values from the garbage collector, and
// allocates nothing once it has grown.
func TestQueueHoldsNothing(t *testing.T) {
	var q Queue[*int]
	use := func() {
		for range 8 {
			q.Push(new(int))
		}
		for range 2 {
			q.Pop()
			q.PopLast()
			q.Remove(1)
		}
		for q.Len() > 0 {
			q.Pop()
		}
	}
	use()
	for _, p := range q.buf {
		require.Nil(t, p)
	}
	v := new(int)
	require.Zero(t, testing.AllocsPerRun(100, func() {
		q.Push(v)
		q.Push(v)
		q.Remove(1)
		q.PopLast()
	}))
}

// TestFree checks that Get returns the values put back, the latest first and unchanged, and that it allocates nothing
// if there is one.
func TestFree(t *testing.T) {
	var f Free[[3]int]
	a, fresh := f.Get()
	require.True(t, fresh)
	b, _ := f.Get()
	a[0], b[0] = 1, 2
	f.Put(a)
	f.Put(b)
	x, fresh := f.Get()
	require.False(t, fresh)
	require.Same(t, b, x)
	require.Equal(t, [3]int{2}, *x)
	y, _ := f.Get()
	require.Same(t, a, y)
	f.Put(y)
	require.Zero(t, testing.AllocsPerRun(100, func() {
		v, _ := f.Get()
		f.Put(v)
	}))
}

// TestQueueStaysNear: a queue of one value at a time uses one slot, however many values pass
// through it.
func TestQueueStaysNear(t *testing.T) {
	var q Queue[int]
	q.Push(0)
	slot := q.Front()
	for i := range 100 {
		require.Equal(t, i, q.Pop())
		q.Push(i + 1)
		require.Same(t, slot, q.Front())
	}
}
