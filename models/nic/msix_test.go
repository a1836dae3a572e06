package nic

import (
	"testing"

	"github.com/stretchr/testify/require"

	"nictwin/models/format/tlp"
	"nictwin/models/nic/boundary"
	"nictwin/models/nic/nicspec"
	"nictwin/models/nic/nictest"
	"nictwin/models/sim/simcore"
)

// TestMessagesLeave: one message may report several entries. The timer runs while the device has no
// other work, and the device is busy until the message has left [M5].
func TestMessagesLeave(t *testing.T) {
	o := defaultRig()
	o.spec.Parts = nicspec.PartMsix
	r := openedRx(t, o)
	var left, due []int64
	r.nic.Observe(func(x boundary.Crossing) {
		if x.Kind != boundary.TLPOut {
			return
		}
		switch h := tlp.Parse(&x.TLP.Hdr); {
		case h.Kind == tlp.MWr && h.Address == 0xfee0_0000:
			require.Equal(t, []byte{0x78, 0x56, 0x34, 0x12}, x.TLP.Data)
			left = append(left, x.Last)
		case h.Kind == tlp.MWr && h.Address >= nictest.RxCq(0):
			due = append(due, x.Last)
		}
	})
	r.host.OpenRx(0, 4, func(f *nicspec.RxqEntryFields) {
		f.MsixAddr, f.MsixData, f.ModCount, f.ModCycles = 0xfee0_0000, 0x1234_5678, 3, 100
	})
	for i := range 8 {
		r.host.Post(0, 0, 0x7000_0000+uint64(i)*0x4000)
	}
	r.host.RingRx(0)
	r.run()
	for i := range 4 {
		r.peers[0].send(nictest.Pattern(100, uint64(i)))
	}
	require.NoError(t, r.eng.RunUntil(r.eng.Now()+2*simcore.Microsecond))
	require.Len(t, due, 4)
	require.Len(t, left, 1)
	require.Greater(t, left[0], due[2])
	require.True(t, r.nic.Busy())
	r.idle()
	require.Len(t, left, 2)
	require.GreaterOrEqual(t, left[1], due[3]+6400)
	require.Less(t, left[1], due[3]+6410)
	require.EqualValues(t, 2, r.nic.Regs().Dev(nicspec.CntMsix))
}
