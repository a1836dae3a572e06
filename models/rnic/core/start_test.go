package core

import (
	"testing"

	"github.com/stretchr/testify/require"

	"nictwin/models/rnic/rnicspec"
)

// Start must set the attributes of the sending side, and keep the state that the receiving side has
// reached in RTR.
func TestStart(t *testing.T) {
	q := NewDevice().Add(1, rnicspec.RC)
	q.Connect(rnicspec.RTR, attributes(2, 0, 100, 256))
	q.resp.psn = 105
	a := Attributes{SendPSN: 1<<24 + 7, RecvPSN: 9, Access: rnicspec.RemoteRead, MinRNR: 5, MaxRead: 3, Retries: 1,
		RNRRetry: 2, Timeout: 77}
	q.Start(a)
	require.Equal(t, rnicspec.RTS, q.State)
	require.EqualValues(t, 105, q.ExpectedPSN())
	require.Equal(t, rnicspec.MaxRead, q.resp.most)
	require.Equal(t, rnicspec.RemoteRead, q.Access)
	require.EqualValues(t, 5, q.MinRNR)
	var e Effects
	q.Post(rnicspec.WQE{Opcode: rnicspec.Send}, &e)
	var o Outgoing
	require.True(t, q.Next(&o, &e))
	require.EqualValues(t, 7, o.PSN)
	require.Equal(t, []int64{3, 1, 2, 77}, []int64{int64(q.MaxRead), int64(q.req.retries), int64(q.req.rnr),
		q.Attributes.Timeout})
}
