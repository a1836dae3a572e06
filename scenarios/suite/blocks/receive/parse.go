package receive

import (
	"math/rand/v2"

	"nictwin/models/nic/core"
	"nictwin/models/nic/nicspec"
	"nictwin/scenarios/suite/blocks/kit"
)

var Parse = &kit.Block{
	Name: "parse", RTL: "receive/nic_parse.sv", Go: "models/nic/core/parse.go",
	Ops: []kit.Op{{
		Name:    "frame",
		Request: kit.NewLayout(kit.Num("roce_port", 2)),
		Result: kit.NewLayout(kit.Entry(&nicspec.SteerKeyInfo), kit.Num("vlan_count", 1), kit.Num("vlan_inner", 2),
			kit.Num("l3_off", 1), kit.Num("l4_off", 1),
			kit.Num("payload_off", 2), kit.Code("l3_type", l3Name), kit.Code("l4_type", l4Name),
			kit.Code("ip_csum", kit.VerdictName), kit.Num("l4_csum_judged", 1),
			kit.Num("icrc_judged", 1), kit.Num("bth_flags", 1), kit.Num("pkey", 2), kit.Num("ack_req", 1),
			kit.Num("psn", 3), kit.Num("crc_from", 2),
			kit.Num("crc_to", 2), kit.Num("l4_end", 3), kit.Num("pseudo_sum", 5), kit.Num("csum_marked", 2),
			kit.Num("trims", 1),
			kit.Num("trim_at", 2)),
	}},
	Stimulus: parseStimulus,
	Reference: func() func(kit.Packet) []kit.Packet {
		return func(req kit.Packet) []kit.Packet {
			return []kit.Packet{parseResult(req.Data, kit.LittleEndian.Uint16(req.Side))}
		}
	},
}

func l3Name(v uint64) string { return nicspec.L3Type(v).String() }
func l4Name(v uint64) string { return nicspec.L4Type(v).String() }

func parseStimulus(rng *rand.Rand, n int) (list []kit.Packet) {
	port := uint16(nicspec.ResetRocePort)
	for range n {
		f := kit.Frame(rng)
		if kit.Maybe(rng, 5) {
			var h core.Headers
			core.Parse(f, nicspec.ResetRocePort, &h)
			port = kit.Pick(rng, nicspec.ResetRocePort, nicspec.ResetRocePort, h.DstPort, uint16(rng.Uint32()))
		}
		list = append(list, kit.Packet{Side: kit.LittleEndian.AppendUint16(nil, port), Data: f})
	}
	return list
}

// parseResult encodes all that the Go parser finds, including the inputs of the checks that follow.
func parseResult(f []byte, port uint16) kit.Packet {
	var h core.Headers
	var key [nicspec.SteerKeySize]byte
	core.Parse(f, port, &h)
	h.SteerKey(0, &key)
	b := append(key[:], h.VlanCount)
	b = kit.LittleEndian.AppendUint16(b, h.VlanInner)
	b = append(b, h.L3Off, h.L4Off)
	b = kit.LittleEndian.AppendUint16(b, h.PayloadOff)
	b = append(b, uint8(h.L3Type), uint8(h.L4Type), uint8(core.CheckIPCsum(f, &h)),
		kit.Flag(core.CheckL4Csum(f, &h) != nicspec.VerdictNotChecked),
		kit.Flag(core.CheckICRC(f, &h) != nicspec.VerdictNotChecked), h.BTHFlags)
	b = kit.LittleEndian.AppendUint16(b, h.PKey)
	b = append(b, kit.Flag(h.AckReq), uint8(h.PSN), uint8(h.PSN>>8), uint8(h.PSN>>16))
	from, to := h.CRC32CRange()
	if from >= to {
		from, to = 0, 0
	}
	b = kit.LittleEndian.AppendUint16(kit.LittleEndian.AppendUint16(b, uint16(from)), uint16(to))
	rest := make([]byte, 13)
	if h.L4Type == nicspec.L4TypeUdp {
		kit.PutNum(rest[:3], udpEnd(&h))
		kit.PutNum(rest[3:8], pseudoWords(f, &h))
	}
	if q := (core.Queue{EcnMode: 1}); h.L3Type == nicspec.L3TypeIpv4 && q.MarksCE(&h) {
		marked := append([]byte(nil), f...)
		core.MarkCE(marked, &h)
		rest[8], rest[9] = marked[h.L3Off+11], marked[h.L3Off+10] // big-endian in the frame
	}
	q := core.Queue{Trim: 1}
	if at := q.Placed(&core.RxVerdict{Headers: h}, nicspec.FrameMax+1); at <= nicspec.FrameMax {
		rest[10] = 1
		kit.LittleEndian.PutUint16(rest[11:], uint16(at))
	}
	return kit.Packet{Data: append(b, rest...)}
}
