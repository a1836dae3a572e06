package tlp

// Unsupported returns the UR completion with which the completer of the given ID answers a
// non-posted request that it does not accept: a memory read, or any of the requests that Decode
// refuses (locked reads, I/O, configuration, AtomicOps, deferrable writes). ok is false if the TLP
// is not a non-posted request and so gets no answer.
//
// The byte count is the request's span for a memory read, and 4 × length with
// lower address 0 for the others.
func Unsupported(hdr *[HeaderBytes]byte, completerID uint16) (cpl Header, ok bool) {
	as := *hdr
	as[0] = ftMRd32 // decodes the header as a memory read: the fields needed are in the same bytes
	req := Parse(&as)
	cpl = Header{
		Kind: Cpl, Status: StatusUR, TC: req.TC, Attr: req.Attr,
		RequesterID: req.RequesterID, Tag: req.Tag, CompleterID: completerID,
	}
	if hdr[0] == ftMRd32 || hdr[0] == ftMRd64 {
		req = Parse(hdr)
		off, n := req.Span()
		cpl.ByteCount = uint16(n)
		cpl.LowerAddr = uint8((req.Address + uint64(off)) & lowerAddrMask)
		return cpl, true
	}
	if _, known := refusedTypes[hdr[0]]; !known || hdr[0] == ftCplLk || hdr[0] == ftCplDLk {
		return Header{}, false
	}
	cpl.ByteCount = req.Length * DWBytes
	return cpl, true
}
