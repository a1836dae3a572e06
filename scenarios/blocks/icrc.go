package blocks

import (
	"math/rand/v2"

	"nictwin/models/nic/core"
	"nictwin/models/nicspec"
)

var icrc = &Block{
	Name: "icrc", RTL: "nic_icrc.sv", Go: "models/nic/core/csum.go",
	Ops: []Op{{
		Name:    "frame",
		Request: layout(num("want", 1), num("judge", 1), num("ipv6", 1), num("l3_off", 1), num("l4_off", 1), num("upto", 3)),
		Result:  layout(num("judged", 1), num("ok", 1)),
	}},
	Stimulus: icrcStimulus,
	Reference: func() func(Packet) []Packet {
		return func(req Packet) []Packet {
			var h core.Headers
			core.Parse(req.Data, nicspec.ResetRocePort, &h)
			v := core.CheckICRC(req.Data, &h)
			return []Packet{{Data: []byte{flag(v != nicspec.VerdictNotChecked), flag(v == nicspec.VerdictOk)}}}
		}
	},
}

// icrcStimulus is frames with what the parser says of them.
func icrcStimulus(rng *rand.Rand, n int) (list []Packet) {
	const least = 24 // UDP, BTH, ICRC
	for range n {
		f := frame(rng)
		var h core.Headers
		core.Parse(f, nicspec.ResetRocePort, &h)
		said := make([]byte, 8)
		if h.L4Type == nicspec.L4TypeUdp {
			said[0], said[1] = flag(h.Roce && h.UDPLen >= least && !h.Frag), flag(!h.L4LenBad)
			said[2], said[3], said[4] = flag(h.L3Type == nicspec.L3TypeIpv6), h.L3Off, h.L4Off
			putNum(said[5:], udpEnd(&h))
		}
		list = append(list, Packet{Side: said, Data: f})
	}
	return list
}
