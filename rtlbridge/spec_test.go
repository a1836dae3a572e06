package rtlbridge

import (
	"testing"

	"github.com/stretchr/testify/require"

	"nictwin/models/sim/simcore"
	"nictwin/rtlbridge/protocol"
)

// TestPeriods checks that every valid clock period passes the bridge unchanged.
func TestPeriods(t *testing.T) {
	require.EqualValues(t, simcore.MinPeriod, protocol.MinPeriodPs)
	require.EqualValues(t, simcore.MaxPeriod, protocol.MaxPeriodPs)
	require.NoError(t, ValidPeriod(simcore.MinPeriod))
	require.EqualError(t, ValidPeriod(simcore.MaxPeriod+1), "clock period of 1000000001 ps: needs 2 to 1000000000")
}

// TestLinksShorterThanACycle checks that links shorter than a cycle are reported as such, not as a fault of
// the quantum, which was not set.
func TestLinksShorterThanACycle(t *testing.T) {
	_, err := CompSpec{InLatency: 2000, OutLatency: 2499}.resolve(2500)
	require.EqualError(t, err, "links of 2000 ps into and 2499 ps out of the device: want at least a cycle of its "+
		"clock, which is 2500 ps (period_ps)")
	s, err := CompSpec{InLatency: 2500, OutLatency: 2500}.resolve(2500)
	require.NoError(t, err)
	require.EqualValues(t, 1, s.Quantum)
}
