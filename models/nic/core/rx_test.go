package core

import (
	"encoding/hex"
	"encoding/json"
	"net"
	"os"
	"testing"

	"github.com/google/gopacket"
	"github.com/google/gopacket/layers"
	"github.com/stretchr/testify/require"
	"pgregory.net/rapid"

	"nictwin/models/nic/nicspec"
	"nictwin/models/nic/nictest"
	_ "nictwin/models/sim/fixedseed"
)

// built is a frame serialised by gopacket, with its layers.
type built struct {
	frame    []byte
	vlans    []uint16
	v6       bool
	l4       layers.IPProtocol
	src, dst uint16
	ip4      *layers.IPv4
	ip6      *layers.IPv6
	hdrEnd   int
}

// drawFrame makes gopacket serialise a frame: up to two tags, IPv4 with options or IPv6, UDP or
// TCP, with right lengths and checksums.
func drawFrame(t *rapid.T) built {
	var b built
	eth := &layers.Ethernet{SrcMAC: net.HardwareAddr{2, 0, 0, 0, 0, 1},
		DstMAC: rapid.SliceOfN(rapid.Byte(), 6, 6).Draw(t, "dmac")}
	b.v6 = rapid.Bool().Draw(t, "v6")
	b.l4 = rapid.SampledFrom([]layers.IPProtocol{layers.IPProtocolUDP, layers.IPProtocolTCP}).Draw(t, "proto")
	b.src, b.dst = rapid.Uint16().Draw(t, "sport"), rapid.Uint16Range(1, 4000).Draw(t, "dport")
	payload := rapid.SliceOfN(rapid.Byte(), 20, 300).Draw(t, "payload")
	l3type := layers.EthernetTypeIPv4
	if b.v6 {
		l3type = layers.EthernetTypeIPv6
	}
	stack := []gopacket.SerializableLayer{eth}
	eth.EthernetType = l3type
	tags := rapid.IntRange(0, 2).Draw(t, "tags")
	for i := range tags {
		tci := rapid.Uint16().Draw(t, "tci")
		b.vlans = append(b.vlans, tci)
		d := &layers.Dot1Q{Priority: uint8(tci >> 13), DropEligible: tci>>12&1 != 0, VLANIdentifier: tci & 0xfff,
			Type: l3type}
		if i == 0 {
			eth.EthernetType = layers.EthernetTypeDot1Q
			if tags == 2 {
				eth.EthernetType, d.Type = layers.EthernetTypeQinQ, layers.EthernetTypeDot1Q
			}
		}
		stack = append(stack, d)
	}
	var network gopacket.NetworkLayer
	if b.v6 {
		b.ip6 = &layers.IPv6{Version: 6, TrafficClass: rapid.Byte().Draw(t, "tc"), NextHeader: b.l4, HopLimit: 9,
			SrcIP: rapid.SliceOfN(rapid.Byte(), 16, 16).Draw(t, "s"),
			DstIP: rapid.SliceOfN(rapid.Byte(), 16, 16).Draw(t, "d")}
		stack, network = append(stack, b.ip6), b.ip6
	} else {
		b.ip4 = &layers.IPv4{Version: 4, TOS: rapid.Byte().Draw(t, "tos"), Protocol: b.l4, TTL: 5,
			SrcIP: rapid.SliceOfN(rapid.Byte(), 4, 4).Draw(t, "s"),
			DstIP: rapid.SliceOfN(rapid.Byte(), 4, 4).Draw(t, "d")}
		for range rapid.IntRange(0, 10).Draw(t, "options") {
			b.ip4.Options = append(b.ip4.Options,
				layers.IPv4Option{OptionType: 0x94, OptionLength: 4, OptionData: []byte{1, 2}})
		}
		stack, network = append(stack, b.ip4), b.ip4
	}
	if b.l4 == layers.IPProtocolUDP {
		udp := &layers.UDP{SrcPort: layers.UDPPort(b.src), DstPort: layers.UDPPort(b.dst)}
		require.NoError(t, udp.SetNetworkLayerForChecksum(network))
		stack = append(stack, udp)
	} else {
		tcp := &layers.TCP{SrcPort: layers.TCPPort(b.src), DstPort: layers.TCPPort(b.dst)}
		for range rapid.IntRange(0, 9).Draw(t, "tcp options") {
			tcp.Options = append(tcp.Options,
				layers.TCPOption{OptionType: 5, OptionLength: 4, OptionData: []byte{1, 2}})
		}
		require.NoError(t, tcp.SetNetworkLayerForChecksum(network))
		stack = append(stack, tcp)
	}
	stack = append(stack, gopacket.Payload(payload))
	buf := gopacket.NewSerializeBuffer()
	require.NoError(t,
		gopacket.SerializeLayers(buf, gopacket.SerializeOptions{FixLengths: true, ComputeChecksums: true}, stack...))
	b.frame = append([]byte(nil), buf.Bytes()...)
	b.hdrEnd = len(b.frame) - len(payload)
	if sum := b.frame[b.hdrEnd-2 : b.hdrEnd]; b.l4 == layers.IPProtocolUDP && sum[0]|sum[1] == 0 {
		sum[0], sum[1] = 0xff, 0xff // RFC 768: a sum of 0 is sent as all ones, which gopacket does not do
	}
	return b
}

