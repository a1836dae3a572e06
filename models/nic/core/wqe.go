package core

import (
	"nictwin/models/nic/dma"
	"nictwin/models/nic/nicspec"
)

// TxLimits holds the properties of a build that the checks of a work entry need.
type TxLimits struct {
	Ports int
	Parts nicspec.Cap1Reg
}

// LimitsOf returns the TxLimits of b.
func LimitsOf(b *nicspec.Build) TxLimits { return TxLimits{Ports: b.Ports, Parts: b.Parts} }

// TxPiece is a piece of a frame that is read from memory.
type TxPiece struct {
	Bus uint64 // bus address [T4]
	Len int    // bytes, > 0
	Off int    // offset in the frame
}

// TxPlan is a decoded work entry.
type TxPlan struct {
	Status   nicspec.Status // first failed check of [T3], or StatusOk
	Send     bool           // send a frame: Status is Ok and the opcode Send
	Copy     bool           // carry out the plan in field Dma: Status is Ok and the opcode is one of the copy engine's
	Complete bool           // f_complete
	ID       uint32         // wqe_id
	Blocks   int            // number of blocks of the entry, whatever its status [T14]
	Port     int
	Length   int // bytes gathered, before anything is appended; L in [T3]

	Inline    [nicspec.InlineMaxLong]byte
	InlineLen int
	Pieces    [nicspec.SegMax]TxPiece // the first NumPieces are valid
	NumPieces int

	IPCsum, UDPCsum, UDPZero, ICRC, Pad bool
	Append                              bool // f_append: append pad bytes and the ICRC [T15]
	L3Off, L4Off                        int

	CRC32C           bool // f_crc32c
	CrcStart, CrcOff int
	ECN              uint8 // ecn_mode of the queue, set by the caller [E2]

	Dma dma.Plan
}

// Room returns the buffer size that FinishTx needs for the frame.
func (p *TxPlan) Room() int {
	n := p.Length
	if p.Append {
		n += nicspec.AppendMax
	}
	return max(n, nicspec.FrameMin)
}

// DecodeWqe checks a work entry and decodes it into a plan [T3], [T4], [T14], [D1]. raw has at
// least WqeBlocks blocks.
func DecodeWqe(raw WorkEntry, keys KeyTable, lim TxLimits, p *TxPlan) {
	*p = TxPlan{Blocks: WqeBlocks(raw, lim.Parts)}
	raw = raw[:p.Blocks*nicspec.WqeBytes]
	w := nicspec.Wqe(raw)
	p.Complete, p.ID = w.FComplete(), w.WqeId()
	switch op := w.Opcode(); {
	case op == nicspec.OpcodeNop:
		return
	case op == nicspec.OpcodeSend:
	case dma.Handles(op) && lim.Parts&nicspec.PartCopy != 0:
		p.Status = dma.Decode(w, lim.Parts, keys, &p.Dma)
		p.Copy = p.Status == nicspec.StatusOk
		return
	default:
		p.Status = nicspec.StatusBadOpcode
		return
	}
	p.Port = int(w.Port())
	p.InlineLen = int(w.InlineLen())
	p.L3Off, p.L4Off = int(w.L3Off()), int(w.L4Off())
	p.IPCsum, p.UDPCsum, p.UDPZero = w.FIpCsum(), w.FUdpCsum(), w.FUdpZero()
	p.ICRC, p.Pad, p.Append = w.FIcrc(), w.FPad(), w.FAppend()
	if p.CRC32C = w.FCrc32c(); p.CRC32C {
		p.CrcStart, p.CrcOff = int(w.CrcStart()), int(w.CrcOff())
	}
	if p.Status = p.check(raw, keys, lim); p.Status != nicspec.StatusOk {
		return
	}
	p.Send = true
	copy(p.Inline[:], raw.Inline(p.InlineLen))
}

// formatted checks the conditions of [T3] on a Send that fail with BadFormat, except those on its pieces.
func (p *TxPlan) formatted(raw WorkEntry, lim TxLimits) bool {
	w := nicspec.Wqe(raw)
	switch {
	case w.FRsvd() != 0, w.FFence(), w.FUdpCsum() && w.FUdpZero(), w.FAppend() && !w.FIcrc():
		return false
	case w.FAppend() && lim.Parts&nicspec.PartAppend == 0, w.Blocks() != 0 && lim.Parts&nicspec.PartLong == 0:
		return false // the build lacks the optional part [N1]
	}
	nseg := int(w.Nseg())
	return p.InlineLen <= nicspec.InlineMaxLong && nseg <= nicspec.SegMax && p.inlineSlots()+nseg <= raw.Slots() &&
		p.Port < lim.Ports
}

// inlineSlots returns the number of slots that the inline bytes take.
func (p *TxPlan) inlineSlots() int {
	return (p.InlineLen + nicspec.WqeSlotBytes - 1) / nicspec.WqeSlotBytes
}

// lengthFits checks the conditions of [T3] that fail with BadLength, for n bytes gathered.
func (p *TxPlan) lengthFits(n int) bool {
	least, most := nicspec.FrameMin, nicspec.FrameMax
	if p.Append {
		least, most = least-icrcBytes, most-nicspec.AppendMax
	}
	if p.Pad {
		least = 1
	}
	return n >= least && n <= most
}

// check applies [T3] for Send and fills in the pieces.
func (p *TxPlan) check(raw WorkEntry, keys KeyTable, lim TxLimits) nicspec.Status {
	w := nicspec.Wqe(raw)
	if !p.formatted(raw, lim) {
		return nicspec.StatusBadFormat
	}
	first, nseg := p.inlineSlots(), int(w.Nseg())
	length := p.InlineLen
	for i := range nseg {
		s := raw.Seg(first + i)
		if s.Len() == 0 || s.Key()&keyReservedMask != 0 {
			return nicspec.StatusBadFormat
		}
		length += int(s.Len())
	}
	if !p.lengthFits(length) {
		return nicspec.StatusBadLength
	}
	p.Length = length
	off := p.InlineLen
	for i := range nseg {
		s := raw.Seg(first + i)
		bus, status := keys.Translate(s.Key(), s.Addr(), s.Len())
		if status != nicspec.StatusOk {
			return status
		}
		p.Pieces[i] = TxPiece{Bus: bus, Len: int(s.Len()), Off: off}
		p.NumPieces = i + 1
		off += int(s.Len())
	}
	if w.FCrc32c() && lim.Parts&nicspec.PartCrc32c == 0 {
		return nicspec.StatusBadOffload
	}
	return nicspec.StatusOk
}

// PieceOf returns the piece that the frame's byte at offset `off` comes from, or nil for an inline or
// appended byte.
func (p *TxPlan) PieceOf(off int) *TxPiece {
	for i := range p.NumPieces {
		if s := &p.Pieces[i]; off >= s.Off && off < s.Off+s.Len {
			return s
		}
	}
	return nil
}
