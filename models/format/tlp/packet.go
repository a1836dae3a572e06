package tlp

import "fmt"

// Packet is one TLP.
type Packet struct {
	Hdr  [HeaderBytes]byte // as on the wire, DW0 byte 0 first; 3-DW headers leave the last four bytes zero
	Data []byte            // payload: whole DWs in address order, nil if none

	buf []byte // the packet's own storage, kept by Reset

	// Cached result of Parsed, if `read` is set: `parsed` is the decoded form of the header bytes in `of`, and `clean`
	// means that Decode accepts them.
	read, clean bool
	of          [HeaderBytes]byte
	parsed      Header
}

// Parsed returns the header as Parse decodes it, and caches it until the header bytes change. The
// caller must not modify it, and must not use it after such a change.
func (p *Packet) Parsed() *Header {
	if !p.read || p.of != p.Hdr {
		p.parsed, p.of = Parse(&p.Hdr), p.Hdr
		p.read, p.clean = true, p.parsed.reservedZero(&p.Hdr) == nil
	}
	return &p.parsed
}

// Header decodes the packet's header, as Decode does.
func (p *Packet) Header() (Header, error) {
	if h := p.Parsed(); p.clean {
		return *h, nil
	}
	return Decode(&p.Hdr)
}

// SetHeader encodes h as the packet's header.
func (p *Packet) SetHeader(h *Header) error { return h.Encode(&p.Hdr) }

// WireBytes returns the size of header and payload. A header of a reserved format counts as the
// four DWs that Hdr holds.
func (p *Packet) WireBytes() int {
	const threeDW = 3 * DWBytes
	if p.Hdr[0]>>5&5 == 0 { // Fmt bit 2: prefix or reserved; bit 0: four DWs
		return threeDW + len(p.Data)
	}
	return HeaderBytes + len(p.Data)
}

// Reset makes the packet empty. It keeps its storage.
func (p *Packet) Reset() { *p = Packet{buf: p.buf} }

// Own makes Data n bytes of the packet's own storage, of unspecified content,
// and returns it. The storage grows to the largest n asked for and is reused.
func (p *Packet) Own(n int) []byte {
	if cap(p.buf) < n {
		p.buf = make([]byte, max(n, minOwn))
	}
	p.Data = p.buf[:n:n]
	return p.Data
}

// minOwn is the smallest storage: it saves small packets from growing theirs step by step.
const minOwn = 512

// String describes the packet on one line, for people.
func (p *Packet) String() string {
	h, err := p.Header()
	if err != nil {
		return fmt.Sprintf("TLP %x + %d B (%v)", p.Hdr, len(p.Data), err)
	}
	return fmt.Sprintf("%v + %d B", h, len(p.Data))
}
