package wire

import (
	"bytes"
	"testing"

	"github.com/google/gopacket"
	"github.com/google/gopacket/layers"
	"github.com/stretchr/testify/require"
)

// stack holds the layers of a RoCE frame and one allocation-free parser for them.
type stack struct {
	eth    layers.Ethernet
	vlan   layers.Dot1Q
	ip4    layers.IPv4
	ip6    layers.IPv6
	udp    layers.UDP
	data   gopacket.Payload
	roce   *RoCE
	parser *gopacket.DecodingLayerParser
	found  []gopacket.LayerType
}

func newStack() *stack {
	s := &stack{roce: NewRoCE()}
	s.parser = gopacket.NewDecodingLayerParser(layers.LayerTypeEthernet, &s.eth, &s.vlan, &s.ip4, &s.ip6, &s.udp,
		&s.data)
	for _, l := range s.roce.DecodingLayers() {
		s.parser.AddDecodingLayer(l)
	}
	return s
}

// above returns the types of the decoded layers from the BTH on, without the payload.
func (s *stack) above() []gopacket.LayerType {
	for i, l := range s.found {
		if l == LayerTypeBTH {
			n := len(s.found)
			if s.found[n-1] == gopacket.LayerTypePayload {
				n--
			}
			return s.found[i:n]
		}
	}
	return nil
}

func (s *stack) layer(t gopacket.LayerType) gopacket.DecodingLayer {
	return s.roce.DecodingLayers()[t-LayerTypeBTH]
}

// TestCaptureLayers decodes every frame of the captures that has the right ICRC, by a
// DecodingLayerParser and by gopacket.NewPacket, and serialises it to the same bytes.
func TestCaptureLayers(t *testing.T) {
	s := newStack()
	buf := gopacket.NewSerializeBuffer()
	ops := map[Opcode]bool{}
	for _, row := range loadManifest(t) {
		for i, frame := range loadCapture(t, row.File) {
			p := udpPayload(frame)
			if VerifyFrameICRC(frame).Verdict != OK {
				continue
			}
			err := s.parser.DecodeLayers(frame, &s.found)
			if short := len(p) - BTHSize - ExtLen(BTH(p).Opcode()) - BTH(p).PadCnt() - ICRCSize; short < 0 {
				require.ErrorContains(t, err, "truncated: needs", "%s frame %d", row.File, i)
				continue
			}
			require.NoError(t, err, "%s frame %d", row.File, i)
			ops[s.roce.BTH.Opcode] = true
			checkChain(t, s, frame)
			require.Equal(t, p, reserialise(t, s, buf), "%s frame %d", row.File, i)
		}
	}
	for _, g := range everyOpcode(t) {
		require.NoError(t, s.parser.DecodeLayers(g.frame, &s.found), g.where)
		checkChain(t, s, g.frame)
		require.Equal(t, udpPayload(g.frame), reserialise(t, s, buf), g.where)
	}
	for o := range 256 {
		switch o := Opcode(o); o {
		case RCSendLastInv, UCSendLastImm, UCWriteOnlyImm, UDSendOnlyImm:
			require.False(t, ops[o], "%s is not in the captures", o)
		default:
			require.True(t, ops[o] || !o.Info().Known, "%s", o)
		}
	}
	require.False(t, s.parser.Truncated)
}

func checkChain(t *testing.T, s *stack, frame []byte) {
	want := []gopacket.LayerType{LayerTypeBTH}
	for _, h := range s.roce.BTH.Opcode.Info().Ext {
		if h != HeaderNone {
			want = append(want, h.LayerType())
		}
	}
	require.Equal(t, want, s.above())
	p := gopacket.NewPacket(frame, layers.LayerTypeEthernet, gopacket.NoCopy)
	require.Nil(t, p.ErrorLayer())
	for _, lt := range want {
		l := p.Layer(lt)
		require.NotNil(t, l, lt)
		require.Equal(t, l.LayerPayload(), s.layer(lt).LayerPayload(), lt)
		require.Equal(t, lt, s.layer(lt).CanDecode())
	}
}

func reserialise(t *testing.T, s *stack, buf gopacket.SerializeBuffer) []byte {
	chain := s.above()
	out := []gopacket.SerializableLayer{}
	for _, lt := range chain {
		out = append(out, s.layer(lt).(gopacket.SerializableLayer))
	}
	last := s.layer(chain[len(chain)-1])
	out = append(out, gopacket.Payload(last.LayerPayload()))
	require.NoError(t, gopacket.SerializeLayers(buf, gopacket.SerializeOptions{}, out...))
	return buf.Bytes()
}

