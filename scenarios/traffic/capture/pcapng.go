package capture

import (
	"encoding/binary"
	"errors"
	"fmt"
	"io"
	"math/bits"
	"time"
)

// Numbers of the pcapng format (draft-ietf-opsawg-pcapng).
const (
	magicSection = 0x0a0d0d0a
	magicOrder   = 0x1a2b3c4d

	blockInterface  = 1
	blockPacket     = 2
	blockSimple     = 3
	blockStatistics = 5
	blockEnhanced   = 6

	blockFrame = 12 // bytes of a block around its body: type and length before it, length behind it
)

// maxBlock is larger than any valid block, in bytes: a file with a longer one is damaged.
const maxBlock = 1 << 24

// leastBody holds the sizes of the fixed parts of block bodies.
var leastBody = map[uint32]int{magicSection: 16, blockInterface: 8, blockPacket: 20, blockSimple: 4,
	blockStatistics: 12, blockEnhanced: 20}

// pcapngFormat reads pcapng.
type pcapngFormat struct {
	order     binary.ByteOrder
	ifaces    []iface // interfaces of the section
	unknown   bool    // the section has an unsupported version
	known     bool    // some section had a supported version
	skippedBy int
}

// iface is an interface that packets were captured on.
type iface struct {
	link    int
	snaplen uint32
	clock   clock
}

// clock describes the time stamps of an interface.
type clock struct {
	units  uint64 // units per second
	offset int64  // seconds to add
}

func (c clock) time(ticks uint64) time.Time {
	hi, lo := bits.Mul64(ticks%c.units, uint64(time.Second))
	ns, _ := bits.Div64(hi, lo, c.units)
	return time.Unix(int64(ticks/c.units)+c.offset, int64(ns)).UTC()
}

func (*pcapngFormat) header(*Reader) error { return nil } // a section has its own header

func (p *pcapngFormat) skipped() int { return p.skippedBy }

func (p *pcapngFormat) next(r *Reader) (captured, error) {
	for {
		r.begin, r.got = r.at, 0
		block, err := p.block(r)
		if errors.Is(err, io.EOF) && !p.known && p.skippedBy > 0 {
			return captured{}, r.fail(0, 0, errors.New("no section has version 1.0 of pcapng, which is the one that "+
				"is read"))
		}
		if err != nil {
			return captured{}, err
		}
		if p.unknown {
			continue
		}
		if c, packet, err := p.read(p.order.Uint32(block), block[8:len(block)-4]); packet || err != nil {
			return c, err
		}
	}
}

// block reads a whole block. A section header determines the byte order of the blocks behind it.
func (p *pcapngFormat) block(r *Reader) ([]byte, error) {
	b, err := r.more(0, blockFrame)
	if err != nil {
		return nil, err
	}
	if binary.LittleEndian.Uint32(b) == magicSection {
		switch binary.LittleEndian.Uint32(b[8:]) {
		case magicOrder:
			p.order = binary.LittleEndian
		case swap(magicOrder):
			p.order = binary.BigEndian
		default:
			return nil, errors.New("section header without its byte-order magic")
		}
	}
	length := p.order.Uint32(b[4:])
	switch {
	case length < blockFrame || length%4 != 0:
		return nil, fmt.Errorf("block length %d: must be a multiple of 4 and 12 at least", length)
	case length > maxBlock:
		return nil, fmt.Errorf("block length %d: a block has at most %d bytes", length, maxBlock)
	}
	if b, err = r.more(blockFrame, int(length)-blockFrame); err != nil {
		return nil, err
	}
	if tail := p.order.Uint32(b[length-4:]); tail != length {
		return nil, fmt.Errorf("block length is %d at its start and %d at its end", length, tail)
	}
	if p.order.Uint32(b) == magicSection {
		p.section(b)
	}
	return b, nil
}

// section begins a section. The format requires that sections of other versions are skipped.
func (p *pcapngFormat) section(b []byte) {
	p.ifaces = p.ifaces[:0]
	p.unknown = len(b) < 16 || p.order.Uint16(b[12:]) != 1 || p.order.Uint16(b[14:]) != 0
	if p.unknown {
		p.skippedBy++
	} else {
		p.known = true
	}
}

// read parses the body of a block, and reports whether it is a packet.
func (p *pcapngFormat) read(typ uint32, body []byte) (c captured, packet bool, _ error) {
	least, known := leastBody[typ]
	if known && len(body) < least {
		return c, false, fmt.Errorf("block type %d of %d bytes is too short", typ, len(body)+blockFrame)
	}
	switch typ {
	case magicSection, blockStatistics:
		_, err := checkOptions(p.order, typ, body[least:])
		return c, false, err
	case blockInterface:
		clock, err := checkOptions(p.order, typ, body[least:])
		p.ifaces = append(p.ifaces, iface{int(p.order.Uint16(body)), p.order.Uint32(body[4:]), clock})
		return c, false, err
	case blockPacket, blockEnhanced:
		c, err := p.packet(typ, body)
		return c, true, err
	case blockSimple:
		c, err := p.simple(body)
		return c, true, err
	}
	return c, false, nil
}

func (p *pcapngFormat) packet(typ uint32, body []byte) (c captured, _ error) {
	n := int(p.order.Uint32(body))
	if typ == blockPacket {
		n = int(p.order.Uint16(body))
	}
	if n >= len(p.ifaces) {
		return c, fmt.Errorf("packet of interface %d, but the section has %d", n, len(p.ifaces))
	}
	const fixed = 20
	length := int64(p.order.Uint32(body[12:]))
	if length > int64(len(body)-fixed) {
		return c, fmt.Errorf("packet of %d bytes in a block with room for %d", length, len(body)-fixed)
	}
	from := &p.ifaces[n]
	ticks := uint64(p.order.Uint32(body[4:]))<<32 | uint64(p.order.Uint32(body[8:]))
	return captured{from.link, body[fixed : fixed+length], int(p.order.Uint32(body[16:])), from.clock.time(ticks)}, nil
}

// simple parses a simple packet block: it belongs to the first interface, has no time, and is truncated to that
// interface's snap length.
func (p *pcapngFormat) simple(body []byte) (c captured, _ error) {
	if len(p.ifaces) == 0 {
		return c, errors.New("packet before the section's first interface")
	}
	wire, from := p.order.Uint32(body), &p.ifaces[0]
	length := int64(wire)
	if s := int64(from.snaplen); s != 0 {
		length = min(length, s)
	}
	if length > int64(len(body)-4) {
		return c, fmt.Errorf("packet of %d bytes in a block with room for %d", length, len(body)-4)
	}
	return captured{from.link, body[4 : 4+length], int(wire), time.Time{}}, nil
}
