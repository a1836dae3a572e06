package transmit

import (
	"math/rand/v2"

	"nictwin/models/nic/core"
	"nictwin/models/nic/nicspec"
	"nictwin/scenarios/suite/blocks/kit"
)

var Offload = &kit.Block{
	Name: "offload", RTL: "transmit/nic_offload.sv", Go: "models/nic/core/offload.go",
	Ops: []kit.Op{{
		Name: "frame",
		Request: kit.NewLayout(kit.Gap(2), kit.Num("length", 2), kit.Gap(1), kit.Num("inline_len", 1),
			kit.Code("status", kit.StatusName), kit.Num("flags", 1), kit.Num("l3_off", 1),
			kit.Num("l4_off", 1), kit.Num("crc_off", 2), kit.Num("crc_start", 2), kit.Gap(2),
			kit.Raw("inline", nicspec.InlineMax)),
		Result: kit.NewLayout(kit.Code("status", kit.StatusName), kit.Num("length", 2)).WithTail("frame"),
	}},
	Stimulus: offloadStimulus,
	Reference: func() func(kit.Packet) []kit.Packet {
		return func(req kit.Packet) []kit.Packet {
			s := req.Side
			n := int(kit.LittleEndian.Uint16(s[2:]))
			if n == 0 { // an entry without a frame passes unchanged
				return []kit.Packet{{Data: []byte{s[6], 0, 0}}}
			}
			f := append([]byte(nil), req.Data...)
			copy(f[:s[5]], s[16:])
			p := core.TxPlan{
				Length: n, IPCsum: s[7]&ofIPCsum != 0, UDPCsum: s[7]&OfUDPCsum != 0, UDPZero: s[7]&ofUDPZero != 0,
				ICRC:   s[7]&ofICRC != 0,
				CRC32C: s[7]&ofCRC32C != 0, L3Off: int(s[8]), L4Off: int(s[9]),
				CrcOff: int(kit.LittleEndian.Uint16(s[10:])), CrcStart: int(kit.LittleEndian.Uint16(s[12:])),
			}
			f, status := core.FinishTx(&p, f)
			res := kit.LittleEndian.AppendUint16([]byte{uint8(status)}, uint16(n))
			return []kit.Packet{{Data: append(res, f...)}}
		}
	},
	Settle: offloadSettle,
}

// Flags of a request.
const (
	ofIPCsum = 1 << iota
	OfUDPCsum
	ofUDPZero
	ofICRC
	ofCRC32C
)

// offloadSettle treats a frame's beats as the output buffer does: it applies the patches that the last beat lists, in
// the order ICRC, CRC-32C, UDP and IPv4 checksum. It discards a frame that failed.
func offloadSettle(data []byte) []byte {
	const beat = 64
	if len(data) < beat {
		return data
	}
	f, p := append([]byte(nil), data[:len(data)-beat]...), data[len(data)-beat:]
	n := int(kit.LittleEndian.Uint16(p[1:]))
	put := func(flag uint8, at int, value []byte) {
		for i, b := range value {
			if flag != 0 && at+i < len(f) {
				f[at+i] = b
			}
		}
	}
	put(p[3], int(kit.LittleEndian.Uint16(p[4:])), p[6:10])
	put(p[10], int(kit.LittleEndian.Uint16(p[11:])), p[13:17])
	put(p[17], int(p[18]), p[19:21])
	put(p[21], int(p[22]), p[23:25])
	res := append([]byte(nil), p[:3]...)
	if p[0] == uint8(nicspec.StatusOk) {
		res = append(res, f[:min(n, len(f))]...)
	}
	return res
}

