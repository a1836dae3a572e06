package tlp

import "fmt"

func decodeError(field string, got uint64, want string) error {
	return &FieldError{Op: "decode", Field: field, Got: got, Want: want}
}

func encodeError(field string, got uint64, want string) error {
	return &FieldError{Op: "encode", Field: field, Got: got, Want: want}
}

// refusedTypes names the Fmt/Type bytes that the standard defines and this
// package refuses.
var refusedTypes = map[byte]string{
	0x01: "MRdLk, a locked read,", 0x21: "MRdLk, a locked read,",
	ftCplLk: "CplLk, a locked completion,", ftCplDLk: "CplDLk, a locked completion,",
	0x02: "IORd", 0x42: "IOWr",
	0x04: "CfgRd0", 0x44: "CfgWr0", 0x05: "CfgRd1", 0x45: "CfgWr1",
	0x1b: "TCfgRd, a deprecated trusted configuration read,",
	0x4c: "FetchAdd", 0x6c: "FetchAdd", 0x4d: "Swap", 0x6d: "Swap", 0x4e: "CAS", 0x6e: "CAS",
	0x5b: "DMWr, a deferrable write,", 0x7b: "DMWr, a deferrable write,",
}

func typeError(b byte) error {
	const prefixMask, prefix = 0xe0, 0x80
	const supported = "MRd, MWr, Cpl, CplD, Msg or MsgD"
	if name, ok := refusedTypes[b]; ok {
		return decodeError("Fmt/Type", uint64(b), fmt.Sprintf("%s: %s is not supported", supported, name))
	}
	if b&prefixMask == prefix {
		return decodeError("Fmt/Type", uint64(b), supported+": TLP prefixes are not supported")
	}
	return decodeError("Fmt/Type", uint64(b), supported+": this code is reserved")
}

func refusedError(dw0 uint32) error {
	for _, r := range []struct {
		bits        uint32
		name, about string
	}{
		{dw0T9, "T9", "0 (10-bit tags are not supported)"},
		{dw0T8, "T8", "0 (10-bit tags are not supported)"},
		{dw0LN, "LN", "0 (lightweight notification is not supported)"},
		{dw0TH, "TH", "0 (processing hints are not supported)"},
		{dw0AT, "AT", "0 (address translation is not supported)"},
	} {
		if dw0&r.bits != 0 {
			return decodeError(r.name, uint64(dw0&r.bits)/uint64(r.bits&-r.bits), r.about)
		}
	}
	panic("tlp: refusedError without a refused bit")
}

// checkRanges reports the first field whose value does not fit its bits.
func (h *Header) checkRanges() error {
	if h.Kind == KindInvalid || h.Kind >= numKinds {
		return encodeError("Kind", uint64(h.Kind), "MRd, MWr, Cpl, CplD, Msg or MsgD")
	}
	if h.TC > maxTC {
		return encodeError("TC", uint64(h.TC), "0..7")
	}
	if h.Attr > attrMask {
		return encodeError("Attr", uint64(h.Attr), "0..7")
	}
	if h.Kind == Cpl || h.Kind == Msg {
		if h.Length != 0 {
			return encodeError("Length", uint64(h.Length), "0 (reserved in a TLP without data)")
		}
	} else if h.Length == 0 || h.Length > MaxLengthDW {
		return encodeError("Length", uint64(h.Length), "1..1024 DWs")
	}
	switch h.Kind {
	case MRd, MWr:
		return h.checkMemoryRanges()
	case Cpl, CplD:
		return h.checkCompletionRanges()
	}
	if h.Routing > maxRouting {
		return encodeError("Routing", uint64(h.Routing), "0..7")
	}
	return nil
}

func (h *Header) checkMemoryRanges() error {
	switch {
	case h.FirstBE > maxByteEnables:
		return encodeError("FirstBE", uint64(h.FirstBE), "4 bits")
	case h.LastBE > maxByteEnables:
		return encodeError("LastBE", uint64(h.LastBE), "4 bits")
	case h.Address&(DWBytes-1) != 0:
		return encodeError("Address", h.Address, "a multiple of 4")
	case !h.Addr64 && h.Address>>32 != 0:
		return encodeError("Address", h.Address, "less than 4 GB in a 3-DW header")
	}
	return nil
}

func (h *Header) checkCompletionRanges() error {
	switch {
	case h.Status > 7:
		return encodeError("Status", uint64(h.Status), "0..7")
	case h.ByteCount == 0 || h.ByteCount > PageBytes:
		return encodeError("ByteCount", uint64(h.ByteCount), "1..4096")
	case h.LowerAddr > lowerAddrMask:
		return encodeError("LowerAddr", uint64(h.LowerAddr), "7 bits")
	}
	return nil
}
