// Code generated from nic.yaml by go generate ./models/nic/nicspec; DO NOT EDIT.

package nicspec

import "encoding/binary"

// WqeSize is the size of a Wqe in bytes.
const WqeSize = 64

// Wqe is a view of 64 bytes of memory: transmit work entry, or its first block, in the ring at ring_base + 64 * (index mod size).
// Accessors read and write the bytes in place and panic when there are fewer.
type Wqe []byte

// Opcode returns opcode, byte 0: what to do.
func (b Wqe) Opcode() Opcode { return Opcode(b[0]) }

// SetOpcode sets opcode.
func (b Wqe) SetOpcode(v Opcode) { b[0] = uint8(v) }

// Nseg returns nseg, byte 1: number of pieces, 0..8; inline bytes and pieces must fit the entry's slots.
func (b Wqe) Nseg() uint8 { return b[1] }

// SetNseg sets nseg.
func (b Wqe) SetNseg(v uint8) { b[1] = v }

// InlineLen returns inline_len, byte 2: number of inline bytes, 0..176, with which the frame begins; inline bytes and pieces must fit the entry's slots.
func (b Wqe) InlineLen() uint8 { return b[2] }

// SetInlineLen sets inline_len.
func (b Wqe) SetInlineLen(v uint8) { b[2] = v }

// Port returns port, byte 3: Ethernet port.
func (b Wqe) Port() uint8 { return b[3] }

// SetPort sets port.
func (b Wqe) SetPort(v uint8) { b[3] = v }

// FComplete returns f_complete, byte 4 bit 0: write a completion entry even if the status is Ok.
func (b Wqe) FComplete() bool { return b[4]&1 != 0 }

// SetFComplete sets f_complete.
func (b Wqe) SetFComplete(v bool) {
	b[4] &^= 1 << 0
	if v {
		b[4] |= 1 << 0
	}
}

// FIpCsum returns f_ip_csum, byte 4 bit 1: insert the IPv4 header checksum.
func (b Wqe) FIpCsum() bool { return b[4]>>1&1 != 0 }

// SetFIpCsum sets f_ip_csum.
func (b Wqe) SetFIpCsum(v bool) {
	b[4] &^= 1 << 1
	if v {
		b[4] |= 1 << 1
	}
}

// FUdpCsum returns f_udp_csum, byte 4 bit 2: insert the UDP checksum.
func (b Wqe) FUdpCsum() bool { return b[4]>>2&1 != 0 }

// SetFUdpCsum sets f_udp_csum.
func (b Wqe) SetFUdpCsum(v bool) {
	b[4] &^= 1 << 2
	if v {
		b[4] |= 1 << 2
	}
}

// FUdpZero returns f_udp_zero, byte 4 bit 3: set the UDP checksum to zero.
func (b Wqe) FUdpZero() bool { return b[4]>>3&1 != 0 }

// SetFUdpZero sets f_udp_zero.
func (b Wqe) SetFUdpZero(v bool) {
	b[4] &^= 1 << 3
	if v {
		b[4] |= 1 << 3
	}
}

// FIcrc returns f_icrc, byte 4 bit 4: insert the ICRC.
func (b Wqe) FIcrc() bool { return b[4]>>4&1 != 0 }

// SetFIcrc sets f_icrc.
func (b Wqe) SetFIcrc(v bool) {
	b[4] &^= 1 << 4
	if v {
		b[4] |= 1 << 4
	}
}

// FCrc32c returns f_crc32c, byte 4 bit 5: insert a CRC-32C over the payload; status BadOffload in a build without the part (part crc32c).
func (b Wqe) FCrc32c() bool { return b[4]>>5&1 != 0 }

// SetFCrc32c sets f_crc32c.
func (b Wqe) SetFCrc32c(v bool) {
	b[4] &^= 1 << 5
	if v {
		b[4] |= 1 << 5
	}
}

// FPad returns f_pad, byte 4 bit 6: append zero bytes until the frame has 60 bytes.
func (b Wqe) FPad() bool { return b[4]>>6&1 != 0 }

