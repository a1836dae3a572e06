package transport

import (
	"errors"
	"fmt"
	"hash/crc32"
	"io"
	"os"
	"path/filepath"
	"testing"

	"github.com/google/gopacket/pcapgo"
	"github.com/stretchr/testify/require"

	"nictwin/models/format/wire"
	"nictwin/stack/verbs"
)

const capturesDir = "../../scenarios/captures/softroce"

func loadCapture(t *testing.T, name string) (frames [][]byte) {
	f, err := os.Open(filepath.Join(capturesDir, name))
	require.NoError(t, err)
	defer func() { require.NoError(t, f.Close()) }()
	r, err := pcapgo.NewReader(f)
	require.NoError(t, err)
	for {
		b, _, err := r.ReadPacketData()
		if errors.Is(err, io.EOF) {
			return frames
		}
		require.NoError(t, err)
		frames = append(frames, b)
	}
}

// recordedPacket is a packet of a recording: decoded headers and payload.
type recordedPacket struct {
	Packet
	payload  []byte
	src, dst string
}

// decode does the NIC's part: it checks checksums and locates the headers. It returns nil for a dropped frame.
func decode(frame []byte) *recordedPacket {
	off, _, err := wire.L3Offset(frame)
	if err != nil || wire.VerifyFrameICRC(frame).Verdict != wire.OK || wire.VerifyUDPChecksum(frame[off:]) == wire.Bad {
		return nil
	}
	ip := frame[off:]
	s := &recordedPacket{src: string(ip[12:16]), dst: string(ip[16:20])}
	l4 := ipv4Size
	if ip[0]>>4 == 6 {
		s.src, s.dst, l4 = string(ip[8:24]), string(ip[24:40]), ipv6Size
	}
	n := int(ip[l4+4])<<8 | int(ip[l4+5])
	udp := ip[l4+udpSize : l4+n]
	if s.Parse(udp, len(udp)) != nil {
		return nil
	}
	end := len(udp) - wire.ICRCSize - int(s.BTH.PadCnt)
	s.payload = udp[end-s.Payload : end]
	return s
}

// formatAnswer formats the part of an answer that must agree with the recorded one.
func formatAnswer(s *recordedPacket, msn uint32) string {
	if !s.BTH.Opcode.Info().Has(wire.HeaderAETH) {
		return fmt.Sprintf("%v PSN %#x, %d B, CRC %#x", s.BTH.Opcode, s.BTH.PSN, len(s.payload),
			crc32.ChecksumIEEE(s.payload))
	}
	return fmt.Sprintf("%v PSN %#x %v MSN %d orig %#x, %d B, CRC %#x", s.BTH.Opcode, s.BTH.PSN, s.AETH.Syndrome, msn,
		s.Orig, len(s.payload), crc32.ChecksumIEEE(s.payload))
}

// peer is a responder that serves recorded requests. Bytes of its memory that no request wrote are learned from the
// first recorded answer that shows them. Its regions are those that recorded requests accessed with success.
type peer struct {
	t        *testing.T
	conn     Conn
	qpn      uint32
	mem      map[uint64]byte
	regions  map[uint32][2]uint64
	recorded []*recordedPacket
	got      []*recordedPacket
	done     []Completion
	tokens   []Token
	after    func() // ends the atomic in progress; nil: none
	payload  []byte
	recvs    uint64
	inv      uint32   // number of SENDs with invalidate so far: rxe does not count them as messages in the MSN
	invs     []uint32 // value of field `inv` at the time of each answer
}

var _ Env = (*peer)(nil)

func (x *peer) Check(key uint32, addr uint64, n uint32, _ verbs.Access) bool {
	r, ok := x.regions[key]
	return ok && addr >= r[0] && addr+uint64(n) <= r[1]
}

func (x *peer) Place(_ Handle, parts []Part, t Token) bool {
	for _, p := range parts {
		for i := range uint64(p.To.Len) {
			x.mem[p.To.Addr+i] = x.payload[uint64(p.Off)+i]
		}
	}
	x.tokens = append(x.tokens, t)
	return false
}

func (x *peer) Atomic(op verbs.Opcode, _ uint32, addr, swapAdd, compare uint64, t Token) {
	var b [8]byte
	putValue(b[:], x.next().Orig)
	x.learn(addr, b[:])
	for i := range b {
		b[i] = x.mem[addr+uint64(i)]
	}
	v := value(b[:])
	if op == verbs.WRFetchAdd {
		putValue(b[:], v+swapAdd)
	} else if v == compare {
		putValue(b[:], swapAdd)
	}
	for i := range b {
		x.mem[addr+uint64(i)] = b[i]
	}
	x.after = func() { x.conn.AtomicDone(0, t, v, verbs.WCSuccess) }
}

func (x *peer) CheckLocal(Span) bool                  { return true }
func (*peer) Buffers() (share, requests, answers int) { return 0, 0, 0 }
func (x *peer) PlaceGRH(Handle, []Part, Token)        {}

