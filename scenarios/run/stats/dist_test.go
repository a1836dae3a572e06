package stats

import (
	"math"
	"slices"
	"testing"

	"github.com/stretchr/testify/require"
	"pgregory.net/rapid"

	_ "nictwin/models/sim/fixedseed"
	"nictwin/models/sim/simcore"
)

// TestAgainstSort compares the distribution with a naive sort of the same samples.
func TestAgainstSort(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		// Times from picoseconds to seconds, in clusters, as latencies are.
		magnitude := rapid.Int64Range(0, 12).Draw(t, "magnitude")
		most := int64(math.Pow10(int(magnitude)))
		list := rapid.SliceOfN(rapid.Int64Range(0, most), 1, 3000).Draw(t, "samples")
		var d Dist
		sum := 0.0
		for _, v := range list {
			d.Add(simcore.Ps(v))
			sum += float64(v)
		}
		slices.Sort(list)
		require.EqualValues(t, len(list), d.Count())
		require.EqualValues(t, list[len(list)-1], d.Max())
		require.InEpsilon(t, 1+sum/float64(len(list)), 1+d.Mean(), 1e-12)
		for _, p := range []float64{1, 50, 90, 99, 99.9, 100} {
			got, ok := d.Percentile(p)
			if p > 90 && len(list) < MinTail {
				require.False(t, ok)
				continue
			}
			require.True(t, ok)
			rank := min(max(int(p/100*float64(len(list))+0.5), 1), len(list))
			want := float64(list[rank-1])
			require.GreaterOrEqual(t, float64(got), want, "p%v", p)
			require.LessOrEqual(t, float64(got), want*1.001, "p%v", p)
		}
	})
}

func TestDistWithoutSamples(t *testing.T) {
	var d Dist
	_, ok := d.Percentile(50)
	require.False(t, ok)
	require.Zero(t, d.Mean())
	d.Add(-5)
	require.Zero(t, d.Max())
}

// TestSumIsExact adds times whose sum does not fit into 64 bits.
func TestSumIsExact(t *testing.T) {
	var d Dist
	const long, n = 3000 * simcore.Second, 10_000
	for range n {
		d.Add(long)
	}
	require.InEpsilon(t, float64(long), d.Mean(), 1e-15)
}
