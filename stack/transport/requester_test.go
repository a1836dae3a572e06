package transport

import (
	"bytes"
	"fmt"
	"hash/crc32"
	"testing"

	"github.com/stretchr/testify/require"

	"nictwin/models/format/wire"
	"nictwin/stack/transport/seq"
	"nictwin/stack/verbs"
)

// initiator is a requester that posts the requests of a recorded one, and receives the recorded answers.
type initiator struct {
	t        *testing.T
	conn     Conn
	now      Ps
	requests []*recordedRequest
	sent     []string // packets that left, formatted by formatRequest: each PSN once
	seen     map[uint32]bool
	done     []Completion
	tokens   []Token
	payload  []byte
}

// recordedRequest is a request found in a recording.
type recordedRequest struct {
	Send
	data []byte // data that the request carries or fetches
	want []byte // data that the recorded answers return
	psn  uint32
}

var _ Env = (*initiator)(nil)

// addressOfRequest returns the memory address of the data of request i; its upper half tells requests apart.
func addressOfRequest(i int) uint64 { return uint64(i+1) << 32 }

func (x *initiator) bytesAt(s Span) []byte {
	r := x.requests[s.Addr>>32-1]
	return r.data[uint32(s.Addr):][:s.Len]
}

func (x *initiator) Place(_ Handle, parts []Part, t Token) bool {
	for _, p := range parts {
		copy(x.bytesAt(p.To), x.payload[p.Off:])
	}
	x.tokens = append(x.tokens, t)
	return false
}

func (x *initiator) Store(to Span, v uint64, t Token) {
	putValue(x.bytesAt(to), v)
	x.tokens = append(x.tokens, t)
}
func (x *initiator) Check(uint32, uint64, uint32, verbs.Access) bool { return false }
func (x *initiator) Keep(Handle)                                     {}
func (x *initiator) Drop(Handle)                                     {}
func (x *initiator) CRC(Handle, int) uint32                          { return 0 }
func (x *initiator) CheckLocal(Span) bool                            { return true }
func (*initiator) Buffers() (share, requests, answers int)           { return 0, 0, 0 }
func (x *initiator) PlaceGRH(Handle, []Part, Token)                  {}
func (x *initiator) Atomic(verbs.Opcode, uint32, uint64, uint64, uint64, Token) {
	x.t.Error("an atomic is asked of the requester")
}
func (x *initiator) Invalidate(uint32) bool { return false }
func (x *initiator) Complete(c *Completion) { x.done = append(x.done, *c) }
func (x *initiator) Async(Event)            {}

// formatRequest formats the part of a request packet that must agree with the recorded one: everything but the AckReq
// bit.
func formatRequest(s *Packet, payload []byte) string {
	text := fmt.Sprintf("%v PSN %#x to %#x, SE %v, %d B, CRC %#x", s.BTH.Opcode, s.BTH.PSN, s.BTH.DestQP, s.BTH.SE,
		len(payload), crc32.ChecksumIEEE(payload))
	info := s.BTH.Opcode.Info()
	if info.Has(wire.HeaderRETH) || info.Has(wire.HeaderAtomicETH) {
		text += fmt.Sprintf(", %#x at %#x, %d B", s.RETH.RKey, s.RETH.VA, s.RETH.DMALen)
	}
	if info.Has(wire.HeaderAtomicETH) {
		text += fmt.Sprintf(", %#x %#x", s.SwapAdd, s.Compare)
	}
	if info.Has(wire.HeaderImmDt) || info.Has(wire.HeaderIETH) {
		text += fmt.Sprintf(", %#x", s.Imm)
	}
	return text
}

var requestOps = map[wire.Operation]verbs.Opcode{wire.OpSend: verbs.WRSend, wire.OpWrite: verbs.WRWrite,
	wire.OpReadRequest: verbs.WRRead,
	wire.OpCmpSwap:     verbs.WRCmpSwap, wire.OpFetchAdd: verbs.WRFetchAdd}

