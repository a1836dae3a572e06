package dram

import (
	"testing"

	"github.com/stretchr/testify/require"
)

// The beginnings of buffers of 2 KB are in all channels if these are hashed, and in one if they are not. Either way a
// run of pieces takes the channels equally often.
func TestChannelsOfBuffers(t *testing.T) {
	s := presets["host-ce"]
	require.True(t, s.Hash)
	const buffers, bufferBytes = 1024, 2048
	used := func(hash bool, stride int) map[int]int {
		s.Hash = hash
		n := map[int]int{}
		for i := range buffers {
			n[s.channel(uint64(i*stride/s.Interleave))]++
		}
		return n
	}
	require.Len(t, used(false, bufferBytes), 1)
	for _, stride := range []int{bufferBytes, s.Interleave} {
		n := used(true, stride)
		require.Len(t, n, s.Channels)
		for c := range n {
			require.Equal(t, buffers/s.Channels, n[c], "channel %d", c)
		}
	}
	s.Hash, s.Channels = true, 6
	require.ErrorContains(t, s.Validate(), "channels 6: want a power of two, or hash_channels: false")
}
