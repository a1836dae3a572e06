package cycles

import (
	"math/rand/v2"
	"testing"

	"github.com/stretchr/testify/require"
)

// A set must agree with a plain list of the cycles added, within the cycles that it keeps, even if stretches are
// added in pieces or overlap.
func TestSet(t *testing.T) {
	const kept = 1 << 11
	rng := rand.New(rand.NewPCG(1, 1))
	s := NewSet(kept)
	var in []bool
	for range 20000 {
		first := int64(len(in) + rng.IntN(5)*rng.IntN(40))
		if rng.IntN(4) == 0 && s.Latest() > 20 { // overlaps cycles added before
			first = s.Latest() - int64(rng.IntN(20))
		}
		last := max(first+int64(rng.IntN(30)), s.Latest())
		for int64(len(in)) <= last {
			in = append(in, false)
		}
		for x := first; x <= last; x++ {
			in[x] = true
		}
		s.Add(first, last)
	}
	now := int64(len(in)) + 7
	in = append(in, make([]bool, 8)...)
	free := int64(0)
	for since := now - 1; free <= kept-1; since-- {
		require.Equal(t, free, s.Free(since, now-1), "since cycle %d", since)
		if !in[since] {
			free++
		}
		begin := since // first cycle of the stretch that ends before `since`: Back goes on over it
		for begin > 0 && in[begin-1] {
			begin--
		}
		require.Equal(t, begin, s.Begin(since))
		require.Equal(t, begin, s.Back(now, free), "back %d free cycles", free)
	}
	require.Greater(t, s.Free(0, now), int64(kept), "what is forgotten was long ago")
	require.Less(t, s.list.Len(), 2*kept)
}
