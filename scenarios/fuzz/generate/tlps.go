package generate

import (
	"encoding/binary"
	"encoding/hex"
	"slices"

	"nictwin/models/format/tlp"
	"nictwin/models/nic/nicspec"
	"nictwin/scenarios/fuzz/coverage"
	"nictwin/scenarios/fuzz/program"
)

// otherTypes lists the first header bytes of requests other than memory requests, in order.
var otherTypes = func() (all []byte) {
	for b := range coverage.OtherNames {
		all = append(all, b)
	}
	slices.Sort(all)
	return all
}()

const rawRequester = 0x0123

// oddTLP draws a TLP that no driver sends.
func (g *generator) oddTLP() program.Op {
	t := &program.TLP{}
	var hdr [tlp.HeaderBytes]byte
	switch g.intN(5) {
	case 0:
		g.oddAccess(&hdr, t)
	case 1:
		g.oddAddress(&hdr, t)
	case 2:
		g.oddRequest(&hdr, t)
	default:
		g.stray(&hdr, t)
	}
	t.Header = hex.EncodeToString(hdr[:])
	return program.Op{TLP: t}
}

// oddRequest draws a request other than a memory request. Of a message, only the type is drawn, since nothing else in
// it matters.
func (g *generator) oddRequest(hdr *[tlp.HeaderBytes]byte, t *program.TLP) {
	const attr2, poisoned = 0x04, 0x40
	b := otherTypes[g.intN(len(otherTypes))]
	dws := pick(g, 1, 2, 4, g.tlpLength())
	*hdr = [tlp.HeaderBytes]byte{b, byte(g.intN(8))<<4 | byte(g.intN(2))*attr2, byte(g.intN(4))<<4 | byte(dws>>8&3),
		byte(dws)}
	binary.BigEndian.PutUint16(hdr[4:], g.requester())
	hdr[7] = 0xff
	if g.maybe(30) {
		hdr[2] |= poisoned
	}
	binary.BigEndian.PutUint64(hdr[8:], nicspec.BarBase+nicspec.RegScratch)
	if b>>5&1 == 0 {
		binary.BigEndian.PutUint32(hdr[8:], 0x2c)
		clear(hdr[12:])
	}
	if b&0x30 == 0x30 {
		hdr[7] = uint8(g.rng.Uint32())
		binary.BigEndian.PutUint64(hdr[8:], g.rng.Uint64())
	}
	if b&0x40 != 0 {
		t.Data = tlp.DWBytes * dws
	}
}

// tlpLength draws any TLP length in DWs, mostly short ones.
func (g *generator) tlpLength() int {
	if g.maybe(25) {
		return 1 + g.intN(tlp.MaxLengthDW)
	}
	return 1 + g.intN(64)
}

// requester draws any requester ID except those of software that accesses registers.
func (g *generator) requester() uint16 {
	return pick(g, rawRequester, rawRequester, uint16(g.rng.Uint32())|0x0400)
}

// oddAccess draws a request for a register that has no side effects, with any length, byte enables and attributes. Few
// of these requests are valid accesses.
func (g *generator) oddAccess(hdr *[tlp.HeaderBytes]byte, t *program.TLP) {
	h := tlp.Header{Kind: pick(g, tlp.MRd, tlp.MWr), Addr64: true, RequesterID: g.requester(),
		Tag: uint8(g.rng.Uint32()),
		TC:  uint8(g.intN(8)), Attr: tlp.Attr(g.intN(8)), FirstBE: 0xf,
		Length: uint16(pick(g, 1, 2, 2, 3, 4, 16, 64, g.tlpLength())), EP: g.maybe(15)}
	h.Address = nicspec.BarBase +
		uint64(pick(g, nicspec.RegScratch, nicspec.RegTblData(0), nicspec.RegTblData(1), nicspec.RegCounter(3)))
	if h.Length > 1 {
		h.LastBE = 0xf
	}
	if g.maybe(50) {
		h.FirstBE = uint8(1 + g.intN(15))
	}
	g.encode(&h, hdr, t)
}

func (g *generator) oddAddress(hdr *[tlp.HeaderBytes]byte, t *program.TLP) {
	a := pick(g, g.rng.Uint64()&^3|1<<58, g.rng.Uint64()>>(32+g.intN(20))&^3, uint64(0), 0x100, 0xffff_fffc, 1<<32,
		nicspec.BarBase-4, nicspec.BarBase+nicspec.BarBytes, nicspec.BarBase|1<<40, 3<<nicspec.EndpointShift,
		nicspec.BarBase|1<<63)
	h := tlp.Header{Kind: pick(g, tlp.MRd, tlp.MWr), Addr64: a>>32 != 0, RequesterID: g.requester(),
		Tag: uint8(g.rng.Uint32()),
		TC:  uint8(g.intN(8)), Attr: tlp.Attr(g.intN(8)), FirstBE: 0xf, Length: 1, Address: a, EP: g.maybe(10)}
	if most := int(tlp.PageBytes-a%tlp.PageBytes) / tlp.DWBytes; g.maybe(40) {
		if h.Length = uint16(min(g.tlpLength(), most)); h.Length > 1 {
			h.LastBE = uint8(1 + g.intN(15))
		}
		h.FirstBE = uint8(1 + g.intN(15))
	}
	g.encode(&h, hdr, t)
}

// stray draws a completion that answers no request, unless its tag happens to be in use.
func (g *generator) stray(hdr *[tlp.HeaderBytes]byte, t *program.TLP) {
	h := tlp.Header{
		Kind: tlp.CplD, Length: uint16(pick(g, 1, 4, 16, g.tlpLength())), TC: uint8(g.intN(8)),
		Attr:        tlp.Attr(g.intN(8)),
		CompleterID: uint16(g.rng.Uint32()), RequesterID: pick(g, uint16(nicspec.RequesterNic), nicspec.RequesterNic,
			0x0201, 0x0100),
		Tag: uint8(g.rng.Uint32()), LowerAddr: uint8(4 * g.intN(32)), EP: g.maybe(20)}
	h.ByteCount = uint16(pick(g, int(h.Length)*4, 64, 4096, 1+g.intN(4096)))
	if g.maybe(30) {
		h.Kind, h.Length, h.EP, h.Status = tlp.Cpl, 0, false, tlp.Status(g.intN(8))
	}
	t.Count = pick(g, 1, 4, 40)
	if h.Length > 16 {
		t.Count = 1
	}
	g.encode(&h, hdr, t)
}

func (g *generator) encode(h *tlp.Header, hdr *[tlp.HeaderBytes]byte, t *program.TLP) {
	if h.Encode(hdr) != nil { // an invalid header cannot be sent: send a read of register ID
		*h = tlp.Header{Kind: tlp.MRd, Addr64: true, RequesterID: rawRequester, FirstBE: 0xf, Length: 1,
			Address: nicspec.BarBase}
		_ = h.Encode(hdr)
	}
	t.Data = h.PayloadBytes()
}
