package delta_test

import (
	"context"
	"slices"
	"testing"

	"github.com/stretchr/testify/require"
	"pgregory.net/rapid"

	_ "nictwin/models/sim/fixedseed"
	"nictwin/scenarios/delta"
)

// cut leaves out entries of a list as long as function `fails` returns true for the remaining ones.
func cut(s *delta.Search, list []int, fails func([]int) bool) []int {
	for delta.Cut(func() int { return len(list) }, func(from, to int) bool {
		less := slices.Concat(list[:from], list[to:])
		if !s.Try(func() bool { return fails(less) }) {
			return false
		}
		list = less
		return true
	}) {
	}
	return list
}

// A list that fails if it contains some entries is cut to exactly these, in their order.
func TestCutKeepsWhatFails(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		n := rapid.IntRange(1, 300).Draw(t, "length")
		list := make([]int, n)
		for i := range list {
			list[i] = i
		}
		want := rapid.SliceOfNDistinct(rapid.IntRange(0, n-1), 0, min(n, 5), rapid.ID[int]).Draw(t, "needed")
		slices.Sort(want)
		s := delta.New(context.Background(), 100_000)
		got := cut(s, list, func(l []int) bool {
			return !slices.ContainsFunc(want, func(x int) bool { return !slices.Contains(l, x) })
		})
		require.Equal(t, append([]int{}, want...), append([]int{}, got...))
	})
}

// If all values from `least` on fail, Least finds `least` in few trials. Grow finds a value that fails and is at most
// twice as far from `low`, the start of the search.
func TestLeast(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		low := rapid.IntRange(0, 5).Draw(t, "low")
		high := low + rapid.IntRange(0, 100_000).Draw(t, "range")
		least := rapid.IntRange(low, high).Draw(t, "least")
		trials := 0
		fails := func(n int) bool { trials++; return n >= least }
		require.Equal(t, least, delta.Least(low, high, fails))
		require.LessOrEqual(t, trials, 40)
		got := delta.Grow(low, high, fails)
		require.GreaterOrEqual(t, got, least)
		require.LessOrEqual(t, got-low, 2*(least-low)+1)
	})
}

// A search ends when it has made its number of trials, or when its context ends.
func TestSearchEnds(t *testing.T) {
	s := delta.New(t.Context(), 3)
	for range 5 {
		require.Equal(t, s.Trials() < 3, s.Try(func() bool { return true }))
	}
	require.Equal(t, 3, s.Trials())
	ctx, stop := context.WithCancel(t.Context())
	s = delta.New(ctx, 3)
	require.True(t, s.Try(func() bool { stop(); return true }))
	require.False(t, s.Try(func() bool { return true }))
	require.Equal(t, 1, s.Trials())
}

// If a smaller input fails only in trials that wait briefly (little patience), the search is repeated with more
// patience.
func TestPatiently(t *testing.T) {
	var patience []int64
	found := delta.Patiently(t.Context(), 10, 1000, func(p int64) bool {
		patience = append(patience, p)
		return true
	}, func() bool { return patience[len(patience)-1] >= 600 })
	require.True(t, found)
	require.Equal(t, []int64{10, 80, 640}, patience)
	require.False(t, delta.Patiently(t.Context(), 10, 1000, func(int64) bool { return false }, nil))
	ctx, stop := context.WithCancel(t.Context())
	require.False(t, delta.Patiently(ctx, 10, 1000, func(int64) bool { stop(); return true }, nil))
}
