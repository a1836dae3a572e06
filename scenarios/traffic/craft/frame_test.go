package craft

import (
	"testing"

	"github.com/stretchr/testify/require"

	"nictwin/models/nic/core"
	"nictwin/models/nic/nicspec"
)

// A frame with all fields at zero passes the NIC's own checks; each field that is set wrong fails them.
func TestRightAndWrong(t *testing.T) {
	for _, l3 := range []int{4, 6} {
		for tags := range 3 {
			f := Frame{L3: l3, Proto: ProtoUDP, DPort: nicspec.ResetRocePort, Roce: true, Op: 4, UDPSum: SumRight,
				Payload: 40}
			for range tags {
				f.Tags = append(f.Tags, TpidC<<16|5)
			}
			verdicts(t, &f, nicspec.VerdictOk)
			f.ICRCBad, f.UDPSum, f.IPBad = true, SumWrong, true
			verdicts(t, &f, nicspec.VerdictBad)
		}
	}
}

// A UDP checksum that computes to zero is sent as 0xffff, and is correct.
func TestSumOnes(t *testing.T) {
	for seed := range uint64(50) {
		f := Frame{L3: 4 + 2*int(seed%2), Proto: ProtoUDP, DPort: nicspec.ResetRocePort, UDPSum: SumOnes,
			Payload: 20 + int(seed), Seed: seed}
		f.Roce = seed%3 > 0
		var h core.Headers
		b := f.Build()
		core.Parse(b, nicspec.ResetRocePort, &h)
		require.Equal(t, []byte{0xff, 0xff}, b[h.L4Off+6:h.L4Off+8], "seed %d", seed)
		require.Equal(t, nicspec.VerdictOk, core.CheckL4Csum(b, &h))
		if f.Roce {
			require.Equal(t, nicspec.VerdictOk, core.CheckICRC(b, &h))
		}
	}
}

func verdicts(t *testing.T, f *Frame, want nicspec.Verdict) {
	t.Helper()
	var h core.Headers
	b := f.Build()
	core.Parse(b, nicspec.ResetRocePort, &h)
	require.True(t, h.Roce)
	require.EqualValues(t, f.L3Off(), h.L3Off)
	require.EqualValues(t, f.L3Off()+f.L3Len(), h.L4Off)
	require.Equal(t, want, core.CheckL4Csum(b, &h))
	require.Equal(t, want, core.CheckICRC(b, &h))
	if f.L3 == 4 {
		require.Equal(t, want, core.CheckIPCsum(b, &h))
	}
}
