package transport

import (
	"testing"

	"github.com/stretchr/testify/require"

	"nictwin/models/format/wire"
	"nictwin/stack/verbs"
)

// TestOrderedCompletions checks that a receive request completes before its copy has ended if the caller orders
// completions behind copies, and only then; that READs wait for the copy all the same; and that a copy that fails
// afterwards ends the connection.
func TestOrderedCompletions(t *testing.T) {
	for _, ordered := range []bool{false, true} {
		b := newBare(t, GoBackN, nil)
		b.ordered = ordered
		require.NoError(t, b.c.PostRecv(&Recv{ID: 7, Spans: []Span{{Len: 64}}}))
		b.c.Input(0, &Packet{BTH: wire.BTHFields{Opcode: wire.RCSendOnly, PKey: 0xffff, PSN: 2000}, Payload: 64})
		b.c.Input(0, &Packet{BTH: wire.BTHFields{Opcode: wire.RCReadRequest, PKey: 0xffff, PSN: 2001},
			RETH: wire.RETHFields{DMALen: 8}})
		require.Equal(t, ordered, len(b.wcs) == 1)
		var o Out
		require.False(t, b.c.Next(0, &o), "the READ waits for memory")
		if ordered {
			b.c.Placed(0, b.tokens[0], verbs.WCGeneralErr)
			require.Equal(t, []Event{EventQPFatal}, b.events)
			require.Equal(t, verbs.QPSErr, b.c.State())
		} else {
			b.c.Placed(0, b.tokens[0], verbs.WCSuccess)
			require.True(t, b.c.Next(0, &o))
		}
		require.Equal(t, []Completion{{ID: 7, Opcode: verbs.WCRecv, Recv: true, ByteLen: 64}}, b.wcs[:1])
	}
}