func TestDecodeIsZeroCopy(t *testing.T) {
	frame := vectorLike(t, "rxe4_op0b").packet
	s := newStack()
	require.NoError(t, s.parser.DecodeLayers(frame, &s.found))
	off := len(frame) - len(udpPayload(frame))
	require.Same(t, &frame[off], &s.roce.BTH.Contents[0])
	require.Same(t, &frame[off+BTHSize], &s.roce.RETH.Contents[0])
	require.Same(t, &frame[off+BTHSize+RETHSize], &s.roce.ImmDt.Contents[0])

	frame = buildFrame(t, true, []byte("data"))
	require.NoError(t, s.parser.DecodeLayers(frame, &s.found))
	require.Same(t, &frame[len(frame)-4-ICRCSize], &s.roce.RETH.Payload[0])
	require.Equal(t, 4, cap(s.roce.RETH.Payload), "appending must not reach the ICRC")
}

func TestDecodeErrorsNameTheHeader(t *testing.T) {
	bth := BTHFields{Opcode: RCWriteOnlyImm, PadCnt: 2}
	packet := make([]byte, BTHSize+RETHSize+ImmDtSize+2+ICRCSize)
	require.NoError(t, bth.Encode(packet))
	for n, text := range map[int]string{
		0:  "wire: BTH truncated: needs 12 bytes, have 0",
		11: "wire: BTH truncated: needs 12 bytes, have 11",
		12: "wire: RETH truncated: needs 16 bytes, have 0",
		27: "wire: RETH truncated: needs 16 bytes, have 15",
		28: "wire: ImmDt truncated: needs 4 bytes, have 0",
		31: "wire: ImmDt truncated: needs 4 bytes, have 3",
		32: "wire: pad and ICRC truncated: needs 6 bytes, have 0",
		37: "wire: pad and ICRC truncated: needs 6 bytes, have 5",
	} {
		var l BTHLayer
		var df feedback
		require.EqualError(t, l.DecodeFromBytes(packet[:n], &df), text)
		require.True(t, df.truncated)
		if n > 0 { // gopacket does not call a decoder if no bytes are left
			p := gopacket.NewPacket(packet[:n], LayerTypeBTH, gopacket.NoCopy)
			require.EqualError(t, p.ErrorLayer().Error(), text)
			require.True(t, p.Metadata().Truncated)
			require.Equal(t, n >= BTHSize, p.Layer(LayerTypeBTH) != nil)
		}
	}
	var l BTHLayer
	require.NoError(t, l.DecodeFromBytes(packet, gopacket.NilDecodeFeedback))
	require.Len(t, l.Pad, 2)
}

func TestStandaloneLayers(t *testing.T) {
	for h := HeaderRETH; h < numHeaders; h++ {
		require.Equal(t, h.String(), h.LayerType().String())
		p := gopacket.NewPacket(make([]byte, h.Size()+5), h.LayerType(), gopacket.NoCopy)
		require.Nil(t, p.ErrorLayer())
		l := p.Layer(h.LayerType())
		require.NotNil(t, l)
		require.Len(t, l.LayerContents(), h.Size())
		require.Len(t, p.ApplicationLayer().Payload(), 5)
		p = gopacket.NewPacket(make([]byte, h.Size()-1), h.LayerType(), gopacket.NoCopy)
		require.ErrorContains(t, p.ErrorLayer().Error(), h.String()+" truncated")
	}
	require.Equal(t, gopacket.LayerTypePayload, HeaderNone.LayerType())
}

