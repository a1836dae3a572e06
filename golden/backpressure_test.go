package golden

import (
	"testing"

	"github.com/stretchr/testify/require"

	"nictwin/models/nic/boundary"
	"nictwin/models/nic/nicspec"
)

// Intervals that are invalid or out of order are a fault of the observer: the run ends as Infrastructure, without a
// verdict on the device.
func TestInvalidHeldIntervals(t *testing.T) {
	good := boundary.Held{Kind: boundary.TLPOut, First: 10, Last: 20}
	for _, bad := range []boundary.Held{
		{Kind: boundary.TLPOut, First: 30, Last: 29}, {Kind: boundary.TLPOut, First: 20, Last: 30},
		{Kind: boundary.TLPOut, First: 5, Last: 9},
		{Kind: boundary.FrameOut, Port: 1, First: 30, Last: 31}, {Kind: boundary.NumKinds, First: 30, Last: 31},
	} {
		r, err := New(DefaultConfig(nicspec.DefaultBuild()))
		require.NoError(t, err)
		r.Held(good)
		require.Empty(t, r.fault)
		r.Held(bad)
		require.Equal(t, Infrastructure, r.Finish().Result, "%v", bad)
	}
}
