package core

import (
	"encoding/binary"
	"encoding/hex"
	"encoding/json"
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
	"nictwin/models/rnic/rnicspec"
)

const capturesDir = "../../../scenarios/captures/softroce"

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

// recordedResponse holds the fields of a response that the test compares.
type recordedResponse struct {
	Op       wire.Opcode
	PSN      uint32
	Syndrome wire.Syndrome
	MSN      uint32
	Orig     uint64
	Payload  string
}

func saidBy(p *Packet) recordedResponse {
	s := recordedResponse{Op: p.Opcode, PSN: p.PSN, Orig: p.Orig, Payload: string(p.Payload)}
	if p.Opcode.Info().Has(wire.HeaderAETH) {
		s.Syndrome, s.MSN = p.AETH.Syndrome, p.AETH.MSN
	}
	return s
}

// lines formats responses, one per line, for a readable difference.
func lines(all []recordedResponse) (text []string) {
	for _, s := range all {
		text = append(text, fmt.Sprintf("%v PSN %#x %v MSN %d orig %#x, %d B, CRC %#x", s.Op, s.PSN, s.Syndrome, s.MSN,
			s.Orig,
			len(s.Payload), crc32.ChecksumIEEE([]byte(s.Payload))))
	}
	return text
}

// peer is a responder, with recorded requests and the recorded responses to them. Bytes of its
// memory that no request wrote are taken from the first recorded response that shows them.
type peer struct {
	t    *testing.T
	q    *QP
	mem  map[uint64]byte
	rec  []recordedResponse
	got  []recordedResponse
	e    Effects
	recv uint64
	inv  uint32 // number of SENDs with invalidate, which rxe does not count in the MSN
}

func (x *peer) learn(at uint64, b string) {
	for i := range b {
		if _, known := x.mem[at+uint64(i)]; !known {
			x.mem[at+uint64(i)] = b[i]
		}
	}
}

// next returns the next recorded response.
func (x *peer) next() recordedResponse {
	if len(x.got) < len(x.rec) {
		return x.rec[len(x.got)]
	}
	return recordedResponse{}
}

func (x *peer) take(p *Packet) {
	if x.q.NeedsRecv(p) && x.q.Receives() == 0 {
		if n := x.next(); n.Syndrome.Kind() != wire.SyndromeRNR || n.PSN != p.PSN {
			x.recv += 1 << 32 // the next posted buffer
			x.q.PostRecv(rnicspec.RecvWQE{VA: x.recv, Length: 1 << 20, Key: 0}, &x.e)
		}
	}
	if p.Opcode == wire.RCSendLastInv || p.Opcode == wire.RCSendOnlyInv {
		x.inv++
	}
	x.e.Reset()
	x.q.Respond(p, &x.e)
	for _, w := range x.e.Place {
		for i, b := range w.Data {
			x.mem[w.Bus+uint64(i)] = b
		}
	}
	r := x.e.Reply
	if r.Kind == NoReply {
		return
	}
	if r.Kind == AtomicReply {
		var b [8]byte
		binary.LittleEndian.PutUint64(b[:], x.next().Orig)
		x.learn(r.Bus, string(b[:]))
		for i := range b {
			b[i] = x.mem[r.Bus+uint64(i)]
		}
		binary.LittleEndian.PutUint64(b[:], x.q.Apply(&r, binary.LittleEndian.Uint64(b[:])))
		for i := range b {
			x.mem[r.Bus+uint64(i)] = b[i]
		}
	}
	for i := range x.q.ReplyPackets(&r) {
		var out Packet
		off, n := x.q.PlanReply(&r, i, &out)
		x.learn(r.Bus+uint64(off), x.next().Payload)
		out.Payload = make([]byte, n)
		for k := range n {
			out.Payload[k] = x.mem[r.Bus+uint64(off+k)]
		}
		s := saidBy(&out)
		if out.Opcode.Info().Has(wire.HeaderAETH) {
			s.MSN -= x.inv
		}
		x.got = append(x.got, s)
	}
	if !r.Again {
		x.q.ReadDone()
	}
}

// The responder must give the recorded responses of a Linux rxe responder to the same requests.
// Captures with losses and reordering are left out: they contain frames that the responder never
// received, or in another order. TestLossyChannel covers those cases.
func TestRecordedRequests(t *testing.T) {
	for _, c := range []struct {
		file string
		pmtu int
	}{
		{"rc_mix_v4_mtu256_psnwrap", 256}, {"rc_mix_v6_mtu256_psnwrap", 256}, {"rc_mix_v4_mtu4096_jumbo", 4096},
		{"rc_pipelined_v4_mtu1024", 1024}, {"rc_vlan_v4", 1024}, {"ecn_ce_rc_v4", 1024}, {"ecn_ce_rc_v6", 1024},
		{"rnr_v4", 1024}, {"rnr_exceed_v4", 1024}, {"write_lat4", 1024}, {"pingpong6", 1024},
		{"nak_badrkey_write_v4", 1024}, {"nak_badrkey_read_v6", 1024}, {"nak_oob_read_v4", 1024},
		{"nak_noperm_write_v4", 1024},
	} {
		t.Run(c.file, func(t *testing.T) {
			peers := recordedPeers(t, loadCapture(t, c.file+".pcap"), c.pmtu)
			n := 0
			for _, x := range peers {
				require.Equal(t, lines(x.rec), lines(x.got))
				n += len(x.rec)
			}
			t.Log(n, "responses")
			require.NotZero(t, n)
		})
	}
}

