package receive

import (
	"math/rand/v2"

	"nictwin/models/nic/core"
	"nictwin/models/nic/nicspec"
	"nictwin/scenarios/suite/blocks/kit"
)

var CRC32C = &kit.Block{
	Name: "crc32c", RTL: "receive/nic_crc32c.sv", Go: "models/nic/core/crc32c.go",
	Ops: []kit.Op{{
		Name:    "frame",
		Request: kit.NewLayout(kit.Num("want", 1), kit.Num("from", 1), kit.Num("upto", 3)),
		Result:  kit.NewLayout(kit.Code("verdict", kit.VerdictName), kit.Num("value", 4)),
	}},
	Stimulus: crc32cStimulus,
	Reference: func() func(kit.Packet) []kit.Packet {
		return func(req kit.Packet) []kit.Packet {
			var h core.Headers
			core.Parse(req.Data, nicspec.ResetRocePort, &h)
			value, v := core.CheckCRC32C(req.Data, &h)
			return []kit.Packet{{Data: kit.LittleEndian.AppendUint32([]byte{uint8(v)}, value)}}
		}
	},
}

// crc32cStimulus returns frames with the range of bytes to check, as the parser determines it. If the range ends with
// the frame, any end beyond the frame means the same.
func crc32cStimulus(rng *rand.Rand, n int) (list []kit.Packet) {
	const beyond = 1<<17 - 1
	for range n {
		f := kit.Frame(rng)
		var h core.Headers
		core.Parse(f, nicspec.ResetRocePort, &h)
		from, to := h.CRC32CRange()
		if h.Cut { // headers extend beyond the frame, and the range begins where they end
			from, to = len(f)+1+rng.IntN(28), beyond
		}
		if to == len(f) && kit.Maybe(rng, 50) {
			to = kit.Pick(rng, beyond, to+1+rng.IntN(1000))
		}
		side := []byte{kit.Flag(!h.Frag), uint8(from), 0, 0, 0}
		kit.PutNum(side[2:], uint64(to))
		list = append(list, kit.Packet{Side: side, Data: f})
	}
	return list
}
