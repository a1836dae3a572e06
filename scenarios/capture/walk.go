package capture

import (
	"encoding/binary"
	"errors"
	"fmt"
)

// Magic numbers and block types of the two formats (draft-ietf-opsawg-pcap, draft-ietf-opsawg-pcapng).
const (
	magicMicro   = 0xa1b2c3d4
	magicNano    = 0xa1b23c4d
	magicSection = 0x0a0d0d0a
	magicOrder   = 0x1a2b3c4d

	pcapHeader = 24
	pcapRecord = 16

	blockInterface  = 1
	blockPacket     = 2
	blockSimple     = 3
	blockStatistics = 5
	blockEnhanced   = 6
)

// walkPcap checks the lengths of a pcap file and returns the offsets of its packet records.
func walkPcap(raw []byte) ([]int64, error) {
	order := byteOrder(raw, magicMicro, magicNano)
	if len(raw) < pcapHeader {
		return nil, &Error{"", 0, 0, fmt.Errorf("%d bytes: the file header takes %d", len(raw), pcapHeader)}
	}
	if major, minor := order.Uint16(raw[4:]), order.Uint16(raw[6:]); major != 2 {
		return nil, &Error{"", 4, 0, fmt.Errorf("pcap of version %d.%d: want 2.4", major, minor)}
	}
	var offsets []int64
	for at := pcapHeader; at < len(raw); {
		n := len(offsets) + 1
		if len(raw)-at < pcapRecord {
			return nil, &Error{"", int64(at), n, fmt.Errorf("cut off: %d bytes of a %d-byte record header", len(raw)-at, pcapRecord)}
		}
		length := int64(order.Uint32(raw[at+8:]))
		if left := int64(len(raw) - at - pcapRecord); length > left {
			return nil, &Error{"", int64(at), n, fmt.Errorf("cut off: the record says %d bytes, %d are left", length, left)}
		}
		offsets = append(offsets, int64(at))
		at += pcapRecord + int(length)
	}
	return offsets, nil
}

// walkPcapng checks the lengths of every block and returns the offsets of the packet blocks, and how many sections
// are of a version other than 1.0: the format demands that such sections are skipped.
func walkPcapng(raw []byte) (offsets []int64, skipped int, _ error) {
	var order binary.ByteOrder = binary.LittleEndian
	var snaplen []uint32 // of the section's interfaces
	known := true        // the section has a version that can be read
	for at := 0; at < len(raw); {
		fail := func(format string, a ...any) ([]int64, int, error) {
			return nil, 0, &Error{"", int64(at), 0, fmt.Errorf(format, a...)}
		}
		if len(raw)-at < 12 {
			return fail("cut off: %d bytes of a block", len(raw)-at)
		}
		if binary.LittleEndian.Uint32(raw[at:]) == magicSection {
			switch binary.LittleEndian.Uint32(raw[at+8:]) {
			case magicOrder:
				order = binary.LittleEndian
			case swap(magicOrder):
				order = binary.BigEndian
			default:
				return fail("section header without its byte-order magic")
			}
			snaplen = snaplen[:0]
			known = len(raw)-at >= 16 && order.Uint16(raw[at+12:]) == 1 && order.Uint16(raw[at+14:]) == 0
			if !known {
				skipped++
			}
		}
		length := order.Uint32(raw[at+4:])
		if length < 12 || length%4 != 0 {
			return fail("block length %d: must be a multiple of 4 and 12 at least", length)
		}
		if int64(length) > int64(len(raw)-at) {
			return fail("cut off: the block says %d bytes, %d are left", length, len(raw)-at)
		}
		block := raw[at : at+int(length)]
		if tail := order.Uint32(block[len(block)-4:]); tail != length {
			return fail("block length is %d at its start and %d at its end", length, tail)
		}
		if known {
			packet, err := checkBlock(order, block, &snaplen)
			if err != nil {
				return fail("%w", err)
			}
			if packet {
				offsets = append(offsets, int64(at))
			}
		}
		at += int(length)
	}
	return offsets, skipped, nil
}

// checkBlock checks the fixed part of one block and reports whether it holds a packet.
func checkBlock(order binary.ByteOrder, block []byte, snaplen *[]uint32) (bool, error) {
	body := block[8 : len(block)-4]
	need := map[uint32]int{magicSection: 16, blockInterface: 8, blockPacket: 20, blockSimple: 4, blockStatistics: 12, blockEnhanced: 20}
	typ := order.Uint32(block)
	if n, ok := need[typ]; ok && len(body) < n {
		return false, fmt.Errorf("block type %d of %d bytes is too short", typ, len(block))
	}
	switch typ {
	case magicSection, blockStatistics:
		return false, checkOptions(order, typ, body[need[typ]:])
	case blockInterface:
		*snaplen = append(*snaplen, order.Uint32(body[4:]))
		return false, checkOptions(order, typ, body[need[typ]:])
	case blockPacket, blockEnhanced:
		iface := int(order.Uint32(body))
		if typ == blockPacket {
			iface = int(order.Uint16(body))
		}
		if iface >= len(*snaplen) {
			return false, fmt.Errorf("packet of interface %d, but the section has %d", iface, len(*snaplen))
		}
		if n := int64(order.Uint32(body[12:])); n > int64(len(body)-20) {
			return false, fmt.Errorf("packet of %d bytes in a block with room for %d", n, len(body)-20)
		}
		return true, nil
	case blockSimple:
		if len(*snaplen) == 0 {
			return false, errors.New("packet before the section's first interface")
		}
		n := int64(order.Uint32(body))
		if s := int64((*snaplen)[0]); s != 0 && n > s {
			n = s
		}
		if n > int64(len(body)-4) {
			return false, fmt.Errorf("packet of %d bytes in a block with room for %d", n, len(body)-4)
		}
		return true, nil
	}
	return false, nil
}

// byteOrder is the order in which one of the magic numbers reads right.
func byteOrder(raw []byte, magics ...uint32) binary.ByteOrder {
	for _, m := range magics {
		if binary.BigEndian.Uint32(raw) == m {
			return binary.BigEndian
		}
	}
	return binary.LittleEndian
}
