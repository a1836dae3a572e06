package transport

import (
	"encoding/binary"

	"nictwin/models/format/wire"
)

// BTH opcodes of this stack, in the manufacturer range.
const (
	OpSelectiveAck wire.Opcode = 0xc1
	OpSolarWrite   wire.Opcode = 0xc8
	OpSolarRead    wire.Opcode = 0xc9
	OpSolarData    wire.Opcode = 0xca
	OpSolarAck     wire.Opcode = 0xcb
)

// Lengths in bytes of the headers that the opcodes above add.
const (
	SolarHeaderSize  = 16
	SolarTrailerSize = 12
	sackWordSize     = 8
	maxSackWords     = maxSelect / 64
)

// Packet is a received packet: its decoded headers and a handle for the rest.
type Packet struct {
	Handle  Handle
	Marked  bool    // congestion experienced (ECN of the IP header)
	From    Address // UD: sender of the frame
	BTH     wire.BTHFields
	RETH    wire.RETHFields // for atomics, too: address and key
	AETH    wire.AETHFields
	DETH    wire.DETHFields
	Imm     uint32 // immediate data, or the key to invalidate
	SwapAdd uint64
	Compare uint64
	Orig    uint64 // the value that an atomic returns
	Payload int    // payload length in bytes, without padding
	Landed  bool   // the NIC has written the payload to the buffer of receive request RecvID (Spec.Landing)
	RecvID  uint64
	words   int // valid words of sack
	sack    [maxSackWords]uint64
	solar   solarHeader
}

// Parse decodes transport headers. b begins at the BTH and holds at least the headers; total is the length of the UDP
// payload, ICRC included. It returns an error if the packet is shorter than its opcode demands; the caller then drops
// it.
func (p *Packet) Parse(b []byte, total int) error {
	bth, err := wire.ParseBTH(b)
	if err != nil {
		return err
	}
	p.BTH = bth.Fields()
	op := p.BTH.Opcode
	ext := wire.ExtLen(op)
	switch {
	case op == OpSelectiveAck:
		ext = wire.AETHSize + sackWordSize
	case op >= OpSolarWrite && op <= OpSolarAck:
		ext = SolarHeaderSize
	}
	rest := total - wire.BTHSize - ext - int(p.BTH.PadCnt) - wire.ICRCSize
	if rest < 0 || len(b) < wire.BTHSize+ext {
		return &wire.TruncatedError{Header: "extension headers of " + op.String(), Need: wire.BTHSize + ext +
			int(p.BTH.PadCnt) + wire.ICRCSize, Have: min(total, len(b))}
	}
	p.Payload = rest
	return p.parseExt(b[wire.BTHSize:], rest)
}

// IsRequest reports whether a packet of RC is a request, or a part of one, and no answer.
func (p *Packet) IsRequest() bool {
	i := p.BTH.Opcode.Info()
	switch i.Operation {
	case wire.OpSend, wire.OpWrite, wire.OpReadRequest, wire.OpCmpSwap, wire.OpFetchAdd:
		return i.Transport == wire.TransportRC
	}
	return false
}

// parseExt decodes the headers after the BTH. rest is the number of bytes of payload.
func (p *Packet) parseExt(b []byte, rest int) error {
	switch op := p.BTH.Opcode; {
	case op == OpSelectiveAck:
		return p.parseSack(b, rest)
	case op >= OpSolarWrite && op <= OpSolarAck:
		return p.parseSolar(b, rest)
	}
	for _, h := range p.BTH.Opcode.Info().Ext {
		switch h {
		case wire.HeaderRETH:
			p.RETH = wire.RETH(b).Fields()
		case wire.HeaderAETH:
			p.AETH = wire.AETH(b).Fields()
		case wire.HeaderDETH:
			p.DETH = wire.DETH(b).Fields()
		case wire.HeaderImmDt, wire.HeaderIETH:
			p.Imm = binary.BigEndian.Uint32(b)
		case wire.HeaderAtomicETH:
			a := wire.AtomicETH(b).Fields()
			p.RETH = wire.RETHFields{VA: a.VA, RKey: a.RKey}
			p.SwapAdd, p.Compare = a.SwapAdd, a.Compare
		case wire.HeaderAtomicAckETH:
			p.Orig = wire.AtomicAckETH(b).Orig()
		}
		b = b[h.Size():]
	}
	return nil
}