// SetFPad sets f_pad.
func (b Wqe) SetFPad(v bool) {
	b[4] &^= 1 << 6
	if v {
		b[4] |= 1 << 6
	}
}

// FFence returns f_fence, byte 4 bit 7: copies: the first write leaves after all writes and messages of the queue's earlier entries; reserved without the part (part fence).
func (b Wqe) FFence() bool { return b[4]>>7&1 != 0 }

// SetFFence sets f_fence.
func (b Wqe) SetFFence(v bool) {
	b[4] &^= 1 << 7
	if v {
		b[4] |= 1 << 7
	}
}

// FAppend returns f_append, byte 5 bit 0: append pad bytes and the ICRC; reserved without the part (part append).
func (b Wqe) FAppend() bool { return b[5]&1 != 0 }

// SetFAppend sets f_append.
func (b Wqe) SetFAppend(v bool) {
	b[5] &^= 1 << 0
	if v {
		b[5] |= 1 << 0
	}
}

// FRsvd returns f_rsvd, byte 5 bits 5:1: zero, else BadFormat.
func (b Wqe) FRsvd() uint8 { return b[5] >> 1 & 0x1f }

// SetFRsvd sets f_rsvd to the low 5 bits of v.
func (b Wqe) SetFRsvd(v uint8) {
	b[5] = b[5]&^0x3e | v<<1&0x3e
}

// Blocks returns blocks, byte 5 bits 7:6: blocks of the entry beyond its first; reserved without the part (part long).
func (b Wqe) Blocks() uint8 { return b[5] >> 6 & 0x3 }

// SetBlocks sets blocks to the low 2 bits of v.
func (b Wqe) SetBlocks(v uint8) {
	b[5] = b[5]&^0xc0 | v<<6&0xc0
}

// CrcOff returns crc_off, bytes 6..7: where the CRC-32C is written; ignored without the part (part crc32c).
func (b Wqe) CrcOff() uint16 { return binary.LittleEndian.Uint16(b[6:]) }

// SetCrcOff sets crc_off.
func (b Wqe) SetCrcOff(v uint16) { binary.LittleEndian.PutUint16(b[6:], v) }

// WqeId returns wqe_id, bytes 8..11: returned in the completion entry.
func (b Wqe) WqeId() uint32 { return binary.LittleEndian.Uint32(b[8:]) }

// SetWqeId sets wqe_id.
func (b Wqe) SetWqeId(v uint32) { binary.LittleEndian.PutUint32(b[8:], v) }

// L3Off returns l3_off, byte 12: offset of the IP header, for the offloads.
func (b Wqe) L3Off() uint8 { return b[12] }

// SetL3Off sets l3_off.
func (b Wqe) SetL3Off(v uint8) { b[12] = v }

// L4Off returns l4_off, byte 13: offset of the UDP header, for the offloads.
func (b Wqe) L4Off() uint8 { return b[13] }

// SetL4Off sets l4_off.
func (b Wqe) SetL4Off(v uint8) { b[13] = v }

// CrcStart returns crc_start, bytes 14..15: first byte that the CRC-32C covers; ignored without the part (part crc32c).
func (b Wqe) CrcStart() uint16 { return binary.LittleEndian.Uint16(b[14:]) }

// SetCrcStart sets crc_start.
func (b Wqe) SetCrcStart(v uint16) { binary.LittleEndian.PutUint16(b[14:], v) }

// Slots returns slots, bytes 16..63: inline bytes in the first ceil(inline_len/16) slots, counted over all blocks, then nseg pieces, one a slot; other slots are ignored.
func (b Wqe) Slots() []byte { return b[16:64:64] }

// SetSlots copies v to slots and fills up with zeros; it panics when v is longer than 48 bytes.
func (b Wqe) SetSlots(v []byte) { putBytes(b[16:64], v) }

