package tlp

import (
	"encoding/binary"
	"fmt"
)

// Bits of the first DW, read big-endian (PCIe 2.2.1).
const (
	dw0T9      = 1 << 23
	dw0TC      = 20
	dw0T8      = 1 << 19
	dw0Attr2   = 18
	dw0LN      = 1 << 17
	dw0TH      = 1 << 16
	dw0TD      = 1 << 15
	dw0EP      = 1 << 14
	dw0AttrLow = 12
	dw0AT      = 3 << 10
	dw0Length  = 0x3ff

	dw0Refused = dw0T9 | dw0T8 | dw0LN | dw0TH | dw0AT
)

// Fmt and Type as one byte (PCIe table 2-3).
const (
	ftMRd32 = 0x00
	ftMRd64 = 0x20
	ftMWr32 = 0x40
	ftMWr64 = 0x60
	ftCpl   = 0x0a
	ftCplD  = 0x4a
	ftMsg   = 0x30
	ftMsgD  = 0x70

	ftCplLk  = 0x0b // refused
	ftCplDLk = 0x4b // refused

	ftRouteMask = 0x07
)

// format is the kind and the address width that the first header byte encodes.
type format struct {
	kind   Kind
	addr64 bool
}

var formats = func() (t [256]format) {
	t[ftMRd32] = format{MRd, false}
	t[ftMRd64] = format{MRd, true}
	t[ftMWr32] = format{MWr, false}
	t[ftMWr64] = format{MWr, true}
	t[ftCpl] = format{Cpl, false}
	t[ftCplD] = format{CplD, false}
	for r := range ftRouteMask + 1 {
		t[ftMsg|r] = format{Msg, false}
		t[ftMsgD|r] = format{MsgD, false}
	}
	return t
}()

// FieldError reports a header field that cannot be decoded or encoded.
type FieldError struct {
	Op    string // "decode" or "encode"
	Field string // name of the field
	Got   uint64
	Want  string // a description of valid values
}

func (e *FieldError) Error() string {
	return fmt.Sprintf("tlp: %s: header field %s is %#x, want %s", e.Op, e.Field, e.Got, e.Want)
}

// Decode reads a header. It fails with a *FieldError if the type or a bit is not supported by this
// package or reserved by the standard; a header that it returns encodes to the same sixteen bytes.
func Decode(hdr *[HeaderBytes]byte) (Header, error) {
	h := Parse(hdr)
	if err := h.reservedZero(hdr); err != nil {
		return Header{}, err
	}
	return h, nil
}

// Parse decodes a header as a tolerant receiver does: it ignores the bits that make Decode fail. If
// the type is not supported, Kind is KindInvalid and all else zero.
func Parse(hdr *[HeaderBytes]byte) Header {
	f := formats[hdr[0]]
	if f.kind == KindInvalid {
		return Header{}
	}
	dw0 := binary.BigEndian.Uint32(hdr[0:4])
	h := Header{
		Kind: f.kind, Addr64: f.addr64,
		TC:   uint8(dw0>>dw0TC) & maxTC,
		Attr: Attr(dw0>>dw0Attr2&1)<<attrLowBits | Attr(dw0>>dw0AttrLow)&attrLowMask,
		TD:   dw0&dw0TD != 0,
		EP:   dw0&dw0EP != 0,
	}
	if f.kind != Cpl && f.kind != Msg {
		h.Length = uint16(dw0 & dw0Length)
		if h.Length == 0 {
			h.Length = MaxLengthDW
		}
	}
	switch f.kind {
	case MRd, MWr:
		h.parseMemory(hdr)
	case Cpl, CplD:
		h.parseCompletion(hdr)
	default:
		h.parseMessage(hdr)
	}
	return h
}

func (h *Header) parseMemory(hdr *[HeaderBytes]byte) {
	h.RequesterID = binary.BigEndian.Uint16(hdr[4:6])
	h.Tag = hdr[6]
	h.LastBE, h.FirstBE = hdr[7]>>4, hdr[7]&maxByteEnables
	if h.Addr64 {
		h.Address = binary.BigEndian.Uint64(hdr[8:16])
	} else {
		h.Address = uint64(binary.BigEndian.Uint32(hdr[8:12]))
	}
	h.Address &^= DWBytes - 1
}

func (h *Header) parseCompletion(hdr *[HeaderBytes]byte) {
	h.CompleterID = binary.BigEndian.Uint16(hdr[4:6])
	h.Status = Status(hdr[6] >> 5)
	h.BCM = hdr[6]&0x10 != 0
	h.ByteCount = uint16(hdr[6]&0xf)<<8 | uint16(hdr[7])
	if h.ByteCount == 0 {
		h.ByteCount = PageBytes
	}
	h.RequesterID = binary.BigEndian.Uint16(hdr[8:10])
	h.Tag = hdr[10]
	h.LowerAddr = hdr[11] & lowerAddrMask
}

