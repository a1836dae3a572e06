package fuzz

import (
	"testing"

	"github.com/stretchr/testify/require"

	"nictwin/scenarios/bed/device"
	"nictwin/scenarios/fuzz/coverage"
	"nictwin/scenarios/shell/shard"
)

// Shards play together what one campaign plays: the same programs, on the same builds, with the same hits.
func TestShardsArePartsOfACampaign(t *testing.T) {
	const runs, of = 7, 3
	o := options(device.Model, runs)
	o.Skip = 5
	whole, err := Run(t.Context(), o)
	require.NoError(t, err)
	sum, hits := Result{}, coverage.New()
	for i := 1; i <= of; i++ {
		o.Shard = shard.Shard{Index: i, Of: of}
		r, err := Run(t.Context(), o)
		require.NoError(t, err)
		sum.Runs, sum.Checked, sum.Cycles = sum.Runs+r.Runs, sum.Checked+r.Checked, sum.Cycles+r.Cycles
		require.Equal(t, whole.Sizes, r.Sizes)
		hits.Merge(r.Coverage)
	}
	require.Equal(t, []any{whole.Runs, whole.Checked, whole.Cycles}, []any{sum.Runs, sum.Checked, sum.Cycles})
	require.Equal(t, whole.Coverage, hits)
}
