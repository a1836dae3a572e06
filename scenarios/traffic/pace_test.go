package traffic

import (
	"testing"

	"github.com/stretchr/testify/require"

	"nictwin/models/board"
	"nictwin/models/sim/simcore"
)

// With every pace that ParsePace accepts, a frame takes at least the time that it needs on the stream and on Ethernet.
func FuzzParsePace(f *testing.F) {
	for _, s := range []string{"line", "capture", "beats", "0.001", "204.8", "1e-3", "0x1p3", "-1", "NaN", "Inf", ""} {
		f.Add(s, 1, uint8(30))
	}
	f.Fuzz(func(t *testing.T, s string, size int, stall uint8) {
		p, err := ParsePace(s, 0, 0)
		if err != nil {
			require.ErrorContains(t, err, "want line, capture, or Gbps from 0.001 to 204.8")
			return
		}
		const period = simcore.DefaultPeriodPs
		n, percent := 1+int(uint(size)%9216), int(stall)%(board.MaxStall+1)
		beats := simcore.Ps((n + 63) / 64)
		require.GreaterOrEqual(t, p.stream(n, percent, period), beats*period)
		least := simcore.Ps(n+24) * period / 64
		if s == "beats" {
			least = beats * period
		}
		require.GreaterOrEqual(t, p.time(n, percent, period), least)
	})
}