func (x *peer) Store(Span, uint64, Token) {}
func (x *peer) Keep(Handle)               {}
func (x *peer) Drop(Handle)               {}
func (x *peer) CRC(Handle, int) uint32    { return 0 }
func (x *peer) Invalidate(uint32) bool    { x.inv++; return true }
func (x *peer) Complete(c *Completion)    { x.done = append(x.done, *c) }
func (x *peer) Async(Event)               {}

func (x *peer) learn(at uint64, b []byte) {
	for i := range b {
		if _, known := x.mem[at+uint64(i)]; !known {
			x.mem[at+uint64(i)] = b[i]
		}
	}
}

// next returns the next recorded answer.
func (x *peer) next() *recordedPacket {
	if len(x.got) < len(x.recorded) {
		return x.recorded[len(x.got)]
	}
	return &recordedPacket{}
}

// connect brings a responder to RTS.
func (x *peer) connect(kind Kind, mtu verbs.MTU, qpn, psn uint32, rnr uint8) {
	x.qpn = qpn
	s := DefaultSpec(kind, qpn)
	s.QKey = 0x11111111 // Q_Key of the recorded datagrams
	var err error
	x.conn, err = New(s, x, nil, nil)
	require.NoError(x.t, err)
	a := DefaultAttr()
	a.Path, a.MTU, a.RecvPSN, a.MinRNR = testPath(0), mtu, psn, rnr
	for _, to := range []verbs.State{verbs.QPSInit, verbs.QPSRTR, verbs.QPSRTS} {
		require.NoError(x.t, x.conn.Modify(0, to, &a))
	}
}

func (x *peer) postRecv(n uint32) {
	x.recvs++
	require.NoError(x.t, x.conn.PostRecv(&Recv{ID: x.recvs, Spans: []Span{{Addr: x.recvs << 40, Len: n, Key: 1}}}))
}

// serve passes a request to the responder and collects the answers.
func (x *peer) serve(s *recordedPacket) {
	x.payload = s.payload
	x.conn.Input(0, &s.Packet)
	for len(x.tokens) > 0 || x.after != nil {
		if f := x.after; f != nil {
			x.after = nil
			f()
			continue
		}
		t := x.tokens[0]
		x.tokens = x.tokens[1:]
		x.conn.Placed(0, t, verbs.WCSuccess)
	}
	var o Out
	for x.conn.Next(0, &o) {
		b := append([]byte(nil), o.Head[ipSize(o.Head)+udpSize:]...)
		for _, sp := range o.Spans {
			x.learn(sp.Addr, x.next().payload)
			for i := range uint64(sp.Len) {
				b = append(b, x.mem[sp.Addr+i])
			}
		}
		b = append(b, o.Tail...)
		a := &recordedPacket{}
		require.NoError(x.t, a.Parse(b, len(b)+wire.ICRCSize))
		a.payload = b[len(b)-len(o.Tail)-o.Payload : len(b)-len(o.Tail)]
		x.got = append(x.got, a)
	}
}

func isResponse(op wire.Opcode) bool {
	o := op.Info().Operation
	return o == wire.OpAck || o == wire.OpReadResponse || o == wire.OpAtomicAck
}

// TestRecordedInitiators serves the requests of recorded rxe initiators and expects rxe's answers. Captures with losses
// and reordering are left out: the responder may have received other packets than the capture shows.
func TestRecordedInitiators(t *testing.T) {
	for _, c := range []struct {
		file string
		mtu  verbs.MTU
	}{
		{"rc_mix_v4_mtu256_psnwrap", 256}, {"rc_mix_v6_mtu256_psnwrap", 256}, {"rc_mix_v4_mtu4096_jumbo", 4096},
		{"rc_pipelined_v4_mtu1024", 1024}, {"rc_vlan_v4", 1024}, {"ecn_ce_rc_v4", 1024}, {"ecn_ce_rc_v6", 1024},
		{"rnr_v4", 1024}, {"rnr_exceed_v4", 1024}, {"write_lat4", 1024}, {"pingpong6", 1024},
		{"nak_badrkey_write_v4", 1024}, {"nak_badrkey_read_v6", 1024}, {"nak_oob_read_v4", 1024},
		{"nak_noperm_write_v4", 1024},
	} {
		t.Run(c.file, func(t *testing.T) {
			var all []*recordedPacket
			for _, f := range loadCapture(t, c.file+".pcap") {
				if s := decode(f); s != nil && s.BTH.Opcode.Transport() == wire.TransportRC {
					all = append(all, s)
				}
			}
			n := 0
			for _, x := range serveRecorded(t, all, c.mtu) {
				var want, got []string
				for _, s := range x.recorded {
					want = append(want, formatAnswer(s, s.AETH.MSN))
				}
				for i, s := range x.got {
					got = append(got, formatAnswer(s, s.AETH.MSN-x.invs[i]))
				}
				require.Equal(t, want, got)
				n += len(got)
			}
			t.Log(n, "answers")
			require.NotZero(t, n)
		})
	}
}

