package blocks

import (
	"math/rand/v2"

	"nictwin/models/nic/core"
	"nictwin/models/nicspec"
)

var ecn = &Block{
	Name: "ecn", RTL: "nic_ecn.sv", Go: "models/nic/core/ecn.go",
	Ops: []Op{{
		Name: "frame",
		Request: layout(num("ecn_mode", 1), num("l3_off", 1), num("length", 2), num("inline_len", 1), gap(3),
			raw("inline", nicspec.InlineMax)),
		Result: layout().withTail("frame"),
	}},
	Stimulus: ecnStimulus,
	Reference: func() func(Packet) []Packet {
		return func(req Packet) []Packet {
			s := req.Side
			f := append([]byte(nil), req.Data...)
			copy(f[:s[4]], s[8:])
			p := core.TxPlan{ECN: s[0], L3Off: int(s[1]), Length: len(f)}
			f, _ = core.FinishTx(&p, f) // without offloads nothing can be wrong
			return []Packet{{Data: f}}
		}
	},
}

// ecnStimulus is frames to be sent, most of them with l3_off at their IP header. Their first bytes may be inline: what
// was gathered has something else in their place.
func ecnStimulus(rng *rand.Rand, n int) (list []Packet) {
	for range n {
		f := frame(rng)
		if maybe(rng, 15) {
			f = f[:1+rng.IntN(len(f))]
		}
		var h core.Headers
		l3 := uint8(rng.Uint32())
		if len(f) >= nicspec.FrameMin && maybe(rng, 85) {
			core.Parse(f, nicspec.ResetRocePort, &h)
			l3 = h.L3Off
		}
		f, l3 = ecnShifted(rng, f, l3, h.L3Type)
		said := make([]byte, 8+nicspec.InlineMax)
		said[0], said[1], said[4] = uint8(rng.IntN(4)), l3, uint8(rng.IntN(min(len(f), nicspec.InlineMax)+1))
		le.PutUint16(said[2:], uint16(len(f)))
		copy(said[8:], noise(rng, nicspec.InlineMax))
		copy(said[8:8+said[4]], f)
		copy(f[:said[4]], noise(rng, int(said[4])))
		list = append(list, Packet{Side: said, Data: f})
	}
	return list
}

// ecnShifted has headers at any place: some frames begin with other bytes, and some end with their IP header, or have it end
// with the bytes that are looked at, or a byte beside.
func ecnShifted(rng *rand.Rand, f []byte, l3 uint8, kind nicspec.L3Type) ([]byte, uint8) {
	shift := 0
	size, ip := map[nicspec.L3Type]int{nicspec.L3TypeIpv4: 20, nicspec.L3TypeIpv6: 40}[kind]
	switch end := int(l3) + size + rng.IntN(3) - 1; {
	case ip && maybe(rng, 10):
		f = f[:min(len(f), end)]
	case ip && maybe(rng, 10):
		shift = nicspec.ParseBytes - end
	case maybe(rng, 15):
		shift = rng.IntN(130)
	}
	if shift <= 0 || len(f)+shift > nicspec.FrameMax || int(l3)+shift > 255 {
		return f, l3
	}
	return append(noise(rng, shift), f...), l3 + uint8(shift)
}
