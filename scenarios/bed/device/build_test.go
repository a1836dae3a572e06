package device

import (
	"testing"

	"github.com/stretchr/testify/require"

	"nictwin/models/nic/nicspec"
)

// TestSlotsWantWhatWasBuilt checks that an RTL device fits only a slot for the sizes and parts that it was built with;
// ports do not matter here.
func TestSlotsWantWhatWasBuilt(t *testing.T) {
	small := nicspec.DefaultBuild()
	small.NumRxq = 8
	whole, s := nicspec.DefaultBuild(), Spec{NIC: RTL}
	require.True(t, s.sameBuild(&whole))
	require.False(t, s.sameBuild(&small))
	s.Build = &small
	require.False(t, s.sameBuild(&whole))
	wide := small
	wide.Ports, wide.EthBits = 2, 256
	require.True(t, s.sameBuild(&wide), "ports are looked at by themselves")
}
