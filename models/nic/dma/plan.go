package dma

import (
	"encoding/binary"

	"nictwin/models/format/tlp"
	"nictwin/models/nic/nicspec"
)

// Access is the kind of access that a transfer needs to a piece of memory.
type Access struct{ Read, Write bool }

// Keys translates virtual addresses to bus addresses. Resolve returns the bus address of n bytes,
// or the first of BadKey, KeyRights and KeyBounds that applies [T3].
type Keys interface {
	Resolve(key uint32, va uint64, n uint32, need Access) (bus uint64, s nicspec.Status)
}

// Plan is the decoded request of a copy engine's work entry.
type Plan struct {
	Len      int    // bytes to be copied, 0 for Invalidate
	Src, Dst uint64 // bus addresses
	Lines    uint32 // number of 64 B lines to be invalidated, 0 for Copy
	Line     uint64 // bus address of the first line to be invalidated
	// Fence delays the first write until the last write and message of all earlier entries of the
	// queue have left [D10].
	Fence bool
}

// WholeLines reports whether each aligned line of the destination corresponds to an aligned line of
// the source, and must be copied whole [D2].
func (p *Plan) WholeLines() bool { return (p.Src^p.Dst)%nicspec.LineBytes == 0 }

// Handles reports whether an opcode is one of the copy engine's.
func Handles(op nicspec.Opcode) bool {
	return op == nicspec.OpcodeCopy || op == nicspec.OpcodeInvalidate || op == nicspec.OpcodeCopyInvalidate
}

const (
	slotsOff     = nicspec.WqeBytes - nicspec.WqeSlots*nicspec.WqeSlotBytes
	flagsOff     = 4      // offset of the two bytes with flags and blocks; entries may set these flags only:
	flagComplete = 1 << 0 // allowed for all opcodes of the copy engine
	flagFence    = 1 << 7 // allowed for opcodes that copy, in a build with part fence
	keyReserved  = 0xff   // bits 23:16 of a key
	reservedAt   = 16
)

// Decode checks [D1] for the first block of a work entry with a copy engine opcode, in a build with
// these parts.
func Decode[K Keys](w nicspec.Wqe, parts nicspec.Cap1Reg, keys K, p *Plan) nicspec.Status {
	*p = Plan{}
	copies := w.Opcode() != nicspec.OpcodeInvalidate
	invalidates := w.Opcode() != nicspec.OpcodeCopy
	src, dst := nicspec.Seg(w[slotsOff:]), nicspec.Seg(w[slotsOff+nicspec.WqeSlotBytes:])
	switch {
	case !formatted(w, parts, copies, src, dst):
		return nicspec.StatusBadFormat
	case src.Len() == 0 || src.Len() > nicspec.CopyMax || copies && dst.Len() != src.Len():
		return nicspec.StatusBadLength
	}
	bus, s := keys.Resolve(src.Key(), src.Addr(), src.Len(), Access{Read: copies, Write: invalidates})
	if s != nicspec.StatusOk {
		return s
	}
	if copies {
		p.Src, p.Len = bus, int(src.Len())
		if p.Dst, s = keys.Resolve(dst.Key(), dst.Addr(), dst.Len(), Access{Write: true}); s != nicspec.StatusOk {
			*p = Plan{}
			return s
		}
	}
	p.Fence = w.FFence()
	if invalidates {
		if !wholeArmLines(bus, src.Len()) {
			*p = Plan{}
			return nicspec.StatusBadRange
		}
		p.Line, p.Lines = bus, src.Len()/nicspec.LineBytes
	}
	return nicspec.StatusOk
}

// formatted checks the conditions of [D1] that fail with BadFormat. Fields of absent parts count as
// reserved [N1].
func formatted(w nicspec.Wqe, parts nicspec.Cap1Reg, copies bool, src, dst nicspec.Seg) bool {
	reserved := src.Key()
	nseg, allowed := uint8(1), uint16(flagComplete)
	if copies {
		nseg = 2
		reserved |= dst.Key()
		if parts&nicspec.PartFence != 0 {
			allowed |= flagFence
		}
	}
	flags := binary.LittleEndian.Uint16(w[flagsOff:])
	return w.Nseg() == nseg && w.InlineLen() == 0 && w.Port() == 0 && flags&^allowed == 0 &&
		reserved>>reservedAt&keyReserved == 0
}

// wholeArmLines reports whether n bytes at bus are whole lines of Arm memory.
func wholeArmLines(bus uint64, n uint32) bool {
	const room = 1 << nicspec.EndpointShift
	return bus>>nicspec.EndpointShift == nicspec.EndpointArm && bus%nicspec.LineBytes == 0 &&
		n%nicspec.LineBytes == 0 &&
		uint64(n) <= room-bus
}

// SetMessage makes pkt the invalidate message of a plan [D4].
func SetMessage(pkt *tlp.Packet, p *Plan) error {
	b := pkt.Own(nicspec.InvalidateMsgSize)
	(&nicspec.InvalidateMsgFields{Addr: p.Line, Lines: p.Lines}).Encode(b)
	return pkt.SetVendor(tlp.Origin{RequesterID: nicspec.RequesterNic}, tlp.Vendor{
		Type: 1, Routing: tlp.RouteByID, TargetID: nicspec.RequesterArm, VendorID: nicspec.InvalidateVendor,
	}, b)
}