func TestParseAgreesWithGopacket(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		b := drawFrame(t)
		pad := rapid.IntRange(0, 20).Draw(t, "pad")
		frame := append(b.frame, make([]byte, pad)...)
		var h Headers
		Parse(frame, 4791, &h)
		require.EqualValues(t, len(b.vlans), h.VlanCount)
		require.EqualValues(t, 14+4*len(b.vlans), h.L3Off)
		if len(b.vlans) > 0 {
			require.Equal(t, b.vlans[0], h.VlanOuter)
		}
		if len(b.vlans) > 1 {
			require.Equal(t, b.vlans[1], h.VlanInner)
		}
		require.False(t, h.IPLenBad || h.L4LenBad || h.Frag || h.Roce)
		require.Equal(t, [...]uint16{b.src, b.dst}, [...]uint16{h.SrcPort, h.DstPort})
		require.EqualValues(t, b.l4, h.IPProto)
		require.EqualValues(t, b.hdrEnd, h.PayloadOff)
		want := nicspec.VerdictNotChecked
		if b.v6 {
			require.Equal(t, nicspec.L3TypeIpv6, h.L3Type)
			require.Equal(t, b.ip6.TrafficClass, h.IPTos)
			require.Equal(t, []byte(b.ip6.SrcIP), h.Src[:])
			require.Equal(t, []byte(b.ip6.DstIP), h.Dst[:])
		} else {
			want = nicspec.VerdictOk
			require.Equal(t, nicspec.L3TypeIpv4, h.L3Type)
			require.Equal(t, b.ip4.TOS, h.IPTos)
			require.Equal(t, append([]byte(b.ip4.SrcIP), make([]byte, 12)...), h.Src[:])
			require.Equal(t, append([]byte(b.ip4.DstIP), make([]byte, 12)...), h.Dst[:])
		}
		require.Equal(t, want, CheckIPCsum(frame, &h))
		if b.l4 == layers.IPProtocolTCP {
			require.Equal(t, nicspec.VerdictNotChecked, CheckL4Csum(frame, &h))
			return
		}
		require.Equal(t, nicspec.VerdictOk, CheckL4Csum(frame, &h))
		at := rapid.IntRange(b.hdrEnd, len(b.frame)-1).Draw(t, "flip")
		frame[at] ^= 0x10
		require.Equal(t, nicspec.VerdictBad, CheckL4Csum(frame, &h))
	})
}

