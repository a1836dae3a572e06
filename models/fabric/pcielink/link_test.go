package pcielink

import (
	"testing"

	"github.com/stretchr/testify/require"

	"nictwin/models/format/msg"
	"nictwin/models/format/tlp"
	"nictwin/models/sim/simcore"
)

// quiet returns a link that sends no DLLPs.
func quiet(generation int) Spec {
	s := Default(generation)
	s.DLLP = DLLP{}
	return s
}

// A TLP must take the time of its bytes at the link's bandwidth, header and framing included, then
// the latency.
func TestTimeOfATLP(t *testing.T) {
	for _, x := range []struct {
		name  string
		spec  Spec
		kind  tlp.Kind
		n     int
		bytes int64
		gbps  int64
	}{
		{"gen 3 write", quiet(3), tlp.MWr, 256, 256 + 24, 128},
		{"gen 4 read", quiet(4), tlp.MRd, 512, 24, 256},
		{"gen 4 completion", quiet(4), tlp.CplD, 256, 256 + 20, 256},
		{"gen 5 write", quiet(5), tlp.MWr, 256, 256 + 24, 504},
		{"gen 4 x4", func() Spec { s := quiet(4); s.Width = 4; return s }(), tlp.MWr, 256, 256 + 24, 64},
		{"gen 4 coded", func() Spec { s := quiet(4); s.Gbps = 252; return s }(), tlp.MWr, 256, 256 + 24, 252},
	} {
		t.Run(x.name, func(t *testing.T) {
			r := newRig(t, x.spec, false)
			const n = 7 // capacity of the transmit buffer
			for range n {
				r.send(r.a, r.tlp(x.kind, x.n, 0))
			}
			r.run()
			require.Len(t, r.b.got, n)
			exact := float64(n*x.bytes*8*1000)/float64(x.gbps) + float64(x.spec.Latency)
			require.InDelta(t, exact, float64(r.b.at[n-1]), 1)
			c := r.l.Counters(0)
			k := x.kind.Class()
			require.EqualValues(t, n*x.bytes, c.In[k].Wire)
			require.Equal(t, c.In, c.Out)
			require.EqualValues(t, map[bool]int{true: n}[x.kind.HasData()], c.In[k].Data, "requests are no data TLPs")
			require.Zero(t, c.DLLPBytes)
			require.Equal(t, Counters{}, r.l.Counters(1))
		})
	}
}

// A request below 4 GB, whose header has three DWs, must be counted with four or, if the spec says
// so, as encoded.
func TestRequestHeaders(t *testing.T) {
	s := Default(4)
	h := tlp.Header{Kind: tlp.MWr, Length: 1, Address: 0x1000}
	require.Equal(t, 8+16+4, s.WireBytes(&h, 4))
	s.RequestHeader = 0
	require.Equal(t, 8+12+4, s.WireBytes(&h, 4))
}

// starved returns a link whose end B advertises credits for only one TLP of each class.
func starved() Spec {
	s := quiet(4)
	s.Credits[1] = Credits{PostedHeaders: 8, PostedData: 16, NonPostedHeaders: 1, NonPostedData: 1,
		CompletionHeaders: 8, CompletionData: 16}
	return s
}

