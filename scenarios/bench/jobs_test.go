package bench

import (
	"testing"
	"time"

	"github.com/stretchr/testify/require"
)

// TestJobsAreCompared checks that running cases one or two at a time gives the same results, and that the number of
// busy processors is reported.
func TestJobsAreCompared(t *testing.T) {
	r, err := Run(t.Context(), tiny(t, "run/jobs_2"))
	require.NoError(t, err)
	require.Len(t, r.Results, 1)
	x := r.Results[0]
	require.Positive(t, x.Value)
	require.Equal(t, 1.7, x.Goal)
	require.Regexp(t,
		`1 cases over FlexiNS .* one at a time \([0-9.]+ s, which keeps [0-9.]+ processors busy\) and two`, x.Against)
}

func TestMachineTimeGoesOn(t *testing.T) {
	before := machineTime()
	require.Positive(t, before)
	for begin := time.Now(); time.Since(begin) < 50*time.Millisecond; {
	}
	require.Greater(t, machineTime(), before)
}
