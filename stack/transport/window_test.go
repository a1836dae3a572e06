package transport

import (
	"testing"

	"github.com/stretchr/testify/require"

	"nictwin/models/format/wire"
	"nictwin/stack/verbs"
)

// TestWindowCodes checks that a code never promises more than there is, is exact for small windows, and loses at most
// an eighth of others.
func TestWindowCodes(t *testing.T) {
	require.EqualValues(t, 1, codeOf(-3))
	most := windowOf(127)
	for n := range int(most) + 100 {
		code := codeOf(n)
		require.True(t, code >= 1 && code <= 127)
		got := int(windowOf(code))
		require.LessOrEqual(t, got, n)
		if n <= 16 {
			require.Equal(t, n, got)
		} else if n <= int(most) {
			require.Greater(t, 9*got, 8*n-9, n)
		}
	}
	for code := uint8(1); code < 127; code++ {
		require.Less(t, windowOf(code), windowOf(code+1))
		require.Equal(t, code, codeOf(int(windowOf(code))))
	}
}

// ackWith returns an ACK with a window code.
func ackWith(psn uint32, code uint8) *Packet {
	return &Packet{BTH: wire.BTHFields{Opcode: wire.RCAck, PKey: 0xffff, PSN: psn, Resv7: code},
		AETH: wire.AETHFields{Syndrome: wire.ACKNoCredits}}
}

// TestWindow checks that a requester sends what the peer advertises, that a window does not shrink, that an unasked
// acknowledgement widens it, and that after the timeout one packet is sent as a probe.
func TestWindow(t *testing.T) {
	b := newBare(t, GoBackN, nil)
	b.share = 100
	require.NoError(t, b.c.Modify(0, verbs.QPSReset, nil))
	b.connect(nil)
	for range 20 {
		b.post(verbs.WRWrite, 1)
	}
	_, psns := b.pull(0)
	require.Equal(t, []uint32{1000, 1001, 1002, 1003}, psns, "the first window")
	b.c.Input(0, ackWith(1001, codeOf(5)))
	_, psns = b.pull(0)
	require.Equal(t, []uint32{1004, 1005, 1006}, psns)
	b.c.Input(0, ackWith(1002, codeOf(1)))
	_, psns = b.pull(0)
	require.Empty(t, psns, "1003 is the limit of this ACK, 1006 that of the earlier one")
	b.c.Input(0, ackWith(1006, codeOf(0)))
	_, psns = b.pull(0)
	require.Empty(t, psns, "the peer has no room")
	at := b.c.Deadline()
	require.NotEqual(t, Never, at)
	b.c.Expire(at)
	_, psns = b.pull(at)
	require.Equal(t, []uint32{1007}, psns, "a probe")
	require.Zero(t, b.c.Stats().Timeouts)
	b.c.Input(at, ackWith(1007, codeOf(0)))
	_, psns = b.pull(at)
	require.Empty(t, psns)
	b.c.Input(at, ackWith(1007, codeOf(2)))
	_, psns = b.pull(at)
	require.Equal(t, []uint32{1008, 1009}, psns, "an acknowledgement of nothing new announces room")
	b.c.Input(at, ackWith(1008, 0))
	_, psns = b.pull(at)
	require.Len(t, psns, 10, "the peer advertises no window")
}

// TestAdvertisedWindow checks that a responder advertises the buffers that are free, and acknowledges unasked when they
// become free again while the peer may be waiting.
func TestAdvertisedWindow(t *testing.T) {
	b := newBare(t, GoBackN, nil)
	b.share = 8
	var o Out
	advertised := func() (psn, window uint32) {
		require.True(t, b.c.Next(0, &o))
		h := wire.BTH(o.Head[len(o.Head)-wire.AETHSize-wire.BTHSize:])
		require.Equal(t, wire.RCAck, h.Opcode())
		require.False(t, h.AckReq())
		return h.PSN(), windowOf(h.Fields().Resv7)
	}
	write := func(psn uint32, ask bool) {
		b.c.Input(0, &Packet{BTH: wire.BTHFields{Opcode: wire.RCWriteOnly, PKey: 0xffff, PSN: psn, AckReq: ask},
			RETH: wire.RETHFields{DMALen: 1}, Payload: 1})
	}
	b.holding = 6 // buffers with earlier packets
	write(2000, true)
	psn, window := advertised()
	require.EqualValues(t, 2000, psn)
	require.EqualValues(t, 2, window)
	write(2001, false)
	write(2002, false)
	b.holding = 8
	require.False(t, b.c.Next(0, &o), "no room to tell of")
	b.holding = 7
	require.False(t, b.c.Next(0, &o), "a step of a quarter of the share is not reached")
	b.holding = 3
	psn, window = advertised()
	require.EqualValues(t, 2002, psn)
	require.EqualValues(t, 5, window)
	require.False(t, b.c.Next(0, &o))
}

// checkFlight counts a request that is sent, and checks that the peer can hold it.
func (e *end) checkFlight(op wire.Opcode) {
	if !isRequest(op) {
		return
	}
	e.flying++
	if e.bounded() && e.flying > e.share && len(e.faults) == 0 && e.conn.Stats().Resent == 0 {
		e.failf("side %d: %d requests in flight, and the peer can hold %d", e.side, e.flying, e.share)
	}
}

// bounded reports whether both ends bound what is in flight by the share.
func (e *end) bounded() bool {
	for _, x := range e.ends {
		if _, ours := x.conn.(*rc); !ours {
			return false
		}
	}
	return e.share > 0
}

// isRequest reports whether a packet is a request, or a part of one.
func isRequest(op wire.Opcode) bool {
	switch op.Info().Operation {
	case wire.OpSend, wire.OpWrite, wire.OpReadRequest, wire.OpCmpSwap, wire.OpFetchAdd:
		return op.Info().Transport == wire.TransportRC
	}
	return false
}

// free returns a packet's buffer.
func (e *end) free(p *held) {
	e.holding--
	if p.request {
		e.ends[1-e.side].flying--
	}
}

func (e *end) Buffers() (share, free int) { return e.share, e.share - e.holding }

func (e *end) Drop(h Handle) {
	p := e.dispose(h)
	p.payload = nil
	e.free(p)
}
