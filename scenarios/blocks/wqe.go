package blocks

import (
	"math/rand/v2"

	"nictwin/models/nic/core"
	"nictwin/models/nicspec"
)

// Requests of wqe.
const (
	wqeEntry = iota
	wqeTable
)

var wqe = &Block{
	Name: "wqe", RTL: "nic_wqe.sv", Go: "models/nic/core/wqe.go",
	Ops: []Op{
		wqeEntry: {
			Name: "entry",
			Request: layout(num("op", 1), num("is_event", 1), num("ecn_mode", 1), num("queue", 1), num("index", 2), code("event_status", statusName),
				gap(1), entry(&nicspec.WqeInfo)),
			Result: layout(num("op", 1), code("status", statusName), num("complete", 1), num("is_event", 1), num("queue", 1), num("index", 2),
				num("wqe_id", 4), num("length", 2), num("inline_len", 1), num("port", 1), num("ip_csum", 1), num("udp_csum", 1),
				num("udp_zero", 1), num("icrc", 1), num("crc32c", 1), num("ecn", 1), num("l3_off", 1), num("l4_off", 1), num("crc_off", 2),
				num("crc_start", 2), num("copies", 1), num("invalidates", 1), num("copy_length", 4), num("pieces", 1), num("length_0", 2),
				num("length_1", 2), num("length_2", 2), num("address_0", 8), num("address_1", 8), num("address_2", 8),
				raw("inline", nicspec.InlineMax)),
		},
		wqeTable: tableOp(&nicspec.KeyEntryInfo),
	},
	Stimulus: wqeStimulus,
	Reference: func() func(Packet) []Packet {
		regs := newRegs()
		return func(req Packet) []Packet {
			if req.Data[0] == wqeTable {
				return []Packet{tableAnswer(regs, req)}
			}
			return []Packet{wqeResult(regs.Keys(), req.Data)}
		}
	},
}

func wqeStimulus(rng *rand.Rand, n int) (list []Packet) {
	k := newKeyring(rng)
	for i := range n {
		if i < 6 || maybe(rng, 12) {
			list = append(list, k.command(wqeTable))
			continue
		}
		head := []byte{wqeEntry, 0, uint8(rng.IntN(4)), uint8(rng.Uint32()), uint8(rng.Uint32()), uint8(rng.Uint32()), 0, 0}
		if maybe(rng, 4) {
			head[1], head[6] = 1, uint8(rng.Uint32())
		}
		list = append(list, Packet{Data: append(head, k.entry()...)})
	}
	return list
}

// entry is a work entry, sound but for a fault or none.
func (k *keyring) entry() []byte {
	f := nicspec.WqeFields{
		Opcode: nicspec.OpcodeSend, Nseg: uint8(k.IntN(4)), FComplete: maybe(k.Rand, 50), FIpCsum: maybe(k.Rand, 30), FUdpCsum: maybe(k.Rand, 30),
		FIcrc: maybe(k.Rand, 30), FCrc32c: maybe(k.Rand, 30), FPad: maybe(k.Rand, 85), WqeId: k.Uint32(), L3Off: uint8(k.Uint32()),
		L4Off: uint8(k.Uint32()), CrcOff: uint16(k.Uint32()), CrcStart: uint16(k.Uint32() >> 18),
	}
	f.FUdpZero = !f.FUdpCsum && maybe(k.Rand, 30)
	f.InlineLen = uint8(pick(k.Rand, 0, k.IntN(16*(3-int(f.Nseg))+1), 16*k.IntN(4-int(f.Nseg))))
	copy(f.Slots[:], noise(k.Rand, len(f.Slots)))
	most, equal := uint64(nicspec.FrameMax/3), false
	if maybe(k.Rand, 25) {
		f = nicspec.WqeFields{
			Opcode: pick(k.Rand, nicspec.OpcodeCopy, nicspec.OpcodeInvalidate, nicspec.OpcodeCopyInvalidate), Nseg: 2,
			FComplete: f.FComplete, WqeId: f.WqeId, Slots: f.Slots,
		}
		if f.Opcode == nicspec.OpcodeInvalidate {
			f.Nseg = 1
		}
		most, equal = nicspec.CopyMax, maybe(k.Rand, 90)
	}
	k.fault(&f)
	at := (int(f.InlineLen) + nicspec.WqeSlotBytes - 1) / nicspec.WqeSlotBytes
	same := uint32(0)
	for i := at; i < min(at+int(f.Nseg), nicspec.WqeSlots); i++ {
		word, addr, n := k.piece(most)
		if equal && same != 0 {
			n = same
		}
		same = n
		s := nicspec.SegFields{Key: word, Len: n, Addr: addr}
		if f.Opcode == nicspec.OpcodeInvalidate && maybe(k.Rand, 90) {
			k.lines(&s)
		}
		k.pieceFault(&s)
		s.Encode(f.Slots[nicspec.WqeSlotBytes*i:])
	}
	b := make([]byte, nicspec.WqeBytes)
	f.Encode(b)
	return b
}