// recordedPeers replays a capture of one connection. Both of its ends are responders.
func recordedPeers(t *testing.T, frames [][]byte, pmtu int) map[string]*peer {
	peers := map[string]*peer{}
	at := func(ip []byte) *peer {
		x := peers[string(ip)]
		if x == nil {
			x = &peer{t: t, mem: map[uint64]byte{}}
			peers[string(ip)] = x
		}
		return x
	}
	var packets []*Packet
	for _, f := range frames {
		p := new(Packet)
		if p.Decode(f) != Kept || p.Opcode.Transport() != wire.TransportRC {
			continue
		}
		packets = append(packets, p)
		src, _ := addresses(p.Net)
		if p.IsResponse() {
			x, s := at(src), saidBy(p)
			if n := len(x.rec); s.Syndrome == wire.NAKSequence && n > 0 &&
				x.rec[n-1].Syndrome.Kind() == wire.SyndromeRNR && x.rec[n-1].PSN == s.PSN {
				continue // rxe also NAKs packets after an RNR NAK; by the standard they are ignored
			}
			x.rec = append(x.rec, s)
		}
	}
	for _, p := range packets {
		if p.IsResponse() {
			continue
		}
		_, dst := addresses(p.Net)
		x := at(dst)
		if x.q == nil {
			x.connect(packets, p, dst, pmtu)
		}
		if x.q.Num == p.DestQP {
			x.take(p)
		}
	}
	for ip, x := range peers {
		if x.q == nil {
			delete(peers, ip)
		}
	}
	return peers
}

func addresses(net []byte) (src, dst []byte) {
	if net[0]>>4 == 4 {
		return net[12:16], net[16:20]
	}
	return net[8:24], net[24:40]
}

// connect reconstructs the responder's state from the capture: its PSN is that of the first
// request, its regions are those that requests access, and its RNR timer is the one that it sent.
func (x *peer) connect(packets []*Packet, first *Packet, ip []byte, pmtu int) {
	refused := map[uint32]bool{}
	a := attributes(0, 0, first.PSN, pmtu)
	for _, r := range x.rec {
		switch {
		case r.Syndrome == wire.NAKRemoteAccess:
			refused[r.PSN] = true
		case r.Syndrome.Kind() == wire.SyndromeRNR:
			a.MinRNR = r.Syndrome.Value()
		}
	}
	dev := NewDevice()
	spans := map[uint32][2]uint64{}
	for _, p := range packets {
		key, va, n := p.RETH.RKey, p.RETH.VA, uint64(p.RETH.DMALen)
		if p.Atomic.RKey != 0 {
			key, va, n = p.Atomic.RKey, p.Atomic.VA, 8
		}
		_, dst := addresses(p.Net)
		if key == 0 || n == 0 || string(dst) != string(ip) || refused[p.PSN] {
			continue
		}
		s, ok := spans[key]
		if !ok {
			s = [2]uint64{va, va + n}
		}
		spans[key] = [2]uint64{min(s[0], va), max(s[1], va+n)}
	}
	for key, s := range spans {
		dev.Register(Region{Key: key, Access: rnicspec.AllAccess, PageLog: 12, VA: s[0], Bus: s[0], Bytes: s[1] - s[0]})
	}
	// receive buffers
	dev.Register(Region{Key: 0, Access: rnicspec.LocalWrite, PageLog: 12, Bus: 1 << 62, Bytes: 1 << 60})
	x.q = dev.Add(first.DestQP, rnicspec.RC)
	x.q.Connect(rnicspec.RTS, a)
}

