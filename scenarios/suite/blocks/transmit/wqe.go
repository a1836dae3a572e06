package transmit

import (
	"math/rand/v2"

	"nictwin/models/nic/core"
	"nictwin/models/nic/nicspec"
	"nictwin/scenarios/suite/blocks/kit"
)

// Kinds of requests of block wqe.
const (
	wqeEntry = iota
	wqeTable
)

// wqeBlocks is a work entry, with its blocks in ring order. Blocks beyond the number that its first block declares are
// random.
type wqeBlocks struct {
	Op, IsEvent, EcnMode, Queue uint8
	Index                       uint16
	EventStatus                 nicspec.Status
	Pace                        uint8                   // mask of the cycles in which a block may arrive
	Wqe                         [nicspec.WqeBytes]uint8 `entry:"Wqe"`
	More                        [nicspec.WqeBlocksMax - 1][nicspec.WqeBytes]uint8
}

// wqePlan is the expected result.
type wqePlan struct {
	Op                                                      uint8
	Status                                                  nicspec.Status
	Complete, IsEvent, Queue                                uint8
	Index                                                   uint16
	WqeId                                                   uint32
	Length                                                  uint16 // bytes of the frame, without appended ones
	InlineLen, Port, IpCsum, UdpCsum, UdpZero, Icrc, Crc32c uint8
	Ecn, L3Off, L4Off                                       uint8
	CrcOff, CrcStart                                        uint16
	Copies, Invalidates                                     uint8
	CopyLength                                              uint32
	Pieces, Append, Blocks                                  uint8
	_                                                       [4]uint8
	PieceLength                                             [nicspec.SegMax]uint16 // length of each piece of a Send
	Address                                                 [nicspec.SegMax]uint64
	Inline                                                  [nicspec.InlineMaxLong]uint8
}

var Wqe = &kit.Block{
	Name: "wqe", RTL: "workqueues/nic_wqe.sv", Go: "models/nic/core/wqe.go",
	Ops: []kit.Op{
		wqeEntry: {Name: "entry", Request: kit.NewRecord[wqeBlocks](), Result: kit.NewRecord[wqePlan]()},
		wqeTable: kit.TableOp(&nicspec.KeyEntryInfo),
	},
	Stimulus: wqeStimulus,
	Reference: func() func(kit.Packet) []kit.Packet {
		regs := kit.NewRegs()
		return func(req kit.Packet) []kit.Packet {
			if req.Data[0] == wqeTable {
				return []kit.Packet{kit.TableAnswer(regs, req)}
			}
			e := kit.Decode[wqeBlocks](req.Data)
			return []kit.Packet{{Data: kit.Encode(e.plan(regs.Keys()))}}
		}
	},
}

func wqeStimulus(rng *rand.Rand, n int) (list []kit.Packet) {
	k := newKeyring(rng)
	for i := range n {
		if i < 6 || kit.Maybe(rng, 12) {
			list = append(list, k.command(wqeTable))
			continue
		}
		list = append(list, kit.Packet{Data: kit.Encode(k.entry())})
	}
	return list
}

