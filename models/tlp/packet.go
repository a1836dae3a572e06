package tlp

import (
	"fmt"

	"github.com/sarchlab/akita/v3/sim"

	"nictwin/models/simcore"
)

// Packet is one TLP as it crosses a link.
type Packet struct {
	simcore.Msg
	Hdr  [HeaderBytes]byte // as on the wire, DW0 byte 0 first; 3-DW headers leave the last four bytes zero
	Data []byte            // payload: whole DWs in address order, nil if there is none
	Seq  uint64            // the sender's ordinal

	buf    []byte // storage of its own, kept while the packet is pooled
	pooled bool

	// What Parsed found in Hdr when it was of; clean says that Decode has nothing to object to.
	read, clean bool
	of          [HeaderBytes]byte
	parsed      Header
}

var (
	_ sim.Msg       = (*Packet)(nil)
	_ simcore.Timed = (*Packet)(nil)
)

// Parsed is the packet's header as Parse reads it. Whoever asks again is spared the work. It is good until the header
// changes, and is not to be written.
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

// SetHeader encodes h as the packet's header and states the packet's size on
// the wire, header and payload, as Akita's TrafficBytes. Set Data first.
func (p *Packet) SetHeader(h *Header) error {
	if err := h.Encode(&p.Hdr); err != nil {
		return err
	}
	p.TrafficBytes = h.SizeDW()*DWBytes + len(p.Data)
	return nil
}

// Own makes Data n bytes of the packet's own storage, of unspecified content,
// and returns it. The storage grows to the largest n asked for and is reused.
func (p *Packet) Own(n int) []byte {
	if cap(p.buf) < n {
		p.buf = make([]byte, max(n, minOwn))
	}
	p.Data = p.buf[:n:n]
	return p.Data
}

// minOwn spares small packets from growing their storage step by step.
const minOwn = 512

// String describes the packet on one line, for people.
func (p *Packet) String() string {
	h, err := p.Header()
	if err != nil {
		return fmt.Sprintf("TLP %x + %d B (%v)", p.Hdr, len(p.Data), err)
	}
	return fmt.Sprintf("%v + %d B", h, len(p.Data))
}

// Pool recycles packets. It belongs to one simulation thread. The zero value
// is ready for use.
type Pool struct {
	free []*Packet
	live int
}

// Get returns an empty packet: a zero header, no data, no stamps.
func (l *Pool) Get() *Packet {
	l.live++
	n := len(l.free)
	if n == 0 {
		return &Packet{}
	}
	p := l.free[n-1]
	l.free[n-1] = nil
	l.free = l.free[:n-1]
	p.pooled = false
	return p
}

// Put takes back a packet of which the caller holds the last reference; its
// own storage will be written again. It panics if p is already in a pool.
func (l *Pool) Put(p *Packet) {
	if p.pooled {
		panic("tlp: packet put into a pool twice")
	}
	buf := p.buf
	*p = Packet{buf: buf, pooled: true}
	l.live--
	l.free = append(l.free, p)
}

// Live is the number of packets taken and not given back. It can be negative
// for a pool that is given packets taken from elsewhere.
func (l *Pool) Live() int { return l.live }
