package receive

import (
	"math/rand/v2"

	"nictwin/models/nic/core"
	"nictwin/models/nic/nicspec"
	"nictwin/scenarios/suite/blocks/kit"
)

var ECN = &kit.Block{
	Name: "ecn", RTL: "transmit/nic_ecn.sv", Go: "models/nic/core/ecn.go",
	Ops: []kit.Op{{
		Name: "frame",
		Request: kit.NewLayout(kit.Num("ecn_mode", 1), kit.Num("l3_off", 1), kit.Num("length", 2),
			kit.Num("inline_len", 1), kit.Gap(3),
			kit.Raw("inline", nicspec.InlineMax)),
		Result: kit.NewLayout().WithTail("frame"),
	}},
	Stimulus: ecnStimulus,
	Reference: func() func(kit.Packet) []kit.Packet {
		return func(req kit.Packet) []kit.Packet {
			s := req.Side
			f := append([]byte(nil), req.Data...)
			copy(f[:s[4]], s[8:])
			p := core.TxPlan{ECN: s[0], L3Off: int(s[1]), Length: len(f)}
			f, _ = core.FinishTx(&p, f) // without offloads this cannot fail
			return []kit.Packet{{Data: f}}
		}
	},
}

// ecnStimulus returns frames to be sent, most of them with l3_off at their IP header. Their first bytes may be
// inline data of the entry; the gathered frame then has noise in their place.
func ecnStimulus(rng *rand.Rand, n int) (list []kit.Packet) {
	for range n {
		f := kit.Frame(rng)
		if kit.Maybe(rng, 15) {
			f = f[:1+rng.IntN(len(f))]
		}
		var h core.Headers
		l3 := uint8(rng.Uint32())
		if len(f) >= nicspec.FrameMin && kit.Maybe(rng, 85) {
			core.Parse(f, nicspec.ResetRocePort, &h)
			l3 = h.L3Off
		}
		f, l3 = ecnShifted(rng, f, l3, h.L3Type)
		side := make([]byte, 8+nicspec.InlineMax)
		side[0], side[1], side[4] = uint8(rng.IntN(4)), l3, uint8(rng.IntN(min(len(f), nicspec.InlineMax)+1))
		kit.LittleEndian.PutUint16(side[2:], uint16(len(f)))
		copy(side[8:], kit.Noise(rng, nicspec.InlineMax))
		copy(side[8:8+side[4]], f)
		copy(f[:side[4]], kit.Noise(rng, int(side[4])))
		list = append(list, kit.Packet{Side: side, Data: f})
	}
	return list
}

// ecnShifted moves headers to any offset: some frames begin with other bytes, and some end with their IP header, or
// have it end at the last inspected byte, or a byte before or after.
func ecnShifted(rng *rand.Rand, f []byte, l3 uint8, kind nicspec.L3Type) ([]byte, uint8) {
	shift := 0
	size, ip := map[nicspec.L3Type]int{nicspec.L3TypeIpv4: 20, nicspec.L3TypeIpv6: 40}[kind]
	switch end := int(l3) + size + rng.IntN(3) - 1; {
	case ip && kit.Maybe(rng, 10):
		f = f[:min(len(f), end)]
	case ip && kit.Maybe(rng, 10):
		shift = nicspec.ParseBytes - end
	case kit.Maybe(rng, 15):
		shift = rng.IntN(130)
	}
	if shift <= 0 || len(f)+shift > nicspec.FrameMax || int(l3)+shift > 255 {
		return f, l3
	}
	return append(kit.Noise(rng, shift), f...), l3 + uint8(shift)
}
