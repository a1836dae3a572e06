package kit

import (
	"math/rand/v2"

	"nictwin/models/nic/core"
	"nictwin/models/nic/nicspec"
	"nictwin/scenarios/traffic/craft"
)

// SteerKey returns a random key that a parser could have made.
func SteerKey(rng *rand.Rand) nicspec.SteerKeyFields {
	var h core.Headers
	for {
		f := Frame(rng)
		if len(f) >= nicspec.FrameMin {
			core.Parse(f, nicspec.ResetRocePort, &h)
			break
		}
	}
	if Maybe(rng, 50) { // random addresses and ports
		n := map[nicspec.L3Type]int{nicspec.L3TypeIpv4: 4, nicspec.L3TypeIpv6: 16}[h.L3Type]
		copy(h.Src[:n], Noise(rng, n))
		copy(h.Dst[:n], Noise(rng, n))
		if h.L4Type != nicspec.L4TypeNone {
			h.SrcPort, h.DstPort = uint16(rng.Uint32()), uint16(rng.Uint32())
		}
	}
	var b [nicspec.SteerKeySize]byte
	h.SteerKey(0, &b)
	return nicspec.DecodeSteerKey(b[:])
}

// HeadersOf returns headers from which a parser makes this key.
func HeadersOf(k *nicspec.SteerKeyFields) *core.Headers {
	h := &core.Headers{
		DMAC: k.Dmac, Ethertype: k.Ethertype, VlanOuter: k.VlanOuter, VlanCount: Flag(k.HasVlan) + Flag(k.HasVlan2),
		IPProto: k.IpProto, IPTos: k.IpTos, Src: k.SrcAddr, Dst: k.DstAddr, Frag: k.IsFrag, IPLenBad: k.IpLenBad,
		L4LenBad: k.L4LenBad,
		SrcPort:  k.SrcPort, DstPort: k.DstPort, Roce: k.IsRoce, BTHOpcode: k.BthOpcode, DestQP: k.DestQp,
	}
	switch {
	case k.IsIpv4:
		h.L3Type = nicspec.L3TypeIpv4
	case k.IsIpv6:
		h.L3Type = nicspec.L3TypeIpv6
	}
	switch {
	case k.IsUdp:
		h.L4Type = nicspec.L4TypeUdp
	case k.IsTcp:
		h.L4Type = nicspec.L4TypeTcp
	}
	return h
}

// Frame returns any frame of 60 B and more that the parser accepts, short in most cases.
func Frame(rng *rand.Rand) []byte {
	f := craft.Frame{
		DMAC: [6]byte(Noise(rng, 6)), Src: uint8(rng.Uint32()), Dst: uint8(rng.Uint32()), TTL: 64,
		Tos:  uint8(rng.Uint32()),
		Seed: rng.Uint64(), Payload: FrameLength(rng),
	}
	for range Pick(rng, 0, 0, 0, 1, 1, 2, 2, 3) {
		f.Tags = append(f.Tags, Pick(rng, uint32(craft.TpidC), craft.TpidS)<<16|rng.Uint32()&0xffff)
	}
	network(rng, &f)
	if f.Proto == craft.ProtoUDP && Maybe(rng, 10) {
		f.UDPSum = craft.SumOnes
	}
	contradict(rng, &f)
	if Maybe(rng, 50) {
		f.Digest = craft.Sum(1 + rng.IntN(2))
	}
	if Maybe(rng, 15) {
		f.Trailer = rng.IntN(70)
	}
	b := f.Build()
	for Maybe(rng, 5) {
		b[rng.IntN(min(len(b), 128))] ^= 1 << rng.IntN(8)
	}
	if Maybe(rng, 10) && len(b) > nicspec.FrameMin {
		b = b[:nicspec.FrameMin+rng.IntN(min(len(b)-nicspec.FrameMin, 80))] // ends inside its headers
	}
	if short := nicspec.FrameMin - len(b); short > 0 {
		b = append(b, make([]byte, short)...)
	}
	return b[:min(len(b), nicspec.FrameMax)]
}

func FrameLength(rng *rand.Rand) int {
	switch {
	case Maybe(rng, 2):
		return 4096 + rng.IntN(5200)
	case Maybe(rng, 15):
		return 200 + rng.IntN(1400)
	}
	return Pick(rng, rng.IntN(20), rng.IntN(70), rng.IntN(140), 64, rng.IntN(200))
}

func network(rng *rand.Rand, f *craft.Frame) {
	if Maybe(rng, 8) {
		return
	}
	f.L3 = Pick(rng, 4, 4, 6)
	if f.L3 == 4 && Maybe(rng, 30) {
		f.Options = 4 * rng.IntN(craft.MaxOptions/4+1)
	}
	f.SPort, f.DPort = uint16(rng.Uint32()), uint16(rng.Uint32())
	switch rng.IntN(10) {
	case 0:
		f.Proto = uint8(rng.Uint32())
	case 1, 2:
		f.Proto, f.DataOff = craft.ProtoTCP, rng.IntN(16)
	case 3, 4, 5:
		f.Proto, f.UDPSum = craft.ProtoUDP, craft.SumRight
	default:
		f.Proto, f.UDPSum, f.Roce, f.DPort = craft.ProtoUDP, craft.Sum(rng.IntN(2)), true, nicspec.ResetRocePort
		f.Op = Pick(rng, uint8(rng.Uint32()), 4, 6, 0x0a, 0x0b, 0x13, 0x12, 0x03, 0x64, 0x65, 0x81)
		f.Flags, f.PKey, f.QP, f.PSN, f.AckReq = uint8(rng.Uint32()), uint16(rng.Uint32()), rng.Uint32(), rng.Uint32(),
			Maybe(rng, 50)
	}
}

// contradict makes a frame's fields contradict its contents.
func contradict(rng *rand.Rand, f *craft.Frame) {
	if f.L3 == 0 {
		if Maybe(rng, 30) {
			f.Ether = Pick(rng, uint16(craft.TypeIPv4), craft.TypeIPv6, craft.TpidC)
		}
		return
	}
	f.IPBad, f.ICRCBad = Maybe(rng, 15), Maybe(rng, 25)
	switch rng.IntN(20) {
	case 0, 1:
		f.UDPSum = craft.SumWrong
	case 2:
		f.UDPSum = craft.SumZero
	case 3:
		f.Version = uint8(rng.IntN(16))
	case 4:
		f.IHL = 1 + rng.IntN(15)
	case 5, 6:
		f.Frag = Pick(rng, uint16(0x2000), 0x4000, 1, 0x2005, 0x1fff)
	case 7, 8:
		f.IPLen = Pick(rng, -1, 1, -40, 1000, -f.L3Len()-8)
	case 9, 10:
		f.UDPLen = Pick(rng, -1, 1, -8, 1000, 30000)
	}
}
