package core

import (
	"testing"
	"unsafe"

	"github.com/stretchr/testify/require"

	"nictwin/models/format/wire"
	"nictwin/models/rnic/rnicspec"
)

// A queue pair must stay small, since many of them share the caches of the simulating machine. The
// saved results of atomics, which would be most of its bytes, must be allocated with the first
// atomic.
func TestQueuePairIsSmall(t *testing.T) {
	require.LessOrEqual(t, unsafe.Sizeof(QP{}), uintptr(448))
	q := NewDevice().Add(1, rnicspec.RC)
	q.Connect(rnicspec.RTS, Attributes{PMTU: 1024, MaxRead: 1, RecvPSN: 5, Access: rnicspec.AllAccess})
	var e Effects
	p := Packet{BTHFields: wire.BTHFields{Opcode: wire.RCFetchAdd, PSN: 4}}
	q.Respond(&p, &e)
	require.Equal(t, DropSequence, e.Drop, "a duplicate of an atomic when there was none")
	require.Equal(t, NoReply, e.Reply.Kind)
	require.Nil(t, q.resp.saved)
	require.EqualValues(t, 3, q.Apply(&Reply{Kind: AtomicReply, Add: true, Swap: 1}, 2))
}
