package msg

import (
	"testing"
	"unsafe"

	"github.com/stretchr/testify/require"

	"nictwin/models/format/tlp"
	"nictwin/models/sim/simcore"
)

func TestTLPPool(t *testing.T) {
	var pool TLPs
	p := pool.Get()
	copy(p.Own(8), "leftover")
	p.Hdr[0], p.Seq, p.Depart, p.TrafficBytes = 1, 2, 3, 4
	pool.Put(p)
	require.Zero(t, pool.Live())
	require.Panics(t, func() { pool.Put(p) })
	q := pool.Get()
	require.Same(t, p, q)
	require.Nil(t, q.Data)
	require.Equal(t, []any{byte(0), uint64(0), 0}, []any{q.Hdr[0], q.Seq, q.TrafficBytes})
	require.Zero(t, q.Depart)
	require.Equal(t, 1, pool.Live())
	data := make([]byte, 100)
	pool.Put(q)
	require.Zero(t, testing.AllocsPerRun(100, func() {
		p := pool.Get()
		if p.SetMemWrite(tlp.Origin{}, 0x1001, data) != nil {
			t.Error("SetMemWrite failed")
		}
		pool.Put(p)
	}))
}

func TestTLPBytes(t *testing.T) {
	p := new(TLP)
	require.NoError(t, p.SetMemWrite(tlp.Origin{}, 0x1000, make([]byte, 64)))
	require.Equal(t, 12+64, p.Bytes())
}

// TestTLPLines: a TLP takes four cache lines, and so a size class of the Go allocator that is aligned to lines.
func TestTLPLines(t *testing.T) {
	const line = 64
	require.LessOrEqual(t, unsafe.Sizeof(TLP{}), uintptr(4*line))
}

type told int

func (n *told) Consumed(back simcore.Ps) { *n += told(back) }

// TestSenderIsTold: the Sender of a TLP is notified once, when the TLP is returned to its pool,
// with the latency of the notice.
func TestSenderIsTold(t *testing.T) {
	var pool TLPs
	var n told
	p := pool.Get()
	p.Sender, p.Back = &n, 1
	require.Zero(t, n)
	pool.Put(p)
	require.EqualValues(t, 1, n)
	again := pool.Get()
	require.Zero(t, again.Back)
	pool.Put(again)
	require.EqualValues(t, 1, n)
}
