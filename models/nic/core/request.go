package core

import (
	"encoding/binary"

	"nictwin/models/format/tlp"
	"nictwin/models/nic/nicspec"
)

// Inbound is the kind of a received TLP, as distinguished by [P7] and [P8].
type Inbound uint8

// The kinds of inbound TLP, and how the device treats them.
const (
	InCompletion Inbound = iota // matched with an outstanding read
	InWrite                     // register write
	InRead                      // register read
	InRefused                   // answered with UR; counts TLP_UNSUPPORTED
	InDropped                   // ignored; counts TLP_UNSUPPORTED
)

// Fmt and Type of the first header byte (PCIe table 2-3).
const (
	fmtShift    = 5
	fmt4DW      = 1 // bit 0: four DWs; bit 1: with data
	fmtData     = 2
	fmtOther    = 4 // prefixes and reserved formats
	typeMask    = 0x1f
	typeMem     = 0x00
	typeMemLk   = 0x01
	typeIO      = 0x02
	typeCfg0    = 0x04
	typeCfg1    = 0x05
	typeCpl     = 0x0a
	typeCplLk   = 0x0b
	typeFetch   = 0x0c
	typeSwap    = 0x0d
	typeCAS     = 0x0e
	typeTrusted = 0x1b // deferrable memory write; in older revisions trusted configuration requests
)

// IsCompletion reports whether the Type of a TLP is that of a completion; other fields do not
// matter.
func IsCompletion(hdr *[tlp.HeaderBytes]byte) bool {
	typ := hdr[0] & typeMask
	return typ == typeCpl || typ == typeCplLk
}

// DecodeInbound decodes the header of a received TLP, ignoring bits that the contract does not
// name. For a dropped TLP h is not complete.
func DecodeInbound(hdr *[tlp.HeaderBytes]byte, h *tlp.Header) Inbound {
	*h = tlp.Header{}
	format, typ := hdr[0]>>fmtShift, hdr[0]&typeMask
	if format&fmtOther != 0 {
		return InDropped
	}
	dw0 := binary.BigEndian.Uint32(hdr[:])
	h.TC = uint8(dw0>>20) & 7
	h.Attr = tlp.Attr(dw0>>18&1)<<2 | tlp.Attr(dw0>>12)&3
	h.EP = dw0>>14&1 != 0
	h.Length = uint16(dw0 & 0x3ff)
	if typ == typeCpl || typ == typeCplLk {
		if format&fmt4DW == 0 {
			decodeCompletion(hdr, h)
			return InCompletion
		}
		return InDropped
	}
	if h.Length == 0 {
		h.Length = tlp.MaxLengthDW
	}
	h.RequesterID = binary.BigEndian.Uint16(hdr[4:])
	h.Tag = hdr[6]
	if typ == typeMem {
		return decodeMemory(hdr, h, format)
	}
	if h.EP || !nonPosted(format, typ) {
		return InDropped
	}
	return InRefused
}

func decodeCompletion(hdr *[tlp.HeaderBytes]byte, h *tlp.Header) {
	h.Kind = tlp.Cpl
	if hdr[0]>>fmtShift&fmtData != 0 {
		h.Kind = tlp.CplD
		if h.Length == 0 {
			h.Length = tlp.MaxLengthDW
		}
	}
	h.CompleterID = binary.BigEndian.Uint16(hdr[4:])
	h.Status = tlp.Status(hdr[6] >> 5)
	h.ByteCount = binary.BigEndian.Uint16(hdr[6:]) & 0xfff
	if h.ByteCount == 0 {
		h.ByteCount = tlp.PageBytes
	}
	h.RequesterID = binary.BigEndian.Uint16(hdr[8:])
	h.Tag = hdr[10]
	h.LowerAddr = hdr[11] & 0x7f
}

// decodeMemory decodes a memory request and classifies it [P8].
func decodeMemory(hdr *[tlp.HeaderBytes]byte, h *tlp.Header, format uint8) Inbound {
	h.LastBE, h.FirstBE = hdr[7]>>4, hdr[7]&0xf
	if h.Addr64 = format&fmt4DW != 0; h.Addr64 {
		h.Address = binary.BigEndian.Uint64(hdr[8:]) &^ 3
	} else {
		h.Address = uint64(binary.BigEndian.Uint32(hdr[8:]) &^ 3)
	}
	ours := h.Address-nicspec.BarBase < nicspec.BarBytes && !h.EP
	if format&fmtData != 0 {
		h.Kind = tlp.MWr
		if ours {
			return InWrite
		}
		return InDropped
	}
	h.Kind = tlp.MRd
	if ours {
		return InRead
	}
	return InRefused
}

// nonPosted reports whether a request other than a memory read needs a completion.
func nonPosted(format, typ uint8) bool {
	switch typ {
	case typeMemLk:
		return format&fmtData == 0
	case typeIO, typeCfg0, typeCfg1:
		return format&fmt4DW == 0
	case typeFetch, typeSwap, typeCAS:
		return format&fmtData != 0
	case typeTrusted:
		return format != fmt4DW
	}
	return false
}

// Answer is the completion that answers a request.
type Answer struct {
	Header tlp.Header
	Data   [8]byte // the first 4·Length bytes are valid
}

// refuse makes a the UR completion that answers h [P8, G1].
func (a *Answer) refuse(h *tlp.Header) {
	a.Header = completionFor(h)
	a.Header.Kind, a.Header.Status = tlp.Cpl, tlp.StatusUR
	if h.Kind != tlp.MRd {
		a.Header.ByteCount = h.Length * tlp.DWBytes
		return
	}
	off, n := h.Span()
	a.Header.ByteCount = uint16(n)
	a.Header.LowerAddr = uint8(h.Address+uint64(off)) & 0x7f
}

// supply fills in `a` as the CplD that answers h with `words` [G2].
func (a *Answer) supply(h *tlp.Header, words [2]uint32) {
	a.Header = completionFor(h)
	a.Header.Kind, a.Header.Length = tlp.CplD, h.Length
	a.Header.ByteCount = h.Length * tlp.DWBytes
	a.Header.LowerAddr = uint8(h.Address) & 0x7f
	binary.LittleEndian.PutUint32(a.Data[:], words[0])
	binary.LittleEndian.PutUint32(a.Data[4:], words[1])
}

func completionFor(h *tlp.Header) tlp.Header {
	return tlp.Header{
		TC: h.TC, Attr: h.Attr, RequesterID: h.RequesterID, Tag: h.Tag, CompleterID: nicspec.RequesterNic,
	}
}