// ask adds a recorded packet to the requests.
func (x *initiator) ask(s *recordedPacket) {
	info := s.BTH.Opcode.Info()
	if info.Position.Starts() {
		n := len(x.requests)
		r := &recordedRequest{Send: Send{ID: uint64(n), Op: requestOps[info.Operation], Flags: verbs.SendSignaled,
			RKey: s.RETH.RKey, RemoteAddr: s.RETH.VA}, psn: s.BTH.PSN}
		switch r.Op {
		case verbs.WRRead:
			r.data = make([]byte, s.RETH.DMALen)
		case verbs.WRCmpSwap:
			r.data, r.Swap, r.CompareAdd = make([]byte, 8), s.SwapAdd, s.Compare
		case verbs.WRFetchAdd:
			r.data, r.CompareAdd = make([]byte, 8), s.SwapAdd
		}
		x.requests = append(x.requests, r)
	}
	r := x.requests[len(x.requests)-1]
	r.data = append(r.data, s.payload...)
	switch {
	case info.Has(wire.HeaderIETH):
		r.Op, r.Imm = verbs.WRSendInv, s.Imm
	case info.Has(wire.HeaderImmDt) && r.Op == verbs.WRSend:
		r.Op, r.Imm = verbs.WRSendImm, s.Imm
	case info.Has(wire.HeaderImmDt):
		r.Op, r.Imm = verbs.WRWriteImm, s.Imm
	}
	if s.BTH.SE {
		r.Flags |= verbs.SendSolicited
	}
}

// connect creates the requester and posts the recorded requests.
func (x *initiator) connect(mtu verbs.MTU, first *recordedPacket, rnrs uint8) {
	s := DefaultSpec(RC, 0x77)
	s.MaxSend, s.Window = maxDepth, maxWindow
	var err error
	x.conn, err = New(s, x, nil, nil)
	require.NoError(x.t, err)
	a := DefaultAttr()
	a.Path, a.MTU, a.SendPSN, a.DestQP, a.RNRRetry, a.MaxRead = testPath(0), mtu, first.BTH.PSN, first.BTH.DestQP, rnrs,
		maxReadsCap
	for _, to := range []verbs.State{verbs.QPSInit, verbs.QPSRTR, verbs.QPSRTS} {
		require.NoError(x.t, x.conn.Modify(0, to, &a))
	}
	for i, r := range x.requests {
		r.Spans = []Span{{Addr: addressOfRequest(i), Len: uint32(len(r.data)), Key: keyLocal}}
		require.NoError(x.t, x.conn.Post(0, &r.Send))
	}
	x.pull()
}

// pull records the packets that may leave.
func (x *initiator) pull() {
	var o Out
	for x.conn.Next(x.now, &o) {
		b := append([]byte(nil), o.Head[ipSize(o.Head)+udpSize:]...)
		for _, s := range o.Spans {
			b = append(b, x.bytesAt(s)...)
		}
		b = append(b, o.Tail...)
		var p Packet
		require.NoError(x.t, p.Parse(b, len(b)+wire.ICRCSize))
		if !x.seen[p.BTH.PSN] {
			x.seen[p.BTH.PSN] = true
			x.sent = append(x.sent, formatRequest(&p, b[len(b)-len(o.Tail)-o.Payload:len(b)-len(o.Tail)]))
		}
	}
}

// take passes a recorded answer to the requester. It waits out an RNR NAK.
func (x *initiator) take(s *recordedPacket) {
	x.payload = s.payload
	for _, r := range x.requests { // collect the data of the answers, for the final check
		switch at := int(seq.Diff(s.BTH.PSN, r.psn)); {
		case s.BTH.Opcode == wire.RCAtomicAck && at == 0:
			r.want = make([]byte, 8)
			putValue(r.want, s.Orig)
		case s.BTH.Opcode.Info().Operation == wire.OpReadResponse && r.Op == verbs.WRRead && at >= 0 &&
			at*x.mtu() < max(len(r.data), 1):
			if r.want == nil {
				r.want = make([]byte, len(r.data))
			}
			copy(r.want[at*x.mtu():], s.payload)
		}
	}
	x.conn.Input(x.now, &s.Packet)
	for len(x.tokens) > 0 {
		t := x.tokens[0]
		x.tokens = x.tokens[1:]
		x.conn.Placed(x.now, t, verbs.WCSuccess)
	}
	if s.AETH.Syndrome.Kind() == wire.SyndromeRNR && s.BTH.Opcode == wire.RCAck && x.conn.State() == verbs.QPSRTS {
		x.now = x.conn.Deadline()
		require.NotEqual(x.t, Never, x.now)
		x.conn.Expire(x.now)
	}
	x.pull()
}

func (x *initiator) mtu() int { return int(x.conn.(*rc).attr.MTU) }

