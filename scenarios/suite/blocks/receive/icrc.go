package receive

import (
	"math/rand/v2"

	"nictwin/models/nic/core"
	"nictwin/models/nic/nicspec"
	"nictwin/scenarios/suite/blocks/kit"
)

var ICRC = &kit.Block{
	Name: "icrc", RTL: "receive/nic_icrc.sv", Go: "models/nic/core/icrc.go",
	Ops: []kit.Op{{
		Name: "frame",
		Request: kit.NewLayout(kit.Num("want", 1), kit.Num("judge", 1), kit.Num("ipv6", 1), kit.Num("l3_off", 1),
			kit.Num("l4_off", 1), kit.Num("upto", 3)),
		Result: kit.NewLayout(kit.Num("judged", 1), kit.Num("ok", 1)),
	}},
	Stimulus: icrcStimulus,
	Reference: func() func(kit.Packet) []kit.Packet {
		return func(req kit.Packet) []kit.Packet {
			var h core.Headers
			core.Parse(req.Data, nicspec.ResetRocePort, &h)
			v := core.CheckICRC(req.Data, &h)
			return []kit.Packet{{Data: []byte{kit.Flag(v != nicspec.VerdictNotChecked),
				kit.Flag(v == nicspec.VerdictOk)}}}
		}
	},
}

// icrcStimulus returns frames with the parser's results.
func icrcStimulus(rng *rand.Rand, n int) (list []kit.Packet) {
	const least = 24 // bytes of a UDP header, BTH and ICRC
	for range n {
		f := kit.Frame(rng)
		var h core.Headers
		core.Parse(f, nicspec.ResetRocePort, &h)
		side := make([]byte, 8)
		if h.L4Type == nicspec.L4TypeUdp {
			side[0], side[1] = kit.Flag(h.Roce && h.UDPLen >= least && !h.Frag), kit.Flag(!h.L4LenBad)
			side[2], side[3], side[4] = kit.Flag(h.L3Type == nicspec.L3TypeIpv6), h.L3Off, h.L4Off
			kit.PutNum(side[5:], udpEnd(&h))
		}
		list = append(list, kit.Packet{Side: side, Data: f})
	}
	return list
}