// entry returns a work entry of any number of blocks, valid or with a single fault.
func (k *keyring) entry() wqeBlocks {
	e := kit.Anything[wqeBlocks](k.Rand)
	e.Op, e.IsEvent, e.EcnMode, e.EventStatus, e.Pace = wqeEntry, 0, e.EcnMode&3, 0, kit.Pick[uint8](k.Rand, 0, 0, 1, 7)
	if kit.Maybe(k.Rand, 4) {
		e.IsEvent, e.EventStatus = 1, nicspec.Status(k.Uint32())
	}
	if kit.Maybe(k.Rand, 25) {
		k.copyTo(&e)
		return e
	}
	blocks := kit.Pick(k.Rand, 1, 1, 2, 3, nicspec.WqeBlocksMax)
	slots := nicspec.WqeSlots + nicspec.WqeMoreSlots*(blocks-1)
	f := nicspec.WqeFields{
		Opcode: nicspec.OpcodeSend, Blocks: uint8(blocks - 1), FComplete: kit.Maybe(k.Rand, 50),
		FIpCsum:  kit.Maybe(k.Rand, 30),
		FUdpCsum: kit.Maybe(k.Rand, 30), FIcrc: kit.Maybe(k.Rand, 40), FCrc32c: kit.Maybe(k.Rand, 30),
		FPad: kit.Maybe(k.Rand, 85), WqeId: k.Uint32(),
		L3Off: uint8(k.Uint32()), L4Off: uint8(k.Uint32()), CrcOff: uint16(k.Uint32()),
		CrcStart: uint16(k.Uint32() >> 18),
	}
	f.FUdpZero, f.FAppend = !f.FUdpCsum && kit.Maybe(k.Rand, 30), f.FIcrc && kit.Maybe(k.Rand, 50)
	pieces := kit.Pick(k.Rand, k.IntN(4), k.IntN(nicspec.SegMax+1), nicspec.SegMax)
	pieces = min(pieces, slots)
	room := min(nicspec.WqeSlotBytes*(slots-pieces), nicspec.InlineMaxLong)
	f.Nseg, f.InlineLen = uint8(pieces),
		uint8(kit.Pick(k.Rand, 0, k.IntN(room+1), room&^(nicspec.WqeSlotBytes-1), room))
	k.fault(&f)
	f.Slots = nicspec.DecodeWqe(e.Wqe[:]).Slots
	f.Encode(e.Wqe[:])
	k.pieces(&e, &f, nicspec.FrameMax/uint64(max(1, pieces)), false)
	return e
}

// copyTo makes e an entry of the copy engine.
func (k *keyring) copyTo(e *wqeBlocks) {
	f := nicspec.DecodeWqe(e.Wqe[:])
	f = nicspec.WqeFields{
		Opcode: kit.Pick(k.Rand, nicspec.OpcodeCopy, nicspec.OpcodeInvalidate, nicspec.OpcodeCopyInvalidate), Nseg: 2,
		FComplete: kit.Maybe(k.Rand, 50), WqeId: f.WqeId, Slots: f.Slots,
	}
	if f.FFence = kit.Maybe(k.Rand, 40); f.Opcode == nicspec.OpcodeInvalidate {
		f.Nseg, f.FFence = 1, kit.Maybe(k.Rand, 5)
	}
	k.fault(&f)
	f.Encode(e.Wqe[:])
	k.pieces(e, &f, nicspec.CopyMax, kit.Maybe(k.Rand, 90))
}

// pieces fills in the pieces of an entry with these fields, of at most most bytes each, most of them within their keys.
// If equal is set, all have the same length.
func (k *keyring) pieces(e *wqeBlocks, f *nicspec.WqeFields, most uint64, equal bool) {
	at := (int(f.InlineLen) + nicspec.WqeSlotBytes - 1) / nicspec.WqeSlotBytes
	same := uint32(0)
	for i := at; i < min(at+int(f.Nseg), wqeSlotsMax); i++ {
		word, addr, n := k.piece(most)
		if equal && same != 0 {
			n = same
		}
		same = n
		s := nicspec.SegFields{Key: word, Len: n, Addr: addr}
		if f.Opcode == nicspec.OpcodeInvalidate && kit.Maybe(k.Rand, 90) {
			k.lines(&s)
		}
		k.pieceFault(&s)
		s.Encode(e.slot(i))
	}
}

// wqeSlotsMax is the number of slots of an entry with the most blocks.
const wqeSlotsMax = nicspec.WqeSlots + (nicspec.WqeBlocksMax-1)*nicspec.WqeMoreSlots

// slot returns the i-th 16 bytes for inline data or a piece, counted through all blocks of the entry [T14].
func (e *wqeBlocks) slot(i int) []byte {
	if i < nicspec.WqeSlots {
		return e.Wqe[nicspec.WqeBytes-nicspec.WqeSlotBytes*(nicspec.WqeSlots-i):][:nicspec.WqeSlotBytes]
	}
	i -= nicspec.WqeSlots
	return e.More[i/nicspec.WqeMoreSlots][nicspec.WqeSlotBytes*(i%nicspec.WqeMoreSlots):][:nicspec.WqeSlotBytes]
}