// TestRecordedResponders gives a requester the answers of recorded rxe responders. It must send the same packets as the
// recorded initiator, and every request must end as the answers say, with their data.
func TestRecordedResponders(t *testing.T) {
	for _, c := range []struct {
		file string
		mtu  verbs.MTU
		last verbs.Status
	}{
		{"rc_mix_v4_mtu256_psnwrap", 256, verbs.WCSuccess}, {"rc_mix_v6_mtu256_psnwrap", 256, verbs.WCSuccess},
		{"rc_mix_v4_mtu4096_jumbo", 4096, verbs.WCSuccess},
		{"rc_pipelined_v4_mtu1024", 1024, verbs.WCSuccess}, {"rc_vlan_v4", 1024, verbs.WCSuccess},
		{"ecn_ce_rc_v4", 1024, verbs.WCSuccess},
		{"ecn_ce_rc_v6", 1024, verbs.WCSuccess}, {"rnr_v4", 1024, verbs.WCSuccess},
		{"rnr_exceed_v4", 1024, verbs.WCRNRRetryExcErr},
		{"write_lat4", 1024, verbs.WCSuccess}, {"pingpong6", 1024, verbs.WCSuccess},
		{"nak_badrkey_write_v4", 1024, verbs.WCRemAccessErr},
		{"nak_badrkey_read_v6", 1024, verbs.WCRemAccessErr}, {"nak_oob_read_v4", 1024, verbs.WCRemAccessErr},
		{"nak_noperm_write_v4", 1024, verbs.WCRemAccessErr},
		{"nak_recv_too_small_v4", 1024, verbs.WCRemOpErr}, {"srq4", 1024, verbs.WCSuccess},
		{"rping4", 1024, verbs.WCSuccess}, {"rping6", 1024, verbs.WCSuccess},
	} {
		t.Run(c.file, func(t *testing.T) {
			var all []*recordedPacket
			for _, f := range loadCapture(t, c.file+".pcap") {
				if s := decode(f); s != nil && s.BTH.Opcode.Transport() == wire.TransportRC {
					all = append(all, s)
				}
			}
			n := 0
			for _, s := range all {
				if first := firstRequestOf(all, s.src); first == s {
					n += askRecorded(t, all, s, c.mtu, c.last)
				}
			}
			t.Log(n, "requests")
			require.NotZero(t, n)
		})
	}
}

func firstRequestOf(all []*recordedPacket, src string) *recordedPacket {
	for _, s := range all {
		if s.src == src && !isResponse(s.BTH.Opcode) {
			return s
		}
	}
	return nil
}

// askRecorded posts one side's requests from its first one on, compares packets and completions, and returns the number
// of requests.
func askRecorded(t *testing.T, all []*recordedPacket, first *recordedPacket, mtu verbs.MTU, last verbs.Status) int {
	x := &initiator{t: t, seen: map[uint32]bool{}}
	var want []string
	known, rnrs := map[uint32]bool{}, 0
	var answers []*recordedPacket
	for _, s := range all {
		switch {
		case s.src == first.src && !isResponse(s.BTH.Opcode) && s.BTH.DestQP == first.BTH.DestQP && !known[s.BTH.PSN]:
			known[s.BTH.PSN] = true
			x.ask(s)
			want = append(want, formatRequest(&s.Packet, s.payload))
		case s.dst == first.src && isResponse(s.BTH.Opcode):
			answers = append(answers, s)
			if s.AETH.Syndrome.Kind() == wire.SyndromeRNR && s.BTH.Opcode == wire.RCAck {
				rnrs++
			}
		}
	}
	retries := uint8(7)
	if last == verbs.WCRNRRetryExcErr {
		retries = uint8(rnrs - 1)
	}
	x.connect(mtu, first, retries)
	for _, s := range answers {
		x.take(s)
	}
	require.Equal(t, want, x.sent)
	require.Len(t, x.done, len(x.requests))
	for i, d := range x.done {
		status := verbs.WCSuccess
		if i == len(x.done)-1 {
			status = last
		}
		require.Equal(t, status, d.Status, "request %d, %v", i, x.requests[i].Op)
		require.EqualValues(t, i, d.ID)
		if r := x.requests[i]; d.Status == verbs.WCSuccess && r.returns() {
			require.True(t, bytes.Equal(r.want, r.data), "request %d, %v", i, r.Op)
		}
	}
	return len(x.requests)
}

func (r *recordedRequest) returns() bool { return r.Op == verbs.WRRead || r.Op.IsAtomic() }
