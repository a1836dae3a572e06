package blocks

import (
	"math/rand/v2"

	"nictwin/models/nic/core"
	"nictwin/models/nicspec"
)

var crc32c = &Block{
	Name: "crc32c", RTL: "nic_crc32c.sv", Go: "models/nic/core/crc32c.go",
	Ops: []Op{{
		Name:    "frame",
		Request: layout(num("want", 1), num("from", 1), num("upto", 3)),
		Result:  layout(code("verdict", verdictName), num("value", 4)),
	}},
	Stimulus: crc32cStimulus,
	Reference: func() func(Packet) []Packet {
		return func(req Packet) []Packet {
			var h core.Headers
			core.Parse(req.Data, nicspec.ResetRocePort, &h)
			value, v := core.CheckCRC32C(req.Data, &h)
			return []Packet{{Data: le.AppendUint32([]byte{uint8(v)}, value)}}
		}
	},
}

// crc32cStimulus is frames with the range that the parser gives; an end that is the frame's may lie anywhere beyond.
func crc32cStimulus(rng *rand.Rand, n int) (list []Packet) {
	const beyond = 1<<17 - 1
	for range n {
		f := frame(rng)
		var h core.Headers
		core.Parse(f, nicspec.ResetRocePort, &h)
		from, to := h.CRC32CRange()
		if h.Cut { // headers reach beyond the frame, and the range begins where they end
			from, to = len(f)+1+rng.IntN(28), beyond
		}
		if to == len(f) && maybe(rng, 50) {
			to = pick(rng, beyond, to+1+rng.IntN(1000))
		}
		said := []byte{flag(!h.Frag), uint8(from), 0, 0, 0}
		putNum(said[2:], uint64(to))
		list = append(list, Packet{Side: said, Data: f})
	}
	return list
}