// TLPs must pass a class without credits if the ordering rules allow it, and only then.
func TestWhoPassesAClassWithoutCredits(t *testing.T) {
	const ro = tlp.RelaxedOrder
	for _, x := range []struct {
		name    string
		blocked tlp.Kind
		second  tlp.Kind
		n       int
		attr    tlp.Attr
		passes  bool
	}{
		{"A2a", tlp.MWr, tlp.MsgD, 0, 0, false}, // the message needs no data credits, but must not pass the write
		{"A2b", tlp.MWr, tlp.Msg, 0, ro, true},
		{"A3", tlp.MRd, tlp.MWr, 64, 0, true},
		{"A5a", tlp.CplD, tlp.MWr, 64, 0, true},
		{"B2a", tlp.MWr, tlp.MRd, 64, 0, false},
		{"B2a RO", tlp.MWr, tlp.MRd, 64, ro, false},
		{"B5", tlp.CplD, tlp.MRd, 64, 0, true},
		{"D2a", tlp.MWr, tlp.CplD, 64, 0, false},
		{"D2b", tlp.MWr, tlp.CplD, 64, ro, true},
		{"D3", tlp.MRd, tlp.CplD, 64, 0, true},
		{"D5a", tlp.CplD, tlp.Cpl, 0, 0, true},
	} {
		t.Run(x.name, func(t *testing.T) {
			r := newRig(t, starved(), false)
			r.b.hold = true
			r.send(r.a, r.tlp(x.blocked, 256, 0), r.tlp(x.blocked, 256, 0))
			second := x.second
			if second == tlp.MsgD {
				second = tlp.Msg
			}
			r.send(r.a, r.tlp(second, x.n, x.attr))
			r.run()
			want := []uint64{1}
			if x.passes {
				want = append(want, 3)
			}
			require.Equal(t, want, seqsIn(r.b.port))
			require.EqualValues(t, 3-len(want), r.l.lanes[0].tx.Len())
			r.b.hold = false
			r.b.drain(r.e.CurrentTime())
			r.run()
			if x.passes {
				want = append(want, 2)
			} else {
				want = append(want, 2, 3)
			}
			require.Equal(t, want, r.b.order())
			require.True(t, r.l.Idle())
		})
	}
}

func seqsIn(p *simcore.Port) (seqs []uint64) {
	each(p, func(m *msg.TLP) { seqs = append(seqs, m.Seq) })
	return seqs
}

// Completions of one read must keep their order whatever credits each of them needs (D5b).
func TestCompletionsOfOneReadKeepOrder(t *testing.T) {
	r := newRig(t, starved(), false)
	r.b.hold = true
	first, second, third, fourth := r.tlp(tlp.CplD, 256, 0), r.tlp(tlp.CplD, 256, 0), r.tlp(tlp.Cpl, 0, 0),
		r.tlp(tlp.Cpl, 0, 0)
	h := *second.Parsed()
	h.Kind, h.Length = tlp.Cpl, 0
	require.NoError(t, third.SetHeader(&h)) // a completion of the same transaction as the second
	r.send(r.a, first, second, third, fourth)
	r.run()
	require.Equal(t, []uint64{1, 4}, seqsIn(r.b.port))
	r.b.hold = false
	r.b.drain(r.e.CurrentTime())
	r.run()
	require.Equal(t, []uint64{1, 4, 2, 3}, r.b.order())
}

// A credit must return one latency after the far component took a TLP; the next TLP must leave
// then.
func TestCreditsReturnAfterTheLatency(t *testing.T) {
	s := quiet(4)
	s.Credits[1].NonPostedHeaders = 1
	r := newRig(t, s, false)
	r.send(r.a, r.tlp(tlp.MRd, 64, 0), r.tlp(tlp.MRd, 64, 0))
	r.run()
	require.Equal(t, []simcore.Ps{150_750, 3*150_000 + 2*750}, r.b.at) // 24 B take 750 ps
}

// A TLP that a Selective component does not take must wait, while others pass it as the rules
// allow; other components must receive all TLPs in order of arrival.
func TestSelectiveReceiver(t *testing.T) {
	for _, x := range []struct {
		name string
		shut tlp.Class
		want []uint64
	}{
		{"posted", tlp.Posted, []uint64{3}}, // the relaxed completion alone
		{"non-posted", tlp.NonPosted, []uint64{1, 3, 4, 5}},
		{"completion", tlp.Completion, []uint64{1, 2, 5}},
	} {
		t.Run(x.name, func(t *testing.T) {
			r := newRig(t, quiet(4), true)
			r.b.shut[x.shut] = true
			r.send(r.a, r.tlp(tlp.MWr, 64, 0), r.tlp(tlp.MRd, 64, 0), r.tlp(tlp.CplD, 64, tlp.RelaxedOrder),
				r.tlp(tlp.CplD, 64, 0), r.tlp(tlp.MWr, 64, 0))
			r.run()
			require.Equal(t, x.want, r.b.order())
			require.EqualValues(t, 5-len(x.want), r.l.Held(0).TLPs)
			r.b.shut = [3]bool{}
			r.l.Retry(r.b.port)
			r.run()
			require.Len(t, r.b.got, 5)
			require.True(t, r.l.Idle())
		})
	}
	r := newRig(t, quiet(4), false)
	r.b.shut[tlp.Posted] = true // has no effect: Takes is not called on an end that is not Selective
	r.send(r.a, r.tlp(tlp.MWr, 64, 0), r.tlp(tlp.MRd, 64, 0))
	r.run()
	require.Equal(t, []uint64{1, 2}, r.b.order())
}

