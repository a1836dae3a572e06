package judge

import (
	"math"
	"math/rand/v2"
	"testing"

	"github.com/stretchr/testify/require"
)

// Bins cover all latencies without gaps, and each is narrower than an eighth of the latencies in it.
func TestLatencyBins(t *testing.T) {
	next := int64(0)
	for i := range latencies {
		from, to := boundsOf(i)
		require.Equal(t, next, from, "bin %d", i)
		require.Equal(t, i, binOf(from))
		require.Equal(t, i, binOf(to))
		require.LessOrEqual(t, to-from, from/8)
		if to == math.MaxInt64 {
			return
		}
		next = to + 1
	}
	require.Fail(t, "the last bin does not reach the largest latency")
}

// The sum of two halves is the whole distribution, and its quantiles are those of the numbers counted, to within the
// width of a bin.
func TestLatencyAdd(t *testing.T) {
	r := rand.New(rand.NewPCG(1, 2))
	var halves [2]Judge
	var whole Judge
	for i := range 1000 {
		v := int64(r.ExpFloat64() * 300)
		halves[i%2].rx.add(v)
		whole.rx.add(v)
	}
	sum := Latency{Path: "rx"}
	for i := range halves {
		sum.Add(&halves[i].Latencies()[0])
	}
	require.Equal(t, whole.Latencies(), []Latency{sum})
	require.InDelta(t, 300*math.Ln2, sum.Quantile(0.5), 40)
	require.Equal(t, sum.Max, sum.Quantile(1))
	whole.rx.add(-1) // a frame that ends before it began does not count
	require.EqualValues(t, 1000, whole.Latencies()[0].Count)
}