// serveRecorded makes a responder for each recorded one, and has it serve the recorded requests. It returns the
// responders by address.
func serveRecorded(t *testing.T, all []*recordedPacket, mtu verbs.MTU) map[string]*peer {
	peers := map[string]*peer{}
	for _, s := range all {
		at := s.dst
		if isResponse(s.BTH.Opcode) {
			at = s.src
		}
		x := peers[at]
		if x == nil {
			x = &peer{t: t, mem: map[uint64]byte{}, regions: map[uint32][2]uint64{}}
			peers[at] = x
		}
		if !isResponse(s.BTH.Opcode) {
			continue
		}
		if n := len(x.recorded); s.AETH.Syndrome == wire.NAKSequence && n > 0 &&
			x.recorded[n-1].AETH.Syndrome.Kind() == wire.SyndromeRNR && x.recorded[n-1].BTH.PSN == s.BTH.PSN {
			continue // rxe also sends this NAK for packets after an RNR NAK; the standard says to ignore such packets
		}
		x.recorded = append(x.recorded, s)
	}
	for _, s := range all {
		x := peers[s.dst]
		if isResponse(s.BTH.Opcode) {
			continue
		}
		if x.conn == nil {
			x.prepare(all, s, mtu)
		}
		if s.BTH.DestQP != x.qpn {
			continue
		}
		info := s.BTH.Opcode.Info()
		needs := info.Operation == wire.OpSend && info.Position.Starts() || info.Operation == wire.OpWrite &&
			info.Has(wire.HeaderImmDt)
		if n := x.next(); needs && (n.AETH.Syndrome.Kind() != wire.SyndromeRNR || n.BTH.PSN != s.BTH.PSN) {
			x.postRecv(1 << 20)
		}
		x.serve(s)
		for len(x.invs) < len(x.got) {
			x.invs = append(x.invs, x.inv)
		}
	}
	for ip, x := range peers {
		if x.conn == nil {
			delete(peers, ip)
		}
	}
	return peers
}

// prepare gives the responder the state, memory and regions that the recorded one must have had.
func (x *peer) prepare(all []*recordedPacket, first *recordedPacket, mtu verbs.MTU) {
	refused, rnr := map[uint32]bool{}, uint8(0)
	for _, s := range x.recorded {
		if s.AETH.Syndrome == wire.NAKRemoteAccess {
			refused[s.BTH.PSN] = true
		}
		if s.AETH.Syndrome.Kind() == wire.SyndromeRNR {
			rnr = s.AETH.Syndrome.Value()
		}
	}
	for _, s := range all {
		n := uint64(s.RETH.DMALen)
		if s.BTH.Opcode.Info().Has(wire.HeaderAtomicETH) {
			n = 8
		}
		if n == 0 || s.dst != first.dst || refused[s.BTH.PSN] {
			continue
		}
		r, ok := x.regions[s.RETH.RKey]
		if !ok {
			r = [2]uint64{s.RETH.VA, 0}
		}
		x.regions[s.RETH.RKey] = [2]uint64{min(r[0], s.RETH.VA), max(r[1], s.RETH.VA+n)}
	}
	x.connect(RC, mtu, first.BTH.DestQP, first.BTH.PSN, rnr)
}

// TestRecordedDatagrams replays the packets of recorded rxe senders of UC and UD: every message arrives.
func TestRecordedDatagrams(t *testing.T) {
	for _, c := range []struct {
		file string
		kind Kind
		mtu  verbs.MTU
	}{{"uc_v4", UC, 512}, {"uc_v6", UC, 512}, {"uc_pingpong4", UC, 512}, {"ud_send4", UD, 1024}, {"ud_send6", UD, 1024},
		{"ud_pingpong6", UD, 1024}} {
		t.Run(c.file, func(t *testing.T) {
			peers, messages := map[string]*peer{}, 0
			for _, f := range loadCapture(t, c.file+".pcap") {
				s := decode(f)
				if s == nil || s.BTH.Opcode.Transport() != map[Kind]wire.Transport{UC: wire.TransportUC,
					UD: wire.TransportUD}[c.kind] {
					continue
				}
				to := fmt.Sprint(s.dst, s.BTH.DestQP)
				x := peers[to]
				if x == nil {
					x = &peer{t: t, mem: map[uint64]byte{}, regions: map[uint32][2]uint64{}}
					peers[to] = x
					x.connect(c.kind, c.mtu, s.BTH.DestQP, s.BTH.PSN, 0)
					x.qkey(s.DETH.QKey)
				}
				info := s.BTH.Opcode.Info()
				if info.Operation == wire.OpWrite && info.Position.Starts() {
					x.regions[s.RETH.RKey] = [2]uint64{0, 1 << 62}
				}
				if info.Position.Ends() && (info.Operation == wire.OpSend || info.Has(wire.HeaderImmDt)) {
					messages++
				}
				if info.Position.Starts() {
					x.postRecv(1 << 20)
				}
				x.serve(s)
			}
			got := 0
			for _, x := range peers {
				for _, w := range x.done {
					require.Equal(t, verbs.WCSuccess, w.Status)
				}
				got += len(x.done)
			}
			t.Log(got, "messages")
			require.NotZero(t, messages)
			require.Equal(t, messages, got)
		})
	}
}

func (x *peer) qkey(k uint32) {
	if c, ok := x.conn.(*ud); ok {
		c.spec.QKey = k
	}
}
