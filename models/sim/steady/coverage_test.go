package steady

import (
	"math"
	"math/rand/v2"
	"testing"

	"github.com/stretchr/testify/require"

	"nictwin/models/sim/simcore"
)

// series returns the times between completions in picoseconds: a first-order autoregression around a mean.
type series struct {
	keep float64 // correlation of neighbours
	dev  float64 // standard error of the mean of 500, relative, for the long run
}

const seriesMean = 1e6

func (x series) start(rng *rand.Rand) func() simcore.Ps {
	step := x.dev * math.Sqrt(MinRoundTrips) * (1 - x.keep)
	v := rng.NormFloat64() * step / math.Sqrt(1-x.keep*x.keep)
	return func() simcore.Ps {
		v = x.keep*v + step*rng.NormFloat64()
		return simcore.Ps(max(seriesMean*(1+v), 0))
	}
}

// byMeter measures as studies do: 500 completions or more, up to six times as many.
func byMeter(next func() simcore.Ps) Estimate {
	m := New(0, MinRoundTrips/20, 20, 120).Doubling(0)
	for now := simcore.Ps(0); m.Done(now, 64); {
		now += next()
	}
	return m.Estimate()
}

// byRatio looks after every 50 completions from the 500th on, up to four times as many.
func byRatio(next func() simcore.Ps) (e Estimate) {
	at, bytes := []simcore.Ps{0}, []uint64{0}
	for n := 1; n <= 4*MinRoundTrips; n++ {
		at, bytes = append(at, at[n-1]+next()), append(bytes, bytes[n-1]+64)
		if n >= MinRoundTrips && n%50 == 0 {
			if e = Ratio(at, bytes); e.Converged {
				break
			}
		}
	}
	return e
}

// TestCoverage checks that the true mean lies in the interval in about 95% of the runs that are called converged,
// whether neighbours correlate or not. Series that seldom converge count only in the sum: where the given time is too
// short, the runs that converge are those that look steady by chance.
func TestCoverage(t *testing.T) {
	for name, measure := range map[string]func(func() simcore.Ps) Estimate{"meter": byMeter, "ratio": byRatio} {
		all, inside := 0, 0
		for _, keep := range []float64{-0.9, 0, 0.9, 0.98, 0.99, 0.995} {
			for _, deviation := range []float64{0.002, 0.004, 0.01} {
				const runs = 100
				known, covers := 0, 0
				rng := rand.New(rand.NewPCG(1, uint64(1000*(1+keep))))
				for range runs {
					e := measure(series{keep, deviation}.start(rng))
					if !e.Converged {
						continue
					}
					known++
					if math.Abs(64/e.Rate-seriesMean) <= e.Relative()*seriesMean {
						covers++
					}
				}
				all, inside = all+known, inside+covers
				if known > runs*9/10 {
					require.GreaterOrEqual(t, covers, known*88/100, "%s: correlation %g, deviation %g: %d of %d", name,
						keep, deviation, covers, known)
				}
			}
		}
		t.Logf("%s: the mean lies in the interval in %.1f%% of %d runs", name, 100*float64(inside)/float64(all), all)
		require.InDelta(t, 0.95, float64(inside)/float64(all), 0.015, name)
	}
}