func (h *Header) parseMessage(hdr *[HeaderBytes]byte) {
	h.Routing = Routing(hdr[0] & ftRouteMask)
	h.RequesterID = binary.BigEndian.Uint16(hdr[4:6])
	h.Tag = hdr[6]
	h.Code = hdr[7]
	h.TargetID = binary.BigEndian.Uint16(hdr[8:10])
	h.VendorID = binary.BigEndian.Uint16(hdr[10:12])
	h.VendorDW = binary.BigEndian.Uint32(hdr[12:16])
}

// reservedZero checks that the bits of hdr that Parse ignores are zero.
func (h *Header) reservedZero(hdr *[HeaderBytes]byte) error {
	if h.Kind == KindInvalid {
		return typeError(hdr[0])
	}
	dw0 := binary.BigEndian.Uint32(hdr[0:4])
	if dw0&dw0Refused != 0 {
		return refusedError(dw0)
	}
	if h.Length == 0 && dw0&dw0Length != 0 {
		return decodeError("Length", uint64(dw0&dw0Length), "0 (reserved in a TLP without data)")
	}
	if h.SizeDW() == 3 {
		if dw3 := binary.BigEndian.Uint32(hdr[12:16]); dw3 != 0 {
			return decodeError("DW3", uint64(dw3), "0 (this header has three DWs)")
		}
	}
	if h.Kind.IsCompletion() && hdr[11] != h.LowerAddr {
		return decodeError("LowerAddr", uint64(hdr[11]), "bit 7 zero (reserved)")
	}
	if h.Kind.IsMemory() {
		if ph := hdr[h.SizeDW()*DWBytes-1] & (DWBytes - 1); ph != 0 {
			return decodeError("PH", uint64(ph), "0 (processing hints are not supported)")
		}
	}
	return nil
}

// Encode writes the header to dst. It fails with a *FieldError, and leaves dst unchanged, if a
// field does not fit its bits. It does not check the rules of the standard, so that tests can
// encode headers that break them.
func (h *Header) Encode(dst *[HeaderBytes]byte) error {
	if err := h.checkRanges(); err != nil {
		return err
	}
	dw0 := uint32(h.TC)<<dw0TC |
		uint32(h.Attr>>attrLowBits)<<dw0Attr2 | uint32(h.Attr&attrLowMask)<<dw0AttrLow |
		uint32(h.Length)&dw0Length
	if h.TD {
		dw0 |= dw0TD
	}
	if h.EP {
		dw0 |= dw0EP
	}
	binary.BigEndian.PutUint32(dst[0:4], dw0)
	switch h.Kind {
	case MRd, MWr:
		h.encodeMemory(dst)
	case Cpl, CplD:
		h.encodeCompletion(dst)
	default:
		h.encodeMessage(dst)
	}
	return nil
}

func (h *Header) encodeMemory(dst *[HeaderBytes]byte) {
	dst[0] = ftMRd32
	if h.Kind == MWr {
		dst[0] = ftMWr32
	}
	binary.BigEndian.PutUint16(dst[4:6], h.RequesterID)
	dst[6] = h.Tag
	dst[7] = h.LastBE<<4 | h.FirstBE
	if h.Addr64 {
		dst[0] |= ftMRd64
		binary.BigEndian.PutUint64(dst[8:16], h.Address)
		return
	}
	binary.BigEndian.PutUint32(dst[8:12], uint32(h.Address))
	clear(dst[12:16])
}

func (h *Header) encodeCompletion(dst *[HeaderBytes]byte) {
	dst[0] = ftCpl
	if h.Kind == CplD {
		dst[0] = ftCplD
	}
	binary.BigEndian.PutUint16(dst[4:6], h.CompleterID)
	dst[6] = uint8(h.Status)<<5 | uint8(h.ByteCount>>8)&0xf
	if h.BCM {
		dst[6] |= 0x10
	}
	dst[7] = uint8(h.ByteCount)
	binary.BigEndian.PutUint16(dst[8:10], h.RequesterID)
	dst[10] = h.Tag
	dst[11] = h.LowerAddr
	clear(dst[12:16])
}

func (h *Header) encodeMessage(dst *[HeaderBytes]byte) {
	dst[0] = ftMsg
	if h.Kind == MsgD {
		dst[0] = ftMsgD
	}
	dst[0] |= uint8(h.Routing)
	binary.BigEndian.PutUint16(dst[4:6], h.RequesterID)
	dst[6] = h.Tag
	dst[7] = h.Code
	binary.BigEndian.PutUint16(dst[8:10], h.TargetID)
	binary.BigEndian.PutUint16(dst[10:12], h.VendorID)
	binary.BigEndian.PutUint32(dst[12:16], h.VendorDW)
}
