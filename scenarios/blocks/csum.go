package blocks

import (
	"math/rand/v2"

	"nictwin/models/nic/core"
	"nictwin/models/nicspec"
	"nictwin/scenarios/traffic/craft"
)

var csum = &Block{
	Name: "csum", RTL: "nic_csum.sv", Go: "models/nic/core/csum.go",
	Ops: []Op{{
		Name:    "frame",
		Request: layout(num("want", 1), num("judge", 1), num("from", 1), num("upto", 3), num("pseudo", 5)),
		Result:  layout(num("judged", 1), num("ok", 1)),
	}},
	Stimulus: csumStimulus,
	Reference: func() func(Packet) []Packet {
		return func(req Packet) []Packet {
			var h core.Headers
			core.Parse(req.Data, nicspec.ResetRocePort, &h)
			v := core.CheckL4Csum(req.Data, &h)
			return []Packet{{Data: []byte{flag(v != nicspec.VerdictNotChecked), flag(v == nicspec.VerdictOk)}}}
		}
	},
}

// csumStimulus is frames with what the parser says of them: where the datagram stands and what its pseudo header adds
// up to, in words as they lie in memory.
func csumStimulus(rng *rand.Rand, n int) (list []Packet) {
	for range n {
		f := frame(rng)
		var h core.Headers
		core.Parse(f, nicspec.ResetRocePort, &h)
		said := make([]byte, 11)
		if h.L4Type == nicspec.L4TypeUdp {
			said[0], said[1], said[2] = flag(!h.Frag && le.Uint16(f[h.L4Off+6:]) != 0), flag(!h.L4LenBad), h.L4Off
			putNum(said[3:6], udpEnd(&h))
			putNum(said[6:11], pseudoWords(f, &h))
		}
		list = append(list, Packet{Side: said, Data: f})
	}
	return list
}

// udpEnd is the first byte after a datagram.
func udpEnd(h *core.Headers) uint64 { return uint64(h.L4Off) + uint64(h.UDPLen) }

// pseudoWords is the sum of the words of a datagram's pseudo header as they lie in memory.
func pseudoWords(f []byte, h *core.Headers) uint64 {
	sum := uint64(craft.ProtoUDP)<<8 + uint64(le.Uint16(f[h.L4Off+4:]))
	for i := 0; i < len(h.Src); i += 4 {
		sum += uint64(le.Uint32(h.Src[i:])) + uint64(le.Uint32(h.Dst[i:]))
	}
	return sum
}

// putNum writes a little-endian number into all of b.
func putNum(b []byte, v uint64) {
	for i := range b {
		b[i] = byte(v >> (8 * i))
	}
}
