package traffic

import (
	"testing"

	"github.com/stretchr/testify/require"

	"nictwin/models/format/ether"
	"nictwin/models/sim/simcore"
)

// AtMost slows the paces `line` and `capture` down to the cable's rate, and refuses a given rate that the cable cannot
// carry.
func TestPaceAtMost(t *testing.T) {
	const period, bits, n = 909, 256, 1000
	for text, want := range map[string]simcore.Ps{
		"line": (n + ether.WireOverhead) * 40, "capture": (n + ether.WireOverhead) * 40,
		"100": (n + ether.WireOverhead) * 80,
	} {
		p, err := ParsePace(text, bits, period)
		require.NoError(t, err)
		p, err = p.AtMost(simcore.Gbps(200))
		require.NoError(t, err)
		require.Equal(t, want, p.time(n, 0, period), text)
	}
	for _, text := range []string{"250", "beats"} {
		p, err := ParsePace(text, bits, period)
		require.NoError(t, err)
		_, err = p.AtMost(simcore.Gbps(200))
		require.ErrorContains(t, err, "want at most 200, which the cable carries", text)
		_, err = p.AtMost(simcore.Rate{})
		require.NoError(t, err)
	}
	slow, err := ParsePace("line", bits, 2500)
	require.NoError(t, err)
	same, err := slow.AtMost(simcore.Gbps(200))
	require.NoError(t, err)
	require.Equal(t, slow, same, "the stream is slower")
}