// parseSack decodes the AETH and the words of a selective acknowledgement.
func (p *Packet) parseSack(b []byte, rest int) error {
	p.AETH = wire.AETH(b).Fields()
	n := rest + sackWordSize
	words := n / sackWordSize
	if n%sackWordSize != 0 || words > maxSackWords || len(b) < wire.AETHSize+n {
		return &wire.ValueError{Header: "selective acknowledgement", Field: "length", Got: uint64(n),
			Want: "1 to 16 words of 8 bytes"}
	}
	p.words, p.Payload = words, 0
	for i := range words {
		p.sack[i] = binary.BigEndian.Uint64(b[wire.AETHSize+sackWordSize*i:])
	}
	return nil
}

// Out is an outgoing packet: headers, then payload (inline or gathered from spans), then Tail, then the ICRC, which the
// NIC appends. The caller owns it and may reuse it.
type Out struct {
	Head    []byte // from the Ethernet header on; a slice of the Out itself
	Spans   []Span // where the payload is in memory
	Remote  bool   // the keys in Spans are remote keys (a READ response), else local ones
	Inline  []byte // payload that was posted inline; valid until the request has completed
	Payload int    // payload length in bytes
	Tail    []byte // padding, or a trailer and padding; a slice of the Out itself
	CRCAt   int    // offset in Tail for the CRC-32C of the payload, least significant byte first; -1: none
	Token   Token  // if not 0, Conn.Sent must be called with Token when the NIC has read the payload
	PSN     uint32
	Opcode  wire.Opcode

	head [maxHead]byte
	tail [SolarTrailerSize + 3]byte
}

const maxHead = etherSize + ipv6Size + udpSize + wire.BTHSize + wire.AETHSize + maxSackWords*sackWordSize

// Len returns the length of the frame on the wire, without its FCS.
func (o *Out) Len() int { return len(o.Head) + o.Payload + len(o.Tail) + wire.ICRCSize }

// bthFlags are the flags of a BTH that differ between packets.
type bthFlags uint8

const (
	flagSolicited bthFlags = 1 << iota
	flagAckReq
	flagBECN
)

// begin writes all headers up to the BTH, and returns the room for `ext` bytes after it. `payload` excludes the
// trailer.
func (b *base) begin(o *Out, ah *AH, op wire.Opcode, destQP, psn uint32, f bthFlags, ext, payload, trailer int) []byte {
	pad := -(ext + payload + trailer) & 3
	n := ah.put(o.head[:], wire.BTHSize+ext+payload+trailer+pad+wire.ICRCSize, b.port(ah))
	h := wire.BTH(o.head[n : n+wire.BTHSize])
	h[0], h[1] = byte(op), bthMigReq|byte(pad)<<4
	if f&flagSolicited != 0 {
		h[1] |= bthSolicited
	}
	binary.BigEndian.PutUint16(h[2:], b.spec.PKey)
	h[4], h[8] = 0, 0
	h.SetBECN(f&flagBECN != 0)
	h.SetDestQP(destQP)
	h.SetAckReq(f&flagAckReq != 0)
	h.SetPSN(psn)
	o.Head = o.head[:n+wire.BTHSize+ext]
	o.Tail = o.tail[:trailer+pad]
	clear(o.Tail)
	o.Spans, o.Inline, o.Remote = o.Spans[:0], nil, false
	o.Payload, o.CRCAt, o.Token = payload, -1, 0
	o.PSN, o.Opcode = psn, op
	return o.head[n+wire.BTHSize : n+wire.BTHSize+ext]
}

// Bits of byte 1 of a BTH (IBTA 9.2).
const (
	bthSolicited = 0x80
	bthMigReq    = 0x40 // migration state "migrated": the value to send without path migration
)

// port returns the UDP source port of the next packet.
func (b *base) port(ah *AH) uint16 {
	if b.spec.SprayPorts == 0 {
		return ah.path.SourcePort
	}
	b.spray++
	if b.spray >= b.spec.SprayPorts {
		b.spray = 0
	}
	port := ah.path.SourcePort + uint16(b.spray)
	if port < ah.path.SourcePort { // dynamic ports wrap around to their first (RFC 6335)
		port |= 0xc000
	}
	return port
}

// HeadersOf returns the length of the headers of a packet from its BTH on. It knows the opcodes of this stack, which a
// NIC does not. For a selective acknowledgement it returns the largest possible length.
func HeadersOf(b []byte) int {
	switch op := wire.Opcode(b[0]); {
	case op == OpSelectiveAck:
		return wire.BTHSize + wire.AETHSize + maxSackWords*sackWordSize
	case op >= OpSolarWrite && op <= OpSolarAck:
		return wire.BTHSize + SolarHeaderSize
	default:
		return wire.BTHSize + wire.ExtLen(op)
	}
}