// TestParseCorners: cases of section 5 of the contract that a serialiser does not produce.
func TestParseCorners(t *testing.T) {
	udp := func() []byte { f := nictest.RoceFrame(40); nictest.FixIP(f); return f }
	for _, c := range []struct {
		name string
		mod  func(f []byte)
		want func(h *Headers) bool
	}{
		{"three tags", func(f []byte) { copy(f[12:], []byte{0x81, 0, 0, 1, 0x88, 0xa8, 0, 2, 0x81, 0, 0, 3}) },
			func(h *Headers) bool {
				return h.VlanCount == 2 && h.Ethertype == 0x8100 && h.L3Off == 22 && h.PayloadOff == 22
			}},
		{"IHL 4", func(f []byte) { f[14] = 0x44 },
			func(h *Headers) bool { return h.L3Type == nicspec.L3TypeNone && h.IPProto == 0 && h.PayloadOff == 14 }},
		{"version 5", func(f []byte) { f[14] = 0x55 }, func(h *Headers) bool { return h.L3Type == nicspec.L3TypeNone }},
		{"total length short", func(f []byte) { f[16], f[17] = 0, 19 },
			func(h *Headers) bool { return h.IPLenBad && h.Roce }},
		{"total length long", func(f []byte) { f[16], f[17] = 1, 0 },
			func(h *Headers) bool { return h.IPLenBad && h.Roce }},
		{"first fragment", func(f []byte) { f[20] = 0x20 }, func(h *Headers) bool { return h.Frag && h.Roce }},
		{"later fragment", func(f []byte) { f[21] = 1 },
			func(h *Headers) bool {
				return h.Frag && h.L4Type == nicspec.L4TypeNone && h.PayloadOff == 34 && h.IPProto == 17
			}},
		{"do not fragment", func(f []byte) { f[20] = 0x40 }, func(h *Headers) bool { return !h.Frag }},
		{"UDP length 7", func(f []byte) { f[38], f[39] = 0, 7 }, func(h *Headers) bool { return h.L4LenBad && h.Roce }},
		{"UDP length long", func(f []byte) { f[38] = 9 }, func(h *Headers) bool { return h.L4LenBad && h.Roce }},
		{"extension", func(f []byte) { f[42] = 0x06 }, func(h *Headers) bool { return h.PayloadOff == 14+20+20+16 }},
		{"extension beyond", func(f []byte) { f[14] = 0x4a; f[56], f[57], f[62] = 0x12, 0xb7, 0x13 },
			func(h *Headers) bool { return h.Roce && h.L4Off == 54 && h.PayloadOff == 74 }},
		{"other port", func(f []byte) { f[37]++ }, func(h *Headers) bool { return !h.Roce && h.PayloadOff == 42 }},
		{"BTH fields", func(f []byte) {},
			func(h *Headers) bool {
				return h.BTHOpcode == 4 && h.BTHFlags == 0x40 && h.PKey == 0xffff && h.DestQP == 7 && h.AckReq &&
					h.PSN == 9
			}},
		{"not IP", func(f []byte) { f[12], f[13] = 0x08, 0x06 },
			func(h *Headers) bool { return h.L3Type == nicspec.L3TypeNone && h.Ethertype == 0x0806 }},
		{"TCP offset 4", func(f []byte) { f[23], f[46] = 6, 0x40 },
			func(h *Headers) bool { return h.L4Type == nicspec.L4TypeTcp && h.PayloadOff == 54 }},
		{"TCP offset beyond", func(f []byte) { f[14] = 0x47; f[23], f[54] = 6, 0xf0 },
			func(h *Headers) bool { return h.L4Type == nicspec.L4TypeTcp && h.PayloadOff == 62 }},
	} {
		f := udp()
		c.mod(f)
		var h Headers
		Parse(f, 4791, &h)
		require.True(t, c.want(&h), "%s: %+v", c.name, h)
	}
}

func TestICRCVectors(t *testing.T) {
	raw, err := os.ReadFile("../../format/wire/testdata/icrc_vectors.json")
	require.NoError(t, err)
	var file struct {
		Vectors []struct {
			Name     string `json:"name"`
			StartsAt string `json:"starts_at"`
			Hex      string `json:"packet_hex"`
			Family   string `json:"family"`
			Valid    bool   `json:"valid"`
		} `json:"vectors"`
	}
	require.NoError(t, json.Unmarshal(raw, &file))
	checked := 0
	for _, v := range file.Vectors {
		b, err := hex.DecodeString(v.Hex)
		require.NoError(t, err)
		if v.StartsAt != "eth" {
			l2 := make([]byte, 14)
			l2[12], l2[13] = 0x08, 0x00
			if v.Family == "ipv6" {
				l2[12], l2[13] = 0x86, 0xdd
			}
			b = append(l2, b...)
		}
		if len(b) < nicspec.FrameMin {
			continue
		}
		var h Headers
		Parse(b, 4791, &h)
		got := CheckICRC(b, &h)
		require.Equal(t, v.Valid, got == nicspec.VerdictOk, "%s: %v", v.Name, got)
		checked++
	}
	require.Greater(t, checked, 60)
}

// slowMatch applies [R5] rule by rule and byte by byte.
func slowMatch(rules []nicspec.RuleEntryFields, key *[56]byte) int {
next:
	for i := range rules {
		if rules[i].Valid != 1 {
			continue
		}
		for b := range key {
			if (key[b]^rules[i].Value[b])&rules[i].Mask[b] != 0 {
				continue next
			}
		}
		return i
	}
	return -1
}

