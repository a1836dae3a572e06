package transport

import (
	"testing"

	"github.com/stretchr/testify/require"

	"nictwin/models/format/wire"
	"nictwin/stack/verbs"
)

// bare is one RC end whose peer is played by the test.
type bare struct {
	*testing.T
	nullEnv
	c   *rc
	wcs []Completion
	psn uint32

	events []Event
}

func (b *bare) Async(e Event) { b.events = append(b.events, e) }

func (b *bare) Complete(c *Completion) { b.wcs = append(b.wcs, *c) }

func newBare(t *testing.T, r Recovery, change func(*Attr)) *bare {
	b := &bare{T: t, psn: 1000}
	s := DefaultSpec(RC, 100)
	s.Recovery = r
	conn, err := New(s, b, nil, nil)
	require.NoError(t, err)
	b.c = conn.(*rc)
	b.connect(change)
	return b
}

// connect takes the connection from RESET to RTS.
func (b *bare) connect(change func(*Attr)) {
	a := DefaultAttr()
	a.Path, a.DestQP, a.SendPSN, a.RecvPSN, a.MTU = testPath(0), 101, b.psn, 2000, 256
	if change != nil {
		change(&a)
	}
	for _, to := range []verbs.State{verbs.QPSInit, verbs.QPSRTR, verbs.QPSRTS} {
		require.NoError(b, b.c.Modify(0, to, &a))
	}
}

func (b *bare) post(op verbs.Opcode, n uint32) {
	require.NoError(b,
		b.c.Post(0, &Send{ID: uint64(b.c.posted()), Op: op, Flags: verbs.SendSignaled, Spans: []Span{{Len: n}}}))
}

// pull returns opcodes and PSNs of the packets that leave.
func (b *bare) pull(now Ps) (ops []wire.Opcode, psns []uint32) {
	var o Out
	for b.c.Next(now, &o) {
		ops, psns = append(ops, o.Opcode), append(psns, o.PSN)
	}
	return ops, psns
}

func (b *bare) answer(now Ps, op wire.Opcode, psn uint32, s wire.Syndrome, payload int) {
	p := Packet{BTH: wire.BTHFields{Opcode: op, PKey: 0xffff, PSN: psn}, AETH: wire.AETHFields{Syndrome: s},
		Payload: payload}
	b.c.Input(now, &p)
}

// TestRNRWait checks that a requester waits after an RNR NAK for as long as it says, and gives up after rnr_retry NAKs.
func TestRNRWait(t *testing.T) {
	for _, r := range []Recovery{GoBackN, SelectiveRepeat} {
		b := newBare(t, r, func(a *Attr) { a.RNRRetry = 2 })
		b.post(verbs.WRSend, 10)
		now := Ps(0)
		for range 2 {
			_, psns := b.pull(now)
			require.Equal(t, []uint32{1000}, psns)
			b.answer(now, wire.RCAck, 1000, wire.RNRSyndrome(8), 0)
			until := now + 160*us
			b.c.Expire(until - 1)
			_, psns = b.pull(until - 1)
			require.Empty(t, psns)
			require.Equal(t, until, b.c.Deadline())
			b.c.Expire(until)
			now = until
		}
		_, psns := b.pull(now)
		require.Equal(t, []uint32{1000}, psns)
		b.answer(now, wire.RCAck, 1000, wire.RNRSyndrome(8), 0)
		require.Len(t, b.wcs, 1)
		require.Equal(t, verbs.WCRNRRetryExcErr, b.wcs[0].Status)
		require.Equal(t, verbs.QPSErr, b.c.State())
	}
}

// TestRetries checks that without an answer a packet is retransmitted retry_cnt times, each after the timeout.
func TestRetries(t *testing.T) {
	for _, r := range []Recovery{GoBackN, SelectiveRepeat} {
		b := newBare(t, r, func(a *Attr) { a.RetryCount, a.Timeout = 3, 8 })
		b.post(verbs.WRWrite, 10)
		b.post(verbs.WRWrite, 10)
		_, psns := b.pull(0)
		require.Equal(t, []uint32{1000, 1001}, psns)
		now := Ps(0)
		for i := range 4 {
			require.Equal(t, now+4_096_000<<8, b.c.Deadline())
			now = b.c.Deadline()
			b.c.Expire(now)
			_, psns = b.pull(now)
			require.Equal(t, i < 3, len(psns) > 0)
		}
		require.Equal(t, []verbs.Status{verbs.WCRetryExcErr, verbs.WCFlushErr},
			[]verbs.Status{b.wcs[0].Status, b.wcs[1].Status})
	}
}

