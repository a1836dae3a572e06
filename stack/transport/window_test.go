package transport

import (
	"testing"

	"github.com/stretchr/testify/require"

	"nictwin/models/format/wire"
	"nictwin/stack/verbs"
)

// TestWindowCodes checks that the code of a window never stands for more packets than the window has, is exact for
// small windows, and stands for at most an eighth less for large ones.
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

// widen makes the peer advertise a window of n packets after PSN psn.
func (b *bare) widen(psn uint32, n int) { b.c.Input(0, ackWith(psn, codeOf(n))) }

// bareOf returns a connection whose caller has buffers for `share` received packets.
func bareOf(t *testing.T, share int, r Recovery, change func(*Attr)) *bare {
	b := newBare(t, r, nil)
	b.share = share
	require.NoError(t, b.c.Modify(0, verbs.QPSReset, nil))
	b.connect(change)
	return b
}

// TestShrunkShare checks that a requester whose share shrinks below what is in flight does not wait for an answer that
// it has not requested: it sends one packet more, which requests one.
func TestShrunkShare(t *testing.T) {
	for _, r := range []Recovery{GoBackN, SelectiveRepeat} {
		b := bareOf(t, 224, r, nil)
		b.post(verbs.WRWrite, 1)
		_, psns := b.pull(0)
		require.Equal(t, []uint32{1000}, psns)
		b.widen(1000, 224)
		b.post(verbs.WRWrite, 256*64)
		var o Out
		for i := range 15 {
			require.True(t, b.c.Next(0, &o))
			require.EqualValues(t, 1001+i, o.PSN)
			require.False(t, askedBy(&o))
		}
		b.share = 3
		require.True(t, b.c.Next(0, &o))
		require.True(t, askedBy(&o))
		require.False(t, b.c.Next(0, &o), "an answer will come")
		b.widen(1015, 224)
		_, psns = b.pull(0)
		require.Equal(t, []uint32{1017, 1018}, psns)
		b.widen(1016, 224)
		_, psns = b.pull(0)
		require.Equal(t, []uint32{1019}, psns)
	}
}

// TestLateWindow checks that a requester which learns of a window when more is in flight, and has not requested an
// answer, sends one packet more to request one.
func TestLateWindow(t *testing.T) {
	b := bareOf(t, 0, GoBackN, nil)
	b.post(verbs.WRWrite, 1)
	b.post(verbs.WRWrite, 256*64)
	var o Out
	for range 11 {
		require.True(t, b.c.Next(0, &o))
	}
	require.False(t, askedBy(&o))
	b.widen(1000, 2)
	require.True(t, b.c.Next(0, &o))
	require.EqualValues(t, 1011, o.PSN)
	require.True(t, askedBy(&o))
	require.False(t, b.c.Next(0, &o))
}

// askedBy reports whether a packet requests an acknowledgement.
func askedBy(o *Out) bool { return wire.BTH(o.Head[ipSize(o.Head)+udpSize:]).AckReq() }

// TestHeldAnswers checks that a requester asks for no more answers than it has room for, besides those that are being
// copied, and that the length of a READ's pieces follows this end's share of the buffers.
func TestHeldAnswers(t *testing.T) {
	for _, r := range []Recovery{GoBackN, SelectiveRepeat} {
		b := bareOf(t, 16, r, nil)
		var o Out
		piece := func(psn uint32, packets int) {
			t.Helper()
			require.True(t, b.c.Next(0, &o))
			require.Equal(t, wire.RCReadRequest, o.Opcode)
			require.Equal(t, psn, o.PSN)
			h := wire.RETH(o.Head[ipSize(o.Head)+udpSize+wire.BTHSize:]).Fields()
			require.EqualValues(t, packets*256, h.DMALen)
			require.EqualValues(t, (psn-1000)*256, h.VA)
			require.False(t, b.c.Next(0, &o))
		}
		answer := func(psn uint32, n int) {
			for i := range n {
				op := wire.RCReadRespMid
				if i == n-1 {
					op = wire.RCReadRespLast
				}
				p := Packet{BTH: wire.BTHFields{Opcode: op, PKey: 0xffff, PSN: psn + uint32(i), Resv7: codeOf(16)},
					AETH: wire.AETHFields{Syndrome: wire.ACKNoCredits}, Payload: 256}
				b.landing++
				b.c.Input(0, &p)
			}
		}
		b.post(verbs.WRRead, 256*100)
		piece(1000, 16)
		answer(1000, 16)
		require.False(t, b.c.Next(0, &o), "all buffers hold answers")
		b.landing = 13
		require.False(t, b.c.Next(0, &o), "room for less than a half")
		b.landing = 4
		piece(1016, 12)
		b.landing, b.share = 0, 8 // while the piece is in flight
		answer(1016, 12)
		b.landing = 0
		piece(1028, 8)
		at := b.c.Deadline()
		b.c.Expire(at)
		require.True(t, b.c.Next(at, &o))
		require.EqualValues(t, 1028, o.PSN, "a piece that is resent")
		h := wire.RETH(o.Head[ipSize(o.Head)+udpSize+wire.BTHSize:]).Fields()
		require.EqualValues(t, 8*256, h.DMALen)
		require.False(t, b.c.Next(at, &o))
		answer(1028, 8)
		b.landing, b.share = 0, 64
		piece(1036, 64)
		require.Empty(t, b.wcs)
		answer(1036, 64)
		for len(b.tokens) > 0 {
			b.c.Placed(0, b.tokens[0], verbs.WCSuccess)
			b.tokens = b.tokens[1:]
		}
		require.Len(t, b.wcs, 1)
		require.Equal(t, verbs.WCSuccess, b.wcs[0].Status)
	}
}

// TestHeldAnswersAlone checks that WRITEs, too, wait while buffers that hold answers leave no room, and are sent once
// there is room.
func TestHeldAnswersAlone(t *testing.T) {
	b := bareOf(t, 4, GoBackN, nil)
	b.landing = 3
	for range 3 {
		b.post(verbs.WRWrite, 1)
	}
	_, psns := b.pull(0)
	require.Equal(t, []uint32{1000}, psns)
	b.landing = 2
	_, psns = b.pull(0)
	require.Equal(t, []uint32{1001}, psns)
}

// TestPersist checks that a requester probes a closed window even if it has no timeout.
func TestPersist(t *testing.T) {
	b := bareOf(t, 4, GoBackN, func(a *Attr) { a.Timeout = 0 })
	for range 5 {
		b.post(verbs.WRWrite, 1)
	}
	_, psns := b.pull(0)
	require.Equal(t, []uint32{1000, 1001, 1002, 1003}, psns)
	require.Equal(t, Never, b.c.Deadline(), "no timeout")
	b.widen(1003, 0)
	_, psns = b.pull(0)
	require.Empty(t, psns, "the peer has no room")
	at := b.c.Deadline()
	require.NotEqual(t, Never, at)
	b.c.Expire(at)
	_, psns = b.pull(at)
	require.Equal(t, []uint32{1004}, psns, "a probe")
	require.Equal(t, Never, b.c.Deadline())
}