// departures lists the correct responses of cases in which the recorded responder departs from the
// standard, or in which it depended on state that the case does not show.
var departures = map[string][]recordedResponse{
	"first_short_payload": {{Op: wire.RCAck, PSN: 256, Syndrome: wire.NAKInvalidRequest}},
	"only_over_mtu":       {{Op: wire.RCAck, PSN: 256, Syndrome: wire.NAKInvalidRequest}},
	"last_zero_payload":   {{Op: wire.RCAck, PSN: 257, Syndrome: wire.NAKInvalidRequest}},
	// a middle packet whose payload is shorter than the MTU
	"pad_on_middle":         {{Op: wire.RCAck, PSN: 257, Syndrome: wire.NAKInvalidRequest}},
	"read_with_payload":     {{Op: wire.RCAck, PSN: 256, Syndrome: wire.NAKInvalidRequest}},
	"send_over_recv_size":   {{Op: wire.RCAck, PSN: 257, Syndrome: wire.NAKInvalidRequest}},
	"opcode_rc_reserved_15": {{Op: wire.RCAck, PSN: 256, Syndrome: wire.NAKInvalidRequest}},
	"opcode_1e":             {{Op: wire.RCAck, PSN: 256, Syndrome: wire.NAKInvalidRequest}},
	// requests after an RNR NAK are not answered
	"send_no_recv_rnr": {{Op: wire.RCAck, PSN: 256, Syndrome: wire.RNRSyndrome(12)}},
	// The expected PSN is 256. The standard wants an answer with the PSN before it, 255. rxe answers
	// with the PSN before 0, since it has acknowledged nothing yet.
	"psn_far_behind":  {{Op: wire.RCAck, PSN: 255, Syndrome: wire.ACKNoCredits}},
	"psn_half_window": {{Op: wire.RCAck, PSN: 255, Syndrome: wire.ACKNoCredits}},
}

// rereads lists cases with a duplicate READ. This responder answers it as a READ of its own,
// beginning with FIRST; rxe continues with the packet positions of the first response, or requires
// the same address.
var rereads = map[string]bool{"read_dup_partial": true, "read_dup_different_va": true}

// Single valid and invalid requests that were injected into a live rxe must get the same responses.
func TestInjectedRequests(t *testing.T) {
	b, err := os.ReadFile(filepath.Join(capturesDir, "inject_v4.json"))
	require.NoError(t, err)
	var cases []struct {
		Case string   `json:"case"`
		Sent []string `json:"sent"`
		Resp []struct {
			Op, PSN, Syn, MSN uint32
		} `json:"resp"`
		State struct {
			Mem8 string `json:"mem8"`
		} `json:"state"`
	}
	require.NoError(t, json.Unmarshal(b, &cases))
	require.Len(t, cases, 59)
	for i, c := range cases {
		t.Run(c.Case, func(t *testing.T) {
			x := injected(t, c.Case, uint32(17+i))
			for _, s := range c.Sent {
				frame, err := hex.DecodeString(s)
				require.NoError(t, err)
				var p Packet
				if p.Decode(frame) == Kept && p.DestQP == x.q.Num && !p.IsResponse() {
					x.take(&p)
				}
			}
			var want, got []string
			for _, r := range c.Resp {
				want = append(want, fmt.Sprint(wire.Opcode(r.Op), r.PSN, wire.Syndrome(r.Syn), r.MSN))
			}
			if d, ok := departures[c.Case]; ok {
				want = nil
				for _, r := range d {
					want = append(want, fmt.Sprint(r.Op, r.PSN, r.Syndrome, r.MSN))
				}
			}
			for _, r := range x.got {
				got = append(got, fmt.Sprint(r.Op, r.PSN, r.Syndrome, r.MSN))
			}
			if rereads[c.Case] {
				require.Equal(t, want[:3], got[:3])
				require.Equal(t, wire.RCReadRespFirst, x.got[3].Op)
				return
			}
			require.Equal(t, want, got)
			mem := make([]byte, 16)
			for k := range mem {
				mem[k] = x.mem[injectVA+8+uint64(k)]
			}
			require.Equal(t, c.State.Mem8, hex.EncodeToString(mem))
		})
	}
}

const injectVA, injectKey, injectBytes = 0x1d9cb000, 0x25e, 0x10000

// injected returns the responder of a case: MTU 256, 64 KB of memory, and receive entries, unless
// the case tests their absence.
func injected(t *testing.T, name string, qpn uint32) *peer {
	x := &peer{t: t, mem: map[uint64]byte{}}
	for i := range uint64(1024) {
		x.mem[injectVA+i] = byte(i)
	}
	dev := NewDevice()
	dev.Register(Region{Key: injectKey, Access: rnicspec.AllAccess, PageLog: 12, VA: injectVA, Bus: injectVA,
		Bytes: injectBytes})
	dev.Register(Region{Key: 0, Access: rnicspec.LocalWrite, PageLog: 12, Bus: 1 << 62, Bytes: 1 << 60})
	a := attributes(0x123456, 0, 256, 256)
	a.MinRNR = 12
	if name == "psn_wrap" {
		a.RecvPSN = 0xffffff
	}
	x.q = dev.Add(qpn, rnicspec.RC)
	x.q.Connect(rnicspec.RTS, a)
	size := uint32(1 << 16)
	switch name {
	case "write_only_imm_no_recv_posted", "send_no_recv_rnr":
		x.rec = []recordedResponse{{PSN: 256, Syndrome: wire.RNRSyndrome(12)}}
		return x
	case "send_over_recv_size":
		size = 300
	}
	for range 4 {
		x.q.PostRecv(rnicspec.RecvWQE{VA: 1 << 32, Length: size}, &x.e)
	}
	return x
}
