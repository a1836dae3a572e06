package replay

import (
	"testing"

	"github.com/stretchr/testify/require"

	"nictwin/models/format/wire"
	"nictwin/models/nic/nicspec"
	"nictwin/scenarios/traffic/capture"
	"nictwin/stack/driver"
)

// The requested offloads restore the frames of a live capture, whatever their checksum fields contained before.
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
		bad[len(bad)-1] ^= 0xff // makes the ICRC wrong
		udp := l3 + 20
		if bad[l3]>>4 == 6 {
			udp = l3 + 40
		} else {
			bad[l3+10] ^= 0xff
		}
		bad[udp+6] ^= 0xff
		var o driver.Offloads
		tx := &transmit{fix: Recompute{Checksums: true, ICRC: true}}
		require.Equal(t, want, tx.offload(&o, bad))
		require.True(t, o.ICRC && o.UDPChecksum)
		require.Equal(t, bad[l3]>>4 == 4, o.IPv4Checksum)
		require.EqualValues(t, l3, o.L3)
		require.EqualValues(t, udp, o.L4)
	}
	require.Positive(t, roce)
}