// TestImpliedNAK checks that an acknowledgement of a request behind a READ, which implies that the READ's answer was
// lost, makes the requester request it again at once, but only once.
func TestImpliedNAK(t *testing.T) {
	for _, r := range []Recovery{GoBackN, SelectiveRepeat} {
		b := newBare(t, r, nil)
		b.post(verbs.WRRead, 600)
		for range 5 {
			b.post(verbs.WRWrite, 10)
		}
		_, psns := b.pull(0)
		require.Equal(t, []uint32{1000, 1003, 1004, 1005, 1006, 1007}, psns)
		b.answer(0, wire.RCReadRespFirst, 1000, wire.ACKNoCredits, 256)
		b.answer(0, wire.RCAck, 1007, wire.ACKNoCredits, 0)
		ops, psns := b.pull(0)
		require.Equal(t, wire.RCReadRequest, ops[0])
		require.EqualValues(t, 1001, psns[0])
		b.answer(0, wire.RCAck, 1007, wire.ACKNoCredits, 0)
		_, psns = b.pull(0)
		require.Empty(t, psns, "it was asked for already")
	}
}

// TestOneNAKForAGap checks that a responder sends one NAK for a gap, and another one for the next gap.
func TestOneNAKForAGap(t *testing.T) {
	b := newBare(t, GoBackN, nil)
	request := func(psn uint32) []wire.Opcode {
		b.c.Input(0, &Packet{BTH: wire.BTHFields{Opcode: wire.RCWriteOnly, PKey: 0xffff, PSN: psn, AckReq: true}})
		ops, _ := b.pull(0)
		return ops
	}
	require.Len(t, request(2001), 1)
	require.Empty(t, request(2002))
	require.Len(t, request(2000), 1)
	require.Len(t, request(2002), 1)
	require.EqualValues(t, 2, b.c.Stats().SequenceNAKs)
}

// TestSilentDrops checks that a connection silently drops packets with bad header fields, of other services, and with
// PSNs that were never sent.
func TestSilentDrops(t *testing.T) {
	b := newBare(t, GoBackN, nil)
	for _, h := range []wire.BTHFields{
		{Opcode: wire.RCWriteOnly, PKey: 0xffff, PSN: 2000, TVer: 1},
		{Opcode: wire.RCWriteOnly, PKey: 0x1234, PSN: 2000},
		{Opcode: wire.UCWriteOnly, PKey: 0xffff, PSN: 2000}, {Opcode: wire.UDSendOnly, PKey: 0xffff, PSN: 2000},
		{Opcode: OpSelectiveAck, PKey: 0xffff, PSN: 1000}, {Opcode: 0xff, PKey: 0xffff},
		{Opcode: wire.RCAck, PKey: 0xffff, PSN: 1000},
	} {
		b.c.Input(0, &Packet{BTH: h})
		ops, _ := b.pull(0)
		require.Empty(t, ops)
		require.Equal(t, verbs.QPSRTS, b.c.State())
	}
	require.EqualValues(t, 7, b.c.Stats().Ignored)
}

// TestCredits checks that beyond the end-to-end credits only one message at a time is sent, as a probe.
func TestCredits(t *testing.T) {
	b := newBare(t, GoBackN, nil)
	b.c.spec.Credits = true
	b.post(verbs.WRSend, 1)
	b.pull(0)
	p := Packet{BTH: wire.BTHFields{Opcode: wire.RCAck, PKey: 0xffff, PSN: 1000},
		AETH: wire.AETHFields{Syndrome: 2, MSN: 1}}
	b.c.Input(0, &p) // an ACK with credits for two more messages
	for range 5 {
		b.post(verbs.WRSend, 1)
	}
	_, psns := b.pull(0)
	require.Equal(t, []uint32{1001, 1002}, psns)
	p = Packet{BTH: wire.BTHFields{Opcode: wire.RCAck, PKey: 0xffff, PSN: 1002},
		AETH: wire.AETHFields{Syndrome: 0, MSN: 3}}
	b.c.Input(0, &p)
	_, psns = b.pull(0)
	require.Equal(t, []uint32{1003}, psns, "to find out")
}

// TestFailedCopies checks that a failed copy fails its request and the connection, and that the peer of a failed WRITE
// or SEND is notified.
func TestFailedCopies(t *testing.T) {
	b := newBare(t, GoBackN, nil)
	b.post(verbs.WRRead, 10)
	b.pull(0)
	b.answer(0, wire.RCReadRespOnly, 1000, wire.ACKNoCredits, 10)
	b.c.Placed(0, b.tokens[0], verbs.WCLocProtErr)
	require.Equal(t, verbs.WCLocProtErr, b.wcs[0].Status)
	require.Equal(t, verbs.QPSErr, b.c.State())

	b = newBare(t, GoBackN, nil)
	require.NoError(t, b.c.PostRecv(&Recv{ID: 7, Spans: []Span{{Len: 64}}}))
	b.c.Input(0, &Packet{BTH: wire.BTHFields{Opcode: wire.RCSendOnly, PKey: 0xffff, PSN: 2000}, Payload: 4})
	b.c.Placed(0, b.tokens[0], verbs.WCLocProtErr)
	require.Equal(t, verbs.WCLocProtErr, b.wcs[0].Status)
	var o Out
	require.True(t, b.c.Next(0, &o))
	require.Equal(t, wire.NAKRemoteOperational, wire.AETH(o.Head[len(o.Head)-wire.AETHSize:]).Syndrome())
}