// Acks and credit updates must take exactly the configured bandwidth of the opposite direction.
func TestDLLPsCostTheOtherDirection(t *testing.T) {
	r := newRig(t, Default(4), false)
	const n = 160
	for range n {
		r.send(r.a, r.tlp(tlp.MWr, 64, 0))
		require.NoError(t, r.e.RunUntil(r.e.Now()+10_000))
	}
	r.run()
	require.Zero(t, r.l.Counters(0).DLLPs+r.l.Counters(1).DLLPs, "nothing goes back that they could delay")
	begin := r.e.Now()
	r.send(r.b, r.tlp(tlp.MWr, 256, 0), r.tlp(tlp.MWr, 256, 0))
	r.run()
	const dllps = n/4 + n/8 - 2 // minus an Ack and an UpdateFC due at the last instant, which are sent after it
	require.EqualValues(t, dllps, r.l.Counters(1).DLLPs)
	require.EqualValues(t, 8*dllps, r.l.Counters(1).DLLPBytes)
	require.EqualValues(t, (8*dllps+2*280)*8000/256+150_000, int64(r.a.at[1]-begin))
	r.send(r.a, r.tlp(tlp.MRd, 64, 0))
	r.run()
	require.Zero(t, r.l.Counters(0).DLLPs, "two TLPs are too few for an Ack")
}

// A TLP that exceeds a limit of the ends must end the run with an error that names it and the
// limit.
func TestSizesAreChecked(t *testing.T) {
	for _, x := range []struct {
		kind tlp.Kind
		n    int
		back bool
		edit func(h *tlp.Header)
		want string
	}{
		{tlp.MWr, 260, false, nil, "A.Port sends MWr"},
		{tlp.MWr, 260, true, nil, "want at most the MPS of the link, 256 B"},
		{tlp.CplD, 512, false, nil, "512 B of payload: want at most the MPS of the link, 256 B"},
		{tlp.MRd, 516, true, nil, "B.Port sends MRd"},
		{tlp.MRd, 516, true, nil, "of 516 B: want at most the MRRS of its end, 512 B"},
		{tlp.MRd, 516, false, nil, ""}, // only the MRRS of the requester counts: that of A is larger
		{tlp.CplD, 32, false, func(h *tlp.Header) { h.ByteCount = 256 }, "a multiple of the RCB of its end, 64 B"},
		{tlp.CplD, 32, false, func(h *tlp.Header) { h.ByteCount, h.LowerAddr = 256, 32 }, ""},
	} {
		r := newRig(t, Default(4), false)
		p, from := r.tlp(x.kind, x.n, 0), r.a
		if x.edit != nil {
			h := *p.Parsed()
			x.edit(&h)
			require.NoError(t, p.SetHeader(&h))
		}
		if x.back {
			from = r.b
		}
		r.send(from, p)
		if err := r.e.Run(); x.want == "" {
			require.NoError(t, err)
		} else {
			require.ErrorContains(t, err, x.want)
			require.ErrorIs(t, err, r.l.Err())
		}
	}
	r := newRig(t, Default(4), false)
	require.Nil(t, r.a.port.Send(&msg.TLP{Packet: tlp.Packet{Hdr: [16]byte{0xff}}}))
	require.ErrorContains(t, r.e.Run(), "of a type that is not supported")
	r = newRig(t, Default(4), false)
	require.Nil(t, r.a.port.Send(new(msg.Frame)))
	require.ErrorContains(t, r.e.Run(), "sends a *msg.Frame: want a TLP")
}
