package nic

import (
	"encoding/binary"
	"testing"

	"github.com/stretchr/testify/require"

	"nictwin/models/format/wire"
	"nictwin/models/nic/nicspec"
	"nictwin/models/nic/nictest"
)

func TestSendWithParts(t *testing.T) {
	o := defaultRig()
	o.spec.Parts = nicspec.PartCrc32c | nicspec.PartEcn
	r := openedTx(t, o)
	h := r.host
	h.OpenTx(1, 4, func(f *nicspec.TxqEntryFields) { f.EcnMode = 3 })
	frame := nictest.IPFrame(300, 14, false, 1)
	h.Write(testBus, frame)
	h.PostWqe(1, nictest.Wqe(1, nil, []nictest.Piece{{Key: testKey, Addr: 0, N: 300}}, func(w nicspec.Wqe) {
		w.SetL3Off(14)
		w.SetFCrc32c(true)
		w.SetCrcStart(40)
		w.SetCrcOff(296)
	}))
	h.RingTx(1)
	r.idle()
	require.Len(t, r.peers[0].got, 1)
	got := r.peers[0].got[0].data
	require.Equal(t, uint8(3), got[15])
	require.Equal(t, wire.CRC32C(frame[40:296]), binary.LittleEndian.Uint32(got[296:]))
}
