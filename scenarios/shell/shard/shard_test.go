package shard

import (
	"slices"
	"testing"

	"github.com/stretchr/testify/require"
)

func TestShardsTogetherAreTheList(t *testing.T) {
	for n := 1; n <= 9; n++ {
		list := make([]int, n)
		for i := range list {
			list[i] = i
		}
		require.Equal(t, list, Of(Shard{}, list))
		for of := 1; of <= n; of++ {
			var all []int
			for i := 1; i <= of; i++ {
				part := Of(Shard{i, of}, list)
				require.Len(t, part, Shard{i, of}.Len(n))
				require.GreaterOrEqual(t, len(part), n/of)
				require.LessOrEqual(t, len(part), n/of+1)
				all = append(all, part...)
			}
			slices.Sort(all)
			require.Equal(t, list, all, "%d shards", of)
		}
	}
}

func TestFlag(t *testing.T) {
	var s Shard
	require.Empty(t, s.String())
	require.NoError(t, s.Set("2/4"))
	require.Equal(t, Shard{2, 4}, s)
	require.Equal(t, "2/4", s.String())
	for _, wrong := range []string{"", "2", "0/4", "5/4", "1/0", "-1/2", "1/10001", "a/b", "1/2/3", "1/2 "} {
		require.ErrorContains(t, s.Set(wrong), "want I/N", wrong)
	}
	require.Equal(t, Shard{2, 4}, s, "a wrong value changes nothing")
	require.EqualError(t, s.Check(3, "cases"), "--shard 2/4: there are 3 cases: want at most 3 shards")
	require.NoError(t, s.Check(4, "cases"))
	require.NoError(t, Shard{}.Check(0, "cases"))
}
