package pace_test

import (
	"testing"

	"github.com/stretchr/testify/require"

	"nictwin/models/sim/pace"
	"nictwin/models/sim/simcore"
)

// TestTake: at seven bytes in two picoseconds, seven transfers of three bytes take six picoseconds.
// Idle time is not saved up for later transfers.
func TestTake(t *testing.T) {
	p := pace.Pacer{Rate: simcore.Rate{Bytes: 7, Ps: 2}}
	var end simcore.Ps
	for range 7 {
		end = p.Take(100, 3)
	}
	require.EqualValues(t, 106, end)
	require.EqualValues(t, 202, p.Take(200, 7))
	require.EqualValues(t, 5, new(pace.Pacer).Take(5, 1<<20))
	require.NoError(t, pace.Check("rate", simcore.Rate{}))
	require.ErrorContains(t, pace.Check("rate", simcore.Rate{Bytes: 1}), "rate 1 bytes in 0 ps: want")
}