// TestRefusedPosts checks that invalid requests are refused with an error that says why.
func TestRefusedPosts(t *testing.T) {
	b := newBare(t, GoBackN, nil)
	many := make([]Span, 17)
	for want, x := range map[error]Send{
		ErrSpans:  {Op: verbs.WRWrite, Spans: many},
		ErrInline: {Op: verbs.WRRead, Flags: verbs.SendInline, Inline: []byte{1}},
		ErrLength: {Op: verbs.WRFetchAdd, Spans: []Span{{Len: 4}}},
		ErrOpcode: {Op: 8},
	} {
		require.ErrorIs(t, b.c.Post(0, &x), want)
	}
	for range b.c.spec.MaxSend {
		b.post(verbs.WRWrite, 1)
	}
	require.ErrorIs(t, b.c.Post(0, &Send{Op: verbs.WRWrite}), ErrFull)
	require.ErrorIs(t, b.c.Modify(0, verbs.QPSInit, nil), ErrState)
	require.NoError(t, b.c.Modify(0, verbs.QPSReset, nil))
	require.ErrorIs(t, b.c.Post(0, &Send{Op: verbs.WRWrite}), ErrState)

	_, err := New(Spec{Window: -1, Recovery: SelectiveRepeat, Kind: UD}, b, nil, nil)
	require.ErrorContains(t, err, "window is -1: want 64 to 1024")
	require.ErrorContains(t, err, "only RC has it")
	a := Attr{MTU: 300, RetryCount: 8}
	require.ErrorContains(t, a.Validate(RC), "mtu is 300")
	require.ErrorContains(t, a.Validate(RC), "path.local.ip is not set")
}

// TestDrain checks that in SQD the requests begun are finished, no new one begins, and the drained event is reported.
func TestDrain(t *testing.T) {
	b := newBare(t, GoBackN, nil)
	b.c.spec.Window = 1
	b.post(verbs.WRWrite, 300)
	b.post(verbs.WRWrite, 10)
	_, psns := b.pull(0)
	require.Equal(t, []uint32{1000}, psns)
	require.NoError(t, b.c.Modify(0, verbs.QPSSQD, nil))
	for psn := uint32(1000); psn < 1002; psn++ {
		require.Empty(t, b.events)
		b.answer(0, wire.RCAck, psn, wire.ACKNoCredits, 0)
		_, psns = b.pull(0)
		require.Equal(t, psn == 1000, len(psns) > 0)
	}
	require.Equal(t, []Event{EventSQDrained}, b.events)
	require.NoError(t, b.c.Modify(0, verbs.QPSRTS, nil))
	_, psns = b.pull(0)
	require.Equal(t, []uint32{1002}, psns)
}

// TestReset checks that RESET discards everything, and that copies in flight do not disturb the connection's next life.
func TestReset(t *testing.T) {
	for _, c := range cases {
		d := newDirectPair(t, c.kind, c.recovery)
		d.drop = 3
		n := lengthOf(c.kind, c.op)
		for i := range 4 {
			x := Send{ID: uint64(i), Op: c.op, Flags: verbs.SendSignaled, Spans: []Span{{Len: n}}, AH: benchAH,
				RemoteQP: 101}
			require.NoError(t, d.conns[0].Post(0, &x))
		}
		for range 20 {
			for i := range 2 {
				if d.conns[i].Next(0, &d.out) {
					if d.packets++; d.packets%d.drop != 0 {
						d.carry(1 - i)
					}
				}
			}
		}
		stale := [2][]Token{append([]Token(nil), d.envs[0].tokens...), append([]Token(nil), d.envs[1].tokens...)}
		for i, conn := range d.conns {
			d.envs[i].tokens = nil
			a := DefaultAttr()
			a.Path, a.DestQP = testPath(i), uint32(101-i)
			for _, to := range []verbs.State{verbs.QPSReset, verbs.QPSInit, verbs.QPSRTR, verbs.QPSRTS} {
				require.NoError(t, conn.Modify(0, to, &a))
			}
			require.Equal(t, Never, conn.Deadline(), c.name)
		}
		for i, all := range stale {
			for _, tok := range all {
				d.conns[i].Placed(0, tok, verbs.WCSuccess)
			}
		}
		d.drop = c.drop
		// A UC or UD request ends once the NIC has read its packet and all earlier ones; here it never reads those sent
		// before RESET.
		if c.kind != UC && c.kind != UD {
			d.round(t, c.op, n, 8)
		}
	}
}
