package receive

import (
	"math/rand/v2"

	"nictwin/models/nic/core"
	"nictwin/models/nic/nicspec"
	"nictwin/scenarios/suite/blocks/kit"
	"nictwin/scenarios/traffic/craft"
)

var Csum = &kit.Block{
	Name: "csum", RTL: "receive/nic_csum.sv", Go: "models/nic/core/csum.go",
	Ops: []kit.Op{{
		Name: "frame",
		Request: kit.NewLayout(kit.Num("want", 1), kit.Num("judge", 1), kit.Num("from", 1), kit.Num("upto", 3),
			kit.Num("pseudo", 5)),
		Result: kit.NewLayout(kit.Num("judged", 1), kit.Num("ok", 1)),
	}},
	Stimulus: csumStimulus,
	Reference: func() func(kit.Packet) []kit.Packet {
		return func(req kit.Packet) []kit.Packet {
			var h core.Headers
			core.Parse(req.Data, nicspec.ResetRocePort, &h)
			v := core.CheckL4Csum(req.Data, &h)
			return []kit.Packet{{Data: []byte{kit.Flag(v != nicspec.VerdictNotChecked),
				kit.Flag(v == nicspec.VerdictOk)}}}
		}
	},
}

// csumStimulus returns frames with the parser's results: offset and end of the datagram, and the sum of its pseudo
// header, whose words are in the byte order of memory.
func csumStimulus(rng *rand.Rand, n int) (list []kit.Packet) {
	for range n {
		f := kit.Frame(rng)
		var h core.Headers
		core.Parse(f, nicspec.ResetRocePort, &h)
		side := make([]byte, 11)
		if h.L4Type == nicspec.L4TypeUdp {
			side[0], side[1], side[2] = kit.Flag(!h.Frag && kit.LittleEndian.Uint16(f[h.L4Off+6:]) != 0),
				kit.Flag(!h.L4LenBad), h.L4Off
			kit.PutNum(side[3:6], udpEnd(&h))
			kit.PutNum(side[6:11], pseudoWords(f, &h))
		}
		list = append(list, kit.Packet{Side: side, Data: f})
	}
	return list
}

// udpEnd returns the offset of the first byte after a datagram.
func udpEnd(h *core.Headers) uint64 { return uint64(h.L4Off) + uint64(h.UDPLen) }

// pseudoWords returns the sum of the words of a datagram's pseudo header as they lie in memory.
func pseudoWords(f []byte, h *core.Headers) uint64 {
	sum := uint64(craft.ProtoUDP)<<8 + uint64(kit.LittleEndian.Uint16(f[h.L4Off+4:]))
	for i := 0; i < len(h.Src); i += 4 {
		sum += uint64(kit.LittleEndian.Uint32(h.Src[i:])) + uint64(kit.LittleEndian.Uint32(h.Dst[i:]))
	}
	return sum
}
