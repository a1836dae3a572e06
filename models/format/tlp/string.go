package tlp

import "strconv"

// String describes the header on one line, for people.
func (h Header) String() string {
	var buf [160]byte
	return string(h.AppendTo(buf[:0]))
}

// AppendTo appends what String returns to dst.
func (h *Header) AppendTo(dst []byte) []byte {
	dst = append(dst, h.Kind.String()...)
	switch {
	case h.Kind.IsMemory():
		dst = h.appendMemory(dst)
	case h.Kind.IsCompletion():
		dst = h.appendCompletion(dst)
	case h.Kind.IsMessage():
		dst = h.appendMessage(dst)
	default:
		return dst
	}
	return h.appendFlags(dst)
}

func (h *Header) appendMemory(dst []byte) []byte {
	width := 8
	if h.Addr64 {
		dst, width = append(dst, "64"...), 16
	} else {
		dst = append(dst, "32"...)
	}
	dst = appendHex(append(dst, " addr=0x"...), h.Address, width)
	dst = h.appendLength(dst)
	dst = appendHex(append(dst, " be="...), uint64(h.FirstBE), 1)
	dst = appendHex(append(dst, '/'), uint64(h.LastBE), 1)
	return h.appendTransaction(dst)
}

func (h *Header) appendCompletion(dst []byte) []byte {
	dst = append(append(dst, ' '), h.Status.String()...)
	dst = h.appendLength(dst)
	dst = strconv.AppendUint(append(dst, " bc="...), uint64(h.ByteCount), 10)
	dst = appendHex(append(dst, " la=0x"...), uint64(h.LowerAddr), 2)
	dst = h.appendTransaction(dst)
	dst = appendID(append(dst, " cpl="...), h.CompleterID)
	if h.BCM {
		dst = append(dst, " BCM"...)
	}
	return dst
}

func (h *Header) appendMessage(dst []byte) []byte {
	switch h.Code {
	case CodeVendor0:
		dst = append(dst, " vendor0"...)
	case CodeVendor1:
		dst = append(dst, " vendor1"...)
	default:
		dst = appendHex(append(dst, " code=0x"...), uint64(h.Code), 2)
	}
	dst = append(append(dst, " route="...), h.Routing.String()...)
	dst = h.appendLength(dst)
	dst = appendID(append(dst, " to="...), h.TargetID)
	dst = appendHex(append(dst, " vendor=0x"...), uint64(h.VendorID), 4)
	dst = appendHex(append(dst, " dw3=0x"...), uint64(h.VendorDW), 8)
	return h.appendTransaction(dst)
}

func (h *Header) appendLength(dst []byte) []byte {
	if h.Length == 0 {
		return dst
	}
	dst = strconv.AppendUint(append(dst, " len="...), uint64(h.Length), 10)
	return append(dst, "DW"...)
}

func (h *Header) appendTransaction(dst []byte) []byte {
	dst = appendID(append(dst, " req="...), h.RequesterID)
	return appendHex(append(dst, " tag=0x"...), uint64(h.Tag), 2)
}

func (h *Header) appendFlags(dst []byte) []byte {
	if h.TC != 0 {
		dst = strconv.AppendUint(append(dst, " tc="...), uint64(h.TC), 10)
	}
	if h.Attr != 0 {
		dst = h.Attr.appendTo(append(dst, " attr="...))
	}
	if h.TD {
		dst = append(dst, " TD"...)
	}
	if h.EP {
		dst = append(dst, " EP"...)
	}
	return dst
}

// String lists the set bits, joined by '|', or "0".
func (a Attr) String() string { return string(a.appendTo(nil)) }

func (a Attr) appendTo(dst []byte) []byte {
	if a == 0 {
		return append(dst, '0')
	}
	sep := false
	for _, n := range [...]struct {
		bit  Attr
		name string
	}{{IDBasedOrder, "IDO"}, {RelaxedOrder, "RO"}, {NoSnoop, "NS"}} {
		if a&n.bit == 0 {
			continue
		}
		if sep {
			dst = append(dst, '|')
		}
		dst, sep = append(dst, n.name...), true
	}
	return dst
}

// appendID writes bus:device.function.
func appendID(dst []byte, id uint16) []byte {
	dst = appendHex(dst, uint64(id>>8), 2)
	dst = appendHex(append(dst, ':'), uint64(id>>3&0x1f), 2)
	return appendHex(append(dst, '.'), uint64(id&7), 1)
}

func appendHex(dst []byte, v uint64, digits int) []byte {
	const hex = "0123456789abcdef"
	for i := digits - 1; i >= 0; i-- {
		dst = append(dst, hex[v>>(4*i)&0xf])
	}
	return dst
}

// appendValue writes the value of one field in that field's usual notation.
func appendValue(dst []byte, f Field, v uint64) []byte {
	switch f {
	case FieldKind:
		return append(dst, Kind(v).String()...)
	case FieldAttr:
		return Attr(v).appendTo(dst)
	case FieldStatus:
		return append(dst, Status(v).String()...)
	case FieldRouting:
		return append(dst, Routing(v).String()...)
	case FieldRequesterID, FieldCompleterID, FieldTargetID:
		return appendID(dst, uint16(v))
	case FieldAddr64, FieldTC, FieldTD, FieldEP, FieldLength, FieldBCM, FieldByteCount:
		return strconv.AppendUint(dst, v, 10)
	}
	return strconv.AppendUint(append(dst, "0x"...), v, 16)
}
