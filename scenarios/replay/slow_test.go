package replay

import (
	"context"
	"errors"
	"testing"

	"github.com/stretchr/testify/require"

	"nictwin/models/board/boardtest"
	"nictwin/models/field"
	"nictwin/scenarios/device"
)

// A board may be as slow as it likes: that is no mismatch of the NIC. Where the NIC could not wait long enough for its reads, the part that
// is too slow is refused by its field.
func TestSlowBoards(t *testing.T) {
	runs := 40 * longer()
	refused := 0
	for seed := range uint64(runs) {
		c, err := boardtest.Card(seed)
		require.NoError(t, err)
		o := options(device.Model, shipped(t))
		o.Card, o.Ports, o.EthBits, o.PeriodPs, o.Limit, o.Seed = &c, c.Ports, c.EthBits, c.Period, 60, seed
		r, err := New(context.Background(), o)
		var wrong *field.Error
		if errors.As(err, &wrong) {
			refused++
			require.ErrorContains(t, err, "CPL_TIMEOUT", "seed %d", seed)
			continue
		}
		require.NoError(t, err, "seed %d", seed)
		res, err := r.Play()
		require.NoError(t, err, "seed %d: %+v", seed, c)
		require.True(t, res.Pass, "seed %d: %+v", seed, res.Findings)
		require.NoError(t, r.Close())
	}
	require.Less(t, refused, runs/2)
}
