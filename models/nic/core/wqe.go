package core

import (
	"nictwin/models/dma"
	"nictwin/models/nicspec"
)

// TxLimits is what the checks of a work entry need to know of the build.
type TxLimits struct {
	Ports int
	Parts nicspec.Cap1Reg
}

// LimitsOf returns what the checks of a work entry need to know of b.
func LimitsOf(b *nicspec.Build) TxLimits { return TxLimits{Ports: b.Ports, Parts: b.Parts} }

// TxPiece is a piece of a frame that is read from memory.
type TxPiece struct {
	Bus uint64 // bus address [T4]
	Len int    // bytes, > 0
	Off int    // where they stand in the frame
}

// TxPlan is what a work entry asks for.
type TxPlan struct {
	Status   nicspec.Status // StatusOk, or the first check of [T3] that failed
	Send     bool           // a frame is to leave: Status is Ok and the opcode Send
	Copy     bool           // Dma is to be done: Status is Ok and the opcode the copy engine's
	Complete bool           // f_complete
	ID       uint32         // wqe_id
	Port     int
	Length   int // of the frame before padding [T3: L]

	Inline    [nicspec.InlineMax]byte
	InlineLen int
	Pieces    [nicspec.WqeSlots]TxPiece // the first NumPieces
	NumPieces int

	IPCsum, UDPCsum, UDPZero, ICRC, Pad bool
	L3Off, L4Off                        int

	CRC32C           bool // f_crc32c
	CrcStart, CrcOff int
	ECN              uint8 // ecn_mode of the queue, for the caller to set [E2]

	Dma dma.Plan
}

// DecodeWqe is [T3], [T4] and [D1]: it checks a work entry and says what to
// gather or copy.
func DecodeWqe(raw *[nicspec.WqeBytes]byte, keys KeyTable, lim TxLimits, p *TxPlan) {
	*p = TxPlan{}
	w := nicspec.Wqe(raw[:])
	p.Complete, p.ID = w.FComplete(), w.WqeId()
	switch op := w.Opcode(); {
	case op == nicspec.OpcodeNop:
		return
	case op == nicspec.OpcodeSend:
	case dma.Of(op) && lim.Parts&nicspec.PartCopy != 0:
		p.Status = dma.Decode(raw, keys, &p.Dma)
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
	p.ICRC, p.Pad = w.FIcrc(), w.FPad()
	if p.CRC32C = w.FCrc32c(); p.CRC32C {
		p.CrcStart, p.CrcOff = int(w.CrcStart()), int(w.CrcOff())
	}
	if p.Status = p.check(w, keys, lim); p.Status != nicspec.StatusOk {
		return
	}
	p.Send = true
	copy(p.Inline[:p.InlineLen], raw[wqeSlotsOff:])
}

const wqeSlotsOff = nicspec.WqeBytes - nicspec.WqeSlots*nicspec.WqeSlotBytes

// check goes through [T3] for Send, and fills in the pieces.
func (p *TxPlan) check(w nicspec.Wqe, keys KeyTable, lim TxLimits) nicspec.Status {
	inlineSlots := (p.InlineLen + nicspec.WqeSlotBytes - 1) / nicspec.WqeSlotBytes
	nseg := int(w.Nseg())
	if w.FRsvd() != 0 || w.FUdpCsum() && w.FUdpZero() || p.InlineLen > nicspec.InlineMax ||
		nseg > nicspec.WqeSlots || inlineSlots+nseg > nicspec.WqeSlots || p.Port >= lim.Ports {
		return nicspec.StatusBadFormat
	}
	slots := w[wqeSlotsOff+inlineSlots*nicspec.WqeSlotBytes:]
	length := p.InlineLen
	for i := range nseg {
		s := nicspec.Seg(slots[i*nicspec.SegSize:])
		if s.Len() == 0 || s.Key()&keyReservedMask != 0 {
			return nicspec.StatusBadFormat
		}
		length += int(s.Len())
	}
	if length == 0 || length > nicspec.FrameMax || length < nicspec.FrameMin && !p.Pad {
		return nicspec.StatusBadLength
	}
	p.Length = length
	off := p.InlineLen
	for i := range nseg {
		s := nicspec.Seg(slots[i*nicspec.SegSize:])
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

// PieceOf returns the piece that the byte at off of the frame comes from, or
// nil for an inline byte.
func (p *TxPlan) PieceOf(off int) *TxPiece {
	for i := range p.NumPieces {
		if s := &p.Pieces[i]; off >= s.Off && off < s.Off+s.Len {
			return s
		}
	}
	return nil
}
