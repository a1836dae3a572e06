package study

import (
	"math"
	"testing"

	"github.com/stretchr/testify/require"
)

// TestExtremes checks that runs count only if their ratio may be the largest, or the smallest, within its interval.
func TestExtremes(t *testing.T) {
	s := session(t, 1, &Experiment{})
	for run, relative := range map[string]float64{"a": 0.005, "b": 0.01, "loose": 0.08, "none": 1} {
		s.Outcome.Runs = append(s.Outcome.Runs, Run{Name: run, Relative: relative, Converged: relative <= Precision})
	}
	s.Outcome.Runs = append(s.Outcome.Runs, Run{Name: "few", Relative: 0.001})
	largest := Ratio{Rate{215, "a"}, Rate{100, "b"}} // 2.118 to 2.183
	for _, c := range []struct {
		other string
		value float64 // of a ratio whose denominator is known to 0.5%
		may   bool    // be the largest one
	}{
		{"loose", 1.40, false},
		{"loose", 1.94, false}, // up to 2.106
		{"loose", 1.96, true},  // up to 2.127
		{"loose", 2.14, true},
		{"a", 2.08, false},
		{"none", 0.01, true}, // unbounded
		{"few", 1.4, true},   // the interval of a few round trips says nothing
		{"missing", 1.4, true},
	} {
		other := Ratio{Rate{c.value, c.other}, Rate{1, "c"}}
		s.Outcome.Runs = append(s.Outcome.Runs, Run{Name: "c", Relative: 0.005, Converged: true})
		value, runs := s.Most(other, largest)
		require.InDelta(t, 2.15, value, 1e-9)
		want := []string{"a", "b"}
		if c.may {
			want = append(want, "c")
			if c.other != "a" {
				want = append(want, c.other)
			}
		}
		require.ElementsMatch(t, want, runs, "%s, %g", c.other, c.value)

		inverse := func(r Ratio) Ratio { return Ratio{Of: r.To, To: r.Of} }
		value, runs = s.Least(inverse(largest), inverse(other))
		require.InDelta(t, 1/2.15, value, 1e-9)
		require.ElementsMatch(t, want, runs, "least: %s, %g", c.other, c.value)
	}

	value, runs := s.Most(Ratio{Rate{3, "loose"}, Rate{1, "a"}}, largest)
	require.InDelta(t, 3, value, 1e-9)
	require.Equal(t, []string{"a", "loose"}, runs, "those of the largest itself, known or not")
	value, runs = s.Most(largest, Ratio{Rate{0, "loose"}, Rate{0, "c"}})
	require.True(t, math.IsNaN(value), "nothing was measured")
	require.Contains(t, runs, "loose")
	value, runs = s.Most()
	require.True(t, math.IsNaN(value))
	require.Empty(t, runs)
}