func TestMatchIsLowestRule(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		const n = 8
		rules := make([]nicspec.RuleEntryFields, n)
		var set *RuleSet
		for range rapid.IntRange(0, 20).Draw(t, "writes") {
			i := rapid.IntRange(0, n-1).Draw(t, "i")
			old, version := set, set.Version()
			e := nicspec.RuleEntryFields{Valid: rapid.Uint8Range(0, 1).Draw(t, "valid"), Action: nicspec.ActionQueue}
			for range rapid.IntRange(0, 2).Draw(t, "bits") {
				b := rapid.IntRange(0, 55).Draw(t, "byte")
				e.Mask[b], e.Value[b] = rapid.Byte().Draw(t, "m")&0x3, rapid.Byte().Draw(t, "v")
			}
			rules[i] = e
			set = set.With(i, &e)
			require.Equal(t, version+1, set.Version())
			require.Equal(t, version, old.Version(), "the old set is as it was")
		}
		var key [56]byte
		for i := range key {
			key[i] = rapid.Byte().Draw(t, "k") & 3
		}
		got, ok := set.Match(&key)
		want := slowMatch(rules, &key)
		require.Equal(t, want >= 0, ok)
		if ok {
			require.Equal(t, want, got)
		}
	})
}

// TestPlanCoversTheFrame: for random frames, header and payload part together are the frame, and
// every offset in the completion entry lies inside it.
func TestPlanCoversTheFrame(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		n := rapid.IntRange(nicspec.FrameMin, nicspec.FrameMax).Draw(t, "n")
		frame := nictest.Pattern(n, rapid.Uint64().Draw(t, "seed"))
		if rapid.Bool().Draw(t, "roce") {
			copy(frame, nictest.RoceFrame(max(n-100, 0)))
		}
		c := Config{RxEnable: true, RocePort: 4791, DefaultAction: nicspec.ActionQueue}
		var v RxVerdict
		c.Classify(0, frame, &v)
		require.Equal(t, NoDrop, v.Drop)
		q := Queue{State: nicspec.QueueStateRun, LogSize: 4, CqBase: 1 << 20,
			SplitMode:  nicspec.SplitMode(rapid.IntRange(0, 2).Draw(t, "mode")),
			SplitLen:   rapid.Uint16().Draw(t, "split"),
			HdrBufSize: rapid.Uint16Range(1, 10000).Draw(t, "hdr"),
			PayBufSize: rapid.Uint16Range(1, 10000).Draw(t, "pay")}
		drop := q.Admit(&v, n)
		hdr, pay := q.Split(&v, n)
		require.Equal(t, pay > int(q.PayBufSize), drop == nicspec.CntRxDropTooLong)
		require.Equal(t, n, hdr+pay)
		require.LessOrEqual(t, hdr, int(q.HdrBufSize))
		s := RxSlot{Seq: 5, Index: 17, CQI: 33, Desc: nicspec.RxDescFields{HdrAddr: 1, PayAddr: 2}}
		var p RxPlan
		PlanRx(&q, &v, n, &s, &p)
		require.Equal(t, [...]int{hdr, pay}, [...]int{p.HdrLen, p.PayLen})
		e := nicspec.DecodeRxCqe(p.Cqe[:])
		require.EqualValues(t, 1<<20+64*(33%16), p.CqeAddr)
		require.True(t, e.Phase, "lap 2")
		require.LessOrEqual(t, int(e.PayloadOff), n)
		require.EqualValues(t, n, e.FrameLen)
	})
}

func FuzzClassify(f *testing.F) {
	f.Add(nictest.RoceFrame(40), uint16(4791))
	f.Add(nictest.Pattern(60, 1), uint16(0))
	f.Add(append([]byte{12: 0x81, 13: 0, 16: 0x86, 17: 0xdd, 18: 0x60}, make([]byte, 60)...), uint16(0))
	f.Fuzz(func(t *testing.T, frame []byte, roce uint16) {
		c := Config{RxEnable: true, RocePort: roce, DefaultAction: nicspec.ActionQueue}
		var v RxVerdict
		c.Classify(1, frame, &v)
		if v.Checked && (int(v.PayloadOff) > len(frame) || int(v.L4Off) > len(frame)) {
			t.Fatalf("offsets beyond the frame of %d B: %+v", len(frame), v)
		}
	})
}
