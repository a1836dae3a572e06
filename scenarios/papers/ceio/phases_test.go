package ceio

import (
	"math"
	"math/rand/v2"
	"testing"

	"github.com/stretchr/testify/require"
)

// The mean of a rate that collapses again and again lies in the interval, which is that of whole cycles: batches of
// equal length would have more or fewer collapses each.
func TestCycles(t *testing.T) {
	rng := rand.New(rand.NewPCG(1, 2))
	const runs, n, high, low, long, short = 200, 500, 76.0, 14.0, 30.0, 6.0
	mean := (high*long + low*short) / (long + short)
	inside, known := 0, 0
	for range runs {
		var values []float64
		for len(values) < n {
			for range 24 + rng.IntN(13) {
				values = append(values, high+rng.NormFloat64())
			}
			for range 5 + rng.IntN(3) {
				values = append(values, low+rng.NormFloat64())
			}
		}
		l := levelOf(values[:n])
		if math.Abs(l.mean-mean) <= l.half {
			inside++
		}
		if l.half <= 0.05*l.mean {
			known++
		}
	}
	require.GreaterOrEqual(t, inside, runs*9/10)
	require.GreaterOrEqual(t, known, runs*9/10)
	require.Empty(t, collapses([]float64{44, 50, 45, 55}))
	require.Equal(t, []int{1, 5}, collapses([]float64{40, 10, 9, 8, 45, 5, 6}))
}