// fault puts a fault into an entry, rarely.
func (k *keyring) fault(f *nicspec.WqeFields) {
	switch k.IntN(80) {
	case 0:
		f.Opcode = nicspec.Opcode(k.Uint32())
	case 1:
		f.Opcode = nicspec.OpcodeNop
	case 2:
		f.FRsvd = 1 << k.IntN(5)
	case 3:
		f.FUdpCsum, f.FUdpZero = true, true
	case 4:
		f.InlineLen = uint8(k.Uint32())
	case 5:
		f.Nseg = uint8(k.IntN(nicspec.SegMax + 3))
	case 6:
		f.Port = uint8(k.IntN(3))
	case 7:
		f.Blocks = uint8(k.IntN(nicspec.WqeBlocksMax))
	case 8:
		f.FFence = !f.FFence
	case 9:
		f.FAppend = !f.FAppend
	case 10:
		f.InlineLen = nicspec.InlineMaxLong + 1
	}
}

// pieceFault puts a fault into a piece, rarely.
func (k *keyring) pieceFault(s *nicspec.SegFields) {
	switch k.IntN(40) {
	case 0:
		s.Len = 0
	case 1:
		s.Key |= 1 << (16 + k.IntN(8))
	case 2:
		s.Len = kit.Pick(k.Rand, k.Uint32(), nicspec.FrameMax, nicspec.FrameMax+1, nicspec.CopyMax, nicspec.CopyMax+1)
	case 3, 4, 5, 6:
		k.lines(s)
	}
}

// lines changes a piece to whole lines of memory, often the last ones of its key's region.
func (k *keyring) lines(s *nicspec.SegFields) {
	f := k.keys[int(s.Key&0xffff)]
	s.Len = max(nicspec.LineBytes, s.Len&^(nicspec.LineBytes-1))
	if kit.Maybe(k.Rand, 75) {
		s.Addr = f.VaBase + f.Length - uint64(s.Len)
	}
	s.Addr -= (f.BusBase + s.Addr - f.VaBase) % nicspec.LineBytes
}

// plan returns the Go NIC's plan of the entry.
func (e *wqeBlocks) plan(keys core.KeyTable) wqePlan {
	r := wqePlan{IsEvent: e.IsEvent, Queue: e.Queue, Index: e.Index}
	if e.IsEvent != 0 { // an Event passes unchanged
		r.Status = e.EventStatus
		return r
	}
	raw := append([]byte(nil), e.Wqe[:]...)
	for i := range e.More {
		raw = append(raw, e.More[i][:]...)
	}
	var p core.TxPlan
	build := nicspec.DefaultBuild()
	core.DecodeWqe(raw, keys, core.LimitsOf(&build), &p)
	r.Status, r.Complete, r.WqeId, r.Blocks = p.Status, kit.Flag(p.Complete), p.ID, uint8(p.Blocks)
	switch {
	case p.Send:
		r.send(&p, e.EcnMode)
	case p.Copy:
		d := &p.Dma
		if r.Copies, r.Invalidates = kit.Flag(d.Len != 0), kit.Flag(d.Lines != 0); d.Len == 0 {
			r.CopyLength, r.Address[0] = d.Lines*nicspec.LineBytes, d.Line
		} else {
			r.CopyLength, r.Address[0] = uint32(d.Len), d.Src
		}
		r.Pieces, r.Address[1] = 1+r.Copies, d.Dst
	}
	return r
}

// send fills in the plan of a frame to be sent.
func (r *wqePlan) send(p *core.TxPlan, ecn uint8) {
	r.Length, r.InlineLen, r.Port, r.Append = uint16(p.Length), uint8(p.InlineLen), uint8(p.Port), kit.Flag(p.Append)
	r.IpCsum, r.UdpCsum, r.UdpZero, r.Icrc, r.Crc32c = kit.Flag(p.IPCsum), kit.Flag(p.UDPCsum), kit.Flag(p.UDPZero),
		kit.Flag(p.ICRC), kit.Flag(p.CRC32C)
	r.Ecn, r.L3Off, r.L4Off = ecn, uint8(p.L3Off), uint8(p.L4Off)
	if p.CRC32C {
		const far = 1<<14 - 1 // largest offset; stands for all beyond any frame
		r.CrcOff, r.CrcStart = uint16(min(p.CrcOff, far)), uint16(min(p.CrcStart, far))
	}
	r.Pieces = uint8(p.NumPieces)
	for i := range p.NumPieces {
		r.PieceLength[i], r.Address[i] = uint16(p.Pieces[i].Len), p.Pieces[i].Bus
	}
	copy(r.Inline[:], p.Inline[:p.InlineLen])
}