// offloadStimulus returns frames to be sent with any offloads; in most frames the offsets are those of the headers.
func offloadStimulus(rng *rand.Rand, n int) (list []kit.Packet) {
	for range n {
		f := kit.Frame(rng)
		var h core.Headers
		core.Parse(f, nicspec.ResetRocePort, &h)
		l3, l4 := int(h.L3Off), int(h.L4Off)
		if l4 == 0 {
			l4 = l3 + 20
		}
		if h.L4Type == nicspec.L4TypeUdp && kit.Maybe(rng, 50) { // the old checksum must not matter
			copy(f[l4+6:l4+8], kit.Noise(rng, 2))
		}
		if shift := rng.IntN(60); kit.Maybe(rng, 25) && len(f)+shift <= nicspec.FrameMax { // headers at any place
			f, l3, l4 = append(kit.Noise(rng, shift), f...), l3+shift, l4+shift
		}
		switch {
		case kit.Maybe(rng, 8):
			l3, l4 = rng.IntN(140), rng.IntN(140)
		case kit.Maybe(rng, 8):
			l4 = rng.IntN(140)
		case kit.Maybe(rng, 5):
			f = f[:1+rng.IntN(len(f))]
		}
		q := offloadRequest(rng, f, l3, l4)
		if kit.Maybe(rng, 60) {
			fitting(rng, q, &h)
		}
		list = append(list, q)
	}
	return list
}

func offloadRequest(rng *rand.Rand, f []byte, l3, l4 int) kit.Packet {
	s := make([]byte, 16+nicspec.InlineMax)
	kit.LittleEndian.PutUint16(s[2:], uint16(len(f)))
	s[5], s[8], s[9] = uint8(rng.IntN(min(len(f), nicspec.InlineMax)+1)), uint8(l3), uint8(l4)
	for _, x := range []struct{ flag, percent int }{{ofIPCsum, 50}, {OfUDPCsum, 50}, {ofICRC, 40}, {ofCRC32C, 40}} {
		if kit.Maybe(rng, x.percent) {
			s[7] |= uint8(x.flag)
		}
	}
	if s[7]&OfUDPCsum == 0 && kit.Maybe(rng, 30) {
		s[7] |= ofUDPZero
	}
	after := min(l4+8+rng.IntN(30), len(f)) // the end of the headers, roughly
	start, off := after, len(f)-4-rng.IntN(9)
	switch rng.IntN(6) {
	case 0:
		start, off = after+4+rng.IntN(30), after
	case 1:
		start, off = rng.IntN(len(f)), rng.IntN(len(f))
	case 2:
		start, off = kit.Pick(rng, 0, 14, len(f)-1, len(f), 16383), kit.Pick(rng, 0, 20, len(f)-4, len(f)-3, 16383)
	}
	kit.LittleEndian.PutUint16(s[10:], uint16(max(off, 0)))
	kit.LittleEndian.PutUint16(s[12:], uint16(max(start, 0)))
	copy(s[16:], kit.Noise(rng, nicspec.InlineMax))
	copy(s[16:16+s[5]], f)
	copy(f[:s[5]], kit.Noise(rng, int(s[5])))
	if kit.Maybe(rng, 4) { // an entry without a frame
		kit.LittleEndian.PutUint16(s[2:], 0)
		s[6], f = uint8(1+rng.IntN(9)), f[:1]
	}
	return kit.Packet{Side: s, Data: f}
}

// fitting removes the offloads that a frame's headers do not allow, and lets a CRC-32C cover everything behind the
// headers.
func fitting(rng *rand.Rand, q kit.Packet, h *core.Headers) {
	s := q.Side
	udp := h.L4Type == nicspec.L4TypeUdp && !h.L4LenBad
	if h.L3Type != nicspec.L3TypeIpv4 {
		s[7] &^= ofIPCsum
	}
	if !udp {
		s[7] &^= OfUDPCsum | ofUDPZero
	}
	if !h.Roce || !udp || h.UDPLen < 24 {
		s[7] &^= ofICRC
	}
	end := int(kit.LittleEndian.Uint16(s[2:]))
	if s[7]&ofICRC != 0 {
		end = int(s[9]) + int(h.UDPLen) - 4
	}
	start := int(s[9]) + 20 + rng.IntN(3)
	if start+4 >= end {
		s[7] &^= ofCRC32C
		return
	}
	off := end - 4 - rng.IntN(min(4, end-4-start))
	if kit.Maybe(rng, 25) && start+4 < end {
		start, off = start+4, start // the digest lies ahead of the bytes that it covers
	}
	kit.LittleEndian.PutUint16(s[10:], uint16(off))
	kit.LittleEndian.PutUint16(s[12:], uint16(start))
}
