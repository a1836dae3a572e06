package driver

import (
	"testing"

	"github.com/stretchr/testify/require"

	"nictwin/models/dma"
	"nictwin/models/nic"
	"nictwin/models/nicspec"
	"nictwin/models/tlp"
)

func TestCopyInvalidateAndPush(t *testing.T) {
	spec := nic.DefaultSpec()
	spec.Parts |= nicspec.PartCopy | nicspec.PartPush
	d := newBench(t, spec)
	const size = 1 << 16
	src, dst := d.Alloc(nicspec.EndpointArm, size, 64), d.Alloc(nicspec.EndpointHost, size, 64)
	from := Span{Key: d.NewKeyFor(1, 7, 0x1000, src, size, dma.Access{Read: true, Write: true})}
	to := Span{Key: d.NewKeyFor(2, 9, 0, dst, size, dma.Access{Write: true}), Off: 100}
	var ends []uint32
	q, err := d.NewTxQueue(TxConfig{Queue: 3, LogSize: 3, OnEnd: func(_ *TxQueue, cqe nicspec.TxCqe) {
		require.Equal(t, nicspec.StatusOk, cqe.Status())
		ends = append(ends, cqe.WqeId())
	}})
	require.NoError(t, err)
	var lines []uint32
	d.root.OnMessage = func(_ *tlp.Header, b []byte) { lines = append(lines, nicspec.InvalidateMsg(b).Lines()) }
	data := make([]byte, size)
	for i := range data {
		data[i] = byte(i * 7)
	}
	require.NoError(t, d.mem.Write(src, data))
	d.WriteReg(nicspec.RegCtrl, 3)
	d.Then(func() {
		require.NoError(t, q.Copy(Order{ID: 1, Complete: true}, to, from, 5000))
		require.NoError(t, q.CopyInvalidate(Order{ID: 2}, Span{to.Key, 20000}, Span{from.Key, 6400}, 12800))
		require.NoError(t, q.Invalidate(Order{ID: 3, Complete: true}, from, 640))
		wqe := make([]byte, nicspec.WqeBytes)
		(&nicspec.WqeFields{WqeId: 4, FComplete: true}).Encode(wqe)
		require.NoError(t, q.Push(wqe))
		require.Error(t, q.Push(wqe[:60]))
	})
	d.run(t)
	require.NoError(t, d.Err())
	require.Equal(t, []uint32{1, 3, 4}, ends)
	require.Equal(t, []uint32{200, 10}, lines)
	got := make([]byte, 12800)
	require.NoError(t, d.mem.Read(dst+100, got[:5000]))
	require.Equal(t, data[:5000], got[:5000])
	require.NoError(t, d.mem.Read(dst+20000, got))
	require.Equal(t, data[6400:6400+12800], got)
	require.Equal(t, 8, q.Room())
}
