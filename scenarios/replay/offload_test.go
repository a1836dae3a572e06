package replay

import (
	"testing"

	"github.com/stretchr/testify/require"

	"nictwin/models/nicspec"
	"nictwin/models/wire"
	"nictwin/scenarios/capture"
)

// What is asked for brings a live peer's frames back, whatever stood in the fields before.
func TestOffloadRestoresLiveFrames(t *testing.T) {
	f, err := capture.Read("../captures/softroce/ud_send6.pcap")
	require.NoError(t, err)
	roce := 0
	for _, p := range f.Packets {
		if wire.VerifyFrameICRC(p.Data).Verdict != wire.OK || len(p.Data) < nicspec.FrameMin {
			continue
		}
		roce++
		l3, _, err := wire.L3Offset(p.Data)
		require.NoError(t, err)
		want := append([]byte(nil), p.Data...)
		require.NoError(t, wire.SealFrame(want, true))
		bad := append([]byte(nil), want...)
		bad[len(bad)-1] ^= 0xff // ICRC
		udp := l3 + 20
		if bad[l3]>>4 == 6 {
			udp = l3 + 40
		} else {
			bad[l3+10] ^= 0xff
		}
		bad[udp+6] ^= 0xff
		w := nicspec.Wqe(make([]byte, nicspec.WqeBytes))
		tx := &transmit{fix: Recompute{Checksums: true, ICRC: true}}
		require.Equal(t, want, tx.offload(w, bad))
		require.True(t, w.FIcrc() && w.FUdpCsum())
		require.Equal(t, bad[l3]>>4 == 4, w.FIpCsum())
		require.EqualValues(t, l3, w.L3Off())
		require.EqualValues(t, udp, w.L4Off())
	}
	require.Positive(t, roce)
}
