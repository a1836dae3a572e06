package blocks

import (
	"math/rand/v2"

	"nictwin/models/nic/core"
	"nictwin/models/nicspec"
)

var parse = &Block{
	Name: "parse", RTL: "nic_parse.sv", Go: "models/nic/core/parse.go",
	Ops: []Op{{
		Name:    "frame",
		Request: layout(num("roce_port", 2)),
		Result: layout(entry(&nicspec.SteerKeyInfo), num("vlan_count", 1), num("vlan_inner", 2), num("l3_off", 1), num("l4_off", 1),
			num("payload_off", 2), code("l3_type", l3Name), code("l4_type", l4Name), code("ip_csum", verdictName), num("l4_csum_judged", 1),
			num("icrc_judged", 1), num("bth_flags", 1), num("pkey", 2), num("ack_req", 1), num("psn", 3), num("crc_from", 2),
			num("crc_to", 2), num("l4_end", 3), num("pseudo_sum", 5), num("csum_marked", 2), num("trims", 1),
			num("trim_at", 2)),
	}},
	Stimulus: parseStimulus,
	Reference: func() func(Packet) []Packet {
		return func(req Packet) []Packet { return []Packet{parseResult(req.Data, le.Uint16(req.Side))} }
	},
}

func l3Name(v uint64) string { return nicspec.L3Type(v).String() }
func l4Name(v uint64) string { return nicspec.L4Type(v).String() }

func parseStimulus(rng *rand.Rand, n int) (list []Packet) {
	port := uint16(nicspec.ResetRocePort)
	for range n {
		f := frame(rng)
		if maybe(rng, 5) {
			var h core.Headers
			core.Parse(f, nicspec.ResetRocePort, &h)
			port = pick(rng, nicspec.ResetRocePort, nicspec.ResetRocePort, h.DstPort, uint16(rng.Uint32()))
		}
		list = append(list, Packet{Side: le.AppendUint16(nil, port), Data: f})
	}
	return list
}

// parseResult is all that the Go parser finds, and what the checks that follow are told.
func parseResult(f []byte, port uint16) Packet {
	var h core.Headers
	var key [nicspec.SteerKeySize]byte
	core.Parse(f, port, &h)
	h.SteerKey(0, &key)
	b := append(key[:], h.VlanCount)
	b = le.AppendUint16(b, h.VlanInner)
	b = append(b, h.L3Off, h.L4Off)
	b = le.AppendUint16(b, h.PayloadOff)
	b = append(b, uint8(h.L3Type), uint8(h.L4Type), uint8(core.CheckIPCsum(f, &h)),
		flag(core.CheckL4Csum(f, &h) != nicspec.VerdictNotChecked), flag(core.CheckICRC(f, &h) != nicspec.VerdictNotChecked), h.BTHFlags)
	b = le.AppendUint16(b, h.PKey)
	b = append(b, flag(h.AckReq), uint8(h.PSN), uint8(h.PSN>>8), uint8(h.PSN>>16))
	from, to := h.CRC32CRange()
	if from >= to {
		from, to = 0, 0
	}
	b = le.AppendUint16(le.AppendUint16(b, uint16(from)), uint16(to))
	rest := make([]byte, 13)
	if h.L4Type == nicspec.L4TypeUdp {
		putNum(rest[:3], udpEnd(&h))
		putNum(rest[3:8], pseudoWords(f, &h))
	}
	if q := (core.Queue{EcnMode: 1}); h.L3Type == nicspec.L3TypeIpv4 && q.MarksCE(&h) {
		marked := append([]byte(nil), f...)
		core.MarkCE(marked, &h)
		rest[8], rest[9] = marked[h.L3Off+11], marked[h.L3Off+10] // a number, high byte first in the frame
	}
	q := core.Queue{Trim: 1}
	if at := q.Placed(&core.RxVerdict{Headers: h}, nicspec.FrameMax+1); at <= nicspec.FrameMax {
		rest[10] = 1
		le.PutUint16(rest[11:], uint16(at))
	}
	return Packet{Data: append(b, rest...)}
}