// fault puts something wrong into an entry, seldom.
func (k *keyring) fault(f *nicspec.WqeFields) {
	switch k.IntN(60) {
	case 0:
		f.Opcode = nicspec.Opcode(k.Uint32())
	case 1:
		f.Opcode = nicspec.OpcodeNop
	case 2:
		f.FRsvd = 1 << k.IntN(9)
	case 3:
		f.FUdpCsum, f.FUdpZero = true, true
	case 4:
		f.InlineLen = uint8(k.Uint32())
	case 5:
		f.Nseg = uint8(k.IntN(6))
	case 6:
		f.Port = uint8(k.IntN(3))
	}
}

// pieceFault does so for a piece.
func (k *keyring) pieceFault(s *nicspec.SegFields) {
	switch k.IntN(40) {
	case 0:
		s.Len = 0
	case 1:
		s.Key |= 1 << (16 + k.IntN(8))
	case 2:
		s.Len = pick(k.Rand, k.Uint32(), nicspec.FrameMax, nicspec.FrameMax+1, nicspec.CopyMax, nicspec.CopyMax+1)
	case 3, 4, 5, 6:
		k.lines(s)
	}
}

// lines makes a piece whole lines of memory, the last ones of its key often.
func (k *keyring) lines(s *nicspec.SegFields) {
	f := k.keys[int(s.Key&0xffff)]
	s.Len = max(nicspec.LineBytes, s.Len&^(nicspec.LineBytes-1))
	if maybe(k.Rand, 75) {
		s.Addr = f.VaBase + f.Length - uint64(s.Len)
	}
	s.Addr -= (f.BusBase + s.Addr - f.VaBase) % nicspec.LineBytes
}

// wqeResult is what the Go NIC makes of an entry.
func wqeResult(keys core.KeyTable, b []byte) Packet {
	r := make([]byte, 112)
	r[3], r[4], r[5], r[6] = b[1], b[3], b[4], b[5]
	if b[1] != 0 { // an Event passes as it is
		r[1] = b[6]
		return Packet{Data: r}
	}
	var p core.TxPlan
	build := nicspec.DefaultBuild()
	var raw [nicspec.WqeBlocksMax * nicspec.WqeBytes]byte
	copy(raw[:], b[8:8+nicspec.WqeBytes])
	core.DecodeWqe(raw[:], keys, core.LimitsOf(&build), &p)
	r[1], r[2] = uint8(p.Status), flag(p.Complete)
	le.PutUint32(r[7:], p.ID)
	switch {
	case p.Send:
		sendResult(r, &p, b[2])
	case p.Copy:
		d := &p.Dma
		length, from := uint32(d.Len), d.Src
		if r[27], r[28] = flag(d.Len != 0), flag(d.Lines != 0); d.Len == 0 {
			length, from = d.Lines*nicspec.LineBytes, d.Line
		}
		le.PutUint32(r[29:], length)
		r[33] = 1 + r[27]
		le.PutUint64(r[40:], from)
		le.PutUint64(r[48:], d.Dst)
	}
	return Packet{Data: r}
}

// sendResult fills in what is to be sent.
func sendResult(r []byte, p *core.TxPlan, ecn uint8) {
	le.PutUint16(r[11:], uint16(p.Length))
	copy(r[13:], []byte{uint8(p.InlineLen), uint8(p.Port), flag(p.IPCsum), flag(p.UDPCsum), flag(p.UDPZero), flag(p.ICRC), flag(p.CRC32C),
		ecn, uint8(p.L3Off), uint8(p.L4Off)})
	if p.CRC32C {
		const far = 1<<14 - 1 // stands for all offsets that no frame has
		le.PutUint16(r[23:], uint16(min(p.CrcOff, far)))
		le.PutUint16(r[25:], uint16(min(p.CrcStart, far)))
	}
	r[33] = uint8(p.NumPieces)
	for i := range p.NumPieces {
		le.PutUint16(r[34+2*i:], uint16(p.Pieces[i].Len))
		le.PutUint64(r[40+8*i:], p.Pieces[i].Bus)
	}
	copy(r[64:], p.Inline[:p.InlineLen])
}
