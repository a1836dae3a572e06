package tlp

import "math/bits"

// Enables returns the length and byte enables of the request that covers the
// n bytes at addr, which must not cross a 4 KB boundary. A request of no
// bytes is one DW with no byte enabled (PCIe 2.2.5).
func Enables(addr uint64, n int) (length uint16, firstBE, lastBE uint8) {
	if n == 0 {
		return 1, 0, 0
	}
	lead := int(addr & (DWBytes - 1))
	dws := (lead + n + DWBytes - 1) / DWBytes
	first := uint8(maxByteEnables) << lead & maxByteEnables
	last := uint8(maxByteEnables) >> (dws*DWBytes - lead - n)
	if dws == 1 {
		return 1, first & last, 0
	}
	return uint16(dws), first, last
}

// Span returns the first enabled byte, as an offset from the request's DW address, and the number
// of bytes from it to the last enabled byte. The completions of a read must cover these bytes. For
// a request with no byte enabled it is (0, 1): such a read is answered with one DW and a byte count
// of 1 (PCIe 2.3.1.1).
func (h *Header) Span() (offset, n int) {
	if h.Length <= 1 {
		if h.FirstBE == 0 {
			return 0, 1
		}
		offset = bits.TrailingZeros8(h.FirstBE)
		return offset, bits.Len8(h.FirstBE) - offset
	}
	if h.FirstBE != 0 {
		offset = bits.TrailingZeros8(h.FirstBE)
	}
	end := int(h.Length) * DWBytes
	if h.LastBE != 0 {
		end -= DWBytes - bits.Len8(h.LastBE)
	}
	return offset, end - offset
}

// ZeroLength reports whether h is a memory request without an enabled byte.
func (h *Header) ZeroLength() bool {
	return h.Kind.IsMemory() && h.Length == 1 && h.FirstBE == 0
}

// Runs iterates over the runs of enabled bytes in the payload of a memory request. The zero value
// has no runs.
type Runs struct {
	data   []byte
	addr   uint64 // address of data[0]
	pos    int
	lastDW int // offset of the last DW
	first  uint8
	last   uint8
}

// Runs returns an iterator over the payload of a memory request. If data is shorter than the
// header's length, it ends early.
func (h *Header) Runs(data []byte) Runs {
	n := int(h.Length) * DWBytes
	return Runs{
		data: data[:min(n, len(data))], addr: h.Address,
		lastDW: n - DWBytes, first: h.FirstBE, last: h.LastBE,
	}
}

// Next returns the next run of enabled bytes in address order: its address, and its bytes as a part
// of the payload. ok is false at the end.
func (r *Runs) Next() (addr uint64, b []byte, ok bool) {
	for r.pos < len(r.data) && !r.enabled() {
		r.pos++
	}
	if r.pos == len(r.data) {
		return 0, nil, false
	}
	start := r.pos
	for r.pos < len(r.data) && r.enabled() {
		r.pos++
		if r.pos == DWBytes && r.pos < r.lastDW { // the DWs between the first and the last are enabled as a whole
			r.pos = min(r.lastDW, len(r.data))
		}
	}
	return r.addr + uint64(start), r.data[start:r.pos:r.pos], true
}

// enabled reports whether the byte at pos is enabled.
func (r *Runs) enabled() bool {
	be := uint8(maxByteEnables)
	switch {
	case r.pos < DWBytes: // tested first: a request of one DW has no last DW
		be = r.first
	case r.pos >= r.lastDW:
		be = r.last
	}
	return be>>(r.pos&(DWBytes-1))&1 != 0
}

// lowOnes reports whether the set bits of `be` are its lowest, without a gap.
func lowOnes(be uint8) bool { return be&(be+1) == 0 }

// enablesFault reports what is wrong with a memory request's byte enables
// (PCIe 2.2.5), or "".
func (h *Header) enablesFault() (f Field, fault string) {
	switch {
	case h.Length == 1 && h.LastBE != 0:
		return FieldLastBE, "0 in a request of one DW"
	case h.Length == 1:
		return 0, ""
	case h.FirstBE == 0:
		return FieldFirstBE, "an enabled byte in a request of several DWs"
	case h.LastBE == 0:
		return FieldLastBE, "an enabled byte in a request of several DWs"
	case h.Length == 2 && h.Address&7 == 0:
		return 0, ""
	case !lowOnes(^h.FirstBE & maxByteEnables):
		return FieldFirstBE, "enables contiguous with the next DW"
	case !lowOnes(h.LastBE):
		return FieldLastBE, "enables contiguous with the previous DW"
	}
	return 0, ""
}