// TestSerializeAndSeal builds frames from fields, and checks lengths and checksums by the verifying
// functions.
func TestSerializeAndSeal(t *testing.T) {
	for _, v6 := range []bool{false, true} {
		for n := range 9 {
			for _, withUDP := range []bool{false, true} {
				frame := buildFrame(t, v6, bytes.Repeat([]byte{0xc3}, n))
				require.NoError(t, SealFrame(frame, withUDP))
				ip, f := frameIP(frame)
				require.Equal(t, faultNone, f)
				require.Equal(t, OK, VerifyFrameICRC(frame).Verdict)
				require.Equal(t, withUDP, VerifyUDPChecksum(ip) == OK)
				require.Equal(t, !v6, VerifyIPv4Header(ip) == OK)
				s := newStack()
				require.NoError(t, s.parser.DecodeLayers(frame, &s.found))
				require.Equal(t, uint8(-n&3), s.roce.BTH.PadCnt)
				require.Equal(t, make([]byte, -n&3), s.roce.BTH.Pad)
				require.Equal(t, RETHFields{VA: 0x1000, RKey: 7, DMALen: uint32(n)}, s.roce.RETH.RETHFields)
				require.Len(t, s.roce.RETH.Payload, n)
			}
		}
	}
	require.ErrorContains(t, SealFrame(make([]byte, 20), true), "EtherType")
	require.ErrorContains(t, SealFrame(buildFrame(t, false, nil)[:50], true), "exceeds the bytes")
}

func buildFrame(t testing.TB, v6 bool, payload []byte) []byte {
	t.Helper()
	mac := []byte{2, 0, 0, 0, 0, 1}
	eth := &layers.Ethernet{SrcMAC: mac, DstMAC: mac, EthernetType: layers.EthernetTypeIPv4}
	var ip gopacket.SerializableLayer = &layers.IPv4{Version: 4, TTL: 64, Protocol: layers.IPProtocolUDP,
		SrcIP: []byte{10, 0, 0, 1}, DstIP: []byte{10, 0, 0, 2}}
	if v6 {
		eth.EthernetType = layers.EthernetTypeIPv6
		ip = &layers.IPv6{Version: 6, HopLimit: 64, NextHeader: layers.IPProtocolUDP,
			SrcIP: bytes.Repeat([]byte{1}, 16), DstIP: bytes.Repeat([]byte{2}, 16)}
	}
	bth := &BTHLayer{BTHFields: BTHFields{Opcode: RCWriteOnly, PKey: 0xffff, DestQP: 0x11, PSN: 5, PadCnt: 3}}
	before := bth.BTHFields
	reth := &RETHLayer{RETHFields: RETHFields{VA: 0x1000, RKey: 7, DMALen: uint32(len(payload))}}
	buf := gopacket.NewSerializeBuffer()
	require.NoError(t, gopacket.SerializeLayers(buf, gopacket.SerializeOptions{FixLengths: true},
		eth, ip, &layers.UDP{SrcPort: 0xc000, DstPort: Port}, bth, reth, gopacket.Payload(payload)))
	require.Equal(t, before, bth.BTHFields, "serialising must not change the layer")
	return bytes.Clone(buf.Bytes())
}

// TestSerializeIntoUsedBuffer: pad bytes are zero even if the buffer contains bytes of an earlier
// packet.
func TestSerializeIntoUsedBuffer(t *testing.T) {
	buf := gopacket.NewSerializeBuffer()
	bth := &BTHLayer{BTHFields: BTHFields{Opcode: RCSendOnly}}
	opts := gopacket.SerializeOptions{FixLengths: true}
	require.NoError(t, gopacket.SerializeLayers(buf, opts, gopacket.Payload(bytes.Repeat([]byte{0xee}, 64))))
	dirty, err := buf.AppendBytes(64)
	require.NoError(t, err)
	copy(dirty, bytes.Repeat([]byte{0xee}, 64))
	require.NoError(t, gopacket.SerializeLayers(buf, opts, bth, gopacket.Payload{0xaa}))
	require.Equal(t, unhex(t, "0430000000000000"+"00000000"+"aa000000"+"00000000"), buf.Bytes())
}

func TestSerializeRefusals(t *testing.T) {
	buf := gopacket.NewSerializeBuffer()
	for _, tc := range []struct {
		bth  BTHFields
		text string
	}{
		{BTHFields{Opcode: RCReadRequest}, "extension headers of RC_READ_REQUEST truncated: needs 16 bytes, have 0"},
		{BTHFields{PSN: 1 << 24}, "BTH.PSN is 0x1000000"},
		{BTHFields{PadCnt: 4}, "BTH.PadCnt is 0x4"},
	} {
		err := gopacket.SerializeLayers(buf, gopacket.SerializeOptions{}, &BTHLayer{BTHFields: tc.bth})
		require.ErrorContains(t, err, tc.text)
	}
	err := gopacket.SerializeLayers(buf, gopacket.SerializeOptions{}, &AETHLayer{AETHFields: AETHFields{MSN: 1 << 24}})
	require.ErrorContains(t, err, "AETH.MSN is 0x1000000")
}