// WqeFields holds the fields of Wqe as plain values.
type WqeFields struct {
	Opcode    Opcode   // what to do
	Nseg      uint8    // number of pieces, 0..8; inline bytes and pieces must fit the entry's slots
	InlineLen uint8    // number of inline bytes, 0..176, with which the frame begins; inline bytes and pieces must fit the entry's slots
	Port      uint8    // Ethernet port
	FComplete bool     // write a completion entry even if the status is Ok
	FIpCsum   bool     // insert the IPv4 header checksum
	FUdpCsum  bool     // insert the UDP checksum
	FUdpZero  bool     // set the UDP checksum to zero
	FIcrc     bool     // insert the ICRC
	FCrc32c   bool     // insert a CRC-32C over the payload; status BadOffload in a build without the part (part crc32c)
	FPad      bool     // append zero bytes until the frame has 60 bytes
	FFence    bool     // copies: the first write leaves after all writes and messages of the queue's earlier entries; reserved without the part (part fence)
	FAppend   bool     // append pad bytes and the ICRC; reserved without the part (part append)
	FRsvd     uint8    // zero, else BadFormat
	Blocks    uint8    // blocks of the entry beyond its first; reserved without the part (part long)
	CrcOff    uint16   // where the CRC-32C is written; ignored without the part (part crc32c)
	WqeId     uint32   // returned in the completion entry
	L3Off     uint8    // offset of the IP header, for the offloads
	L4Off     uint8    // offset of the UDP header, for the offloads
	CrcStart  uint16   // first byte that the CRC-32C covers; ignored without the part (part crc32c)
	Slots     [48]byte // inline bytes in the first ceil(inline_len/16) slots, counted over all blocks, then nseg pieces, one a slot; other slots are ignored
}

// DecodeWqe reads all fields; it panics when b is shorter than 64 bytes.
func DecodeWqe(b []byte) (f WqeFields) {
	v := Wqe(b[:64])
	f.Opcode = v.Opcode()
	f.Nseg = v.Nseg()
	f.InlineLen = v.InlineLen()
	f.Port = v.Port()
	f.FComplete = v.FComplete()
	f.FIpCsum = v.FIpCsum()
	f.FUdpCsum = v.FUdpCsum()
	f.FUdpZero = v.FUdpZero()
	f.FIcrc = v.FIcrc()
	f.FCrc32c = v.FCrc32c()
	f.FPad = v.FPad()
	f.FFence = v.FFence()
	f.FAppend = v.FAppend()
	f.FRsvd = v.FRsvd()
	f.Blocks = v.Blocks()
	f.CrcOff = v.CrcOff()
	f.WqeId = v.WqeId()
	f.L3Off = v.L3Off()
	f.L4Off = v.L4Off()
	f.CrcStart = v.CrcStart()
	copy(f.Slots[:], v.Slots())
	return f
}

// Encode writes all fields and zeros the reserved bits of dst's first 64 bytes; it panics when
// there are fewer.
func (f *WqeFields) Encode(dst []byte) {
	v := Wqe(dst[:64])
	clear(v)
	v.SetOpcode(f.Opcode)
	v.SetNseg(f.Nseg)
	v.SetInlineLen(f.InlineLen)
	v.SetPort(f.Port)
	v.SetFComplete(f.FComplete)
	v.SetFIpCsum(f.FIpCsum)
	v.SetFUdpCsum(f.FUdpCsum)
	v.SetFUdpZero(f.FUdpZero)
	v.SetFIcrc(f.FIcrc)
	v.SetFCrc32c(f.FCrc32c)
	v.SetFPad(f.FPad)
	v.SetFFence(f.FFence)
	v.SetFAppend(f.FAppend)
	v.SetFRsvd(f.FRsvd)
	v.SetBlocks(f.Blocks)
	v.SetCrcOff(f.CrcOff)
	v.SetWqeId(f.WqeId)
	v.SetL3Off(f.L3Off)
	v.SetL4Off(f.L4Off)
	v.SetCrcStart(f.CrcStart)
	v.SetSlots(f.Slots[:])
}

// DiffWqe compares two structures: it returns ok if they are equal, else the first field that differs
// and both values, as StructInfo.Diff does.
func DiffWqe(exp, got []byte) (field, e, g string, ok bool) { return WqeInfo.Diff(exp, got) }

// String lists the fields that are not zero.
func (b Wqe) String() string { return WqeInfo.Format(b) }
