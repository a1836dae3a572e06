// Code generated from nic.yaml by go generate ./models/nic/nicspec; DO NOT EDIT.

package nicspec

import "encoding/binary"

// RxCqeSize is the size of a RxCqe in bytes.
const RxCqeSize = 64

// RxCqe is a view of 64 bytes of memory: receive completion entry; reserved bytes are zero.
// Accessors read and write the bytes in place and panic when there are fewer.
type RxCqe []byte

// Type returns type, byte 0: Rx, or Event when the queue entered the error state.
func (b RxCqe) Type() CqeType { return CqeType(b[0]) }

// SetType sets type.
func (b RxCqe) SetType(v CqeType) { b[0] = uint8(v) }

// Status returns status, byte 1: Ok, or the failing read's status in an Event.
func (b RxCqe) Status() Status { return Status(b[1]) }

// SetStatus sets status.
func (b RxCqe) SetStatus(v Status) { b[1] = uint8(v) }

// Queue returns queue, bytes 2..3: receive queue.
func (b RxCqe) Queue() uint16 { return binary.LittleEndian.Uint16(b[2:]) }

// SetQueue sets queue.
func (b RxCqe) SetQueue(v uint16) { binary.LittleEndian.PutUint16(b[2:], v) }

// Index returns index, bytes 4..5: descriptor consumed (free-running); in an Event the first descriptor of the failing read.
func (b RxCqe) Index() uint16 { return binary.LittleEndian.Uint16(b[4:]) }

// SetIndex sets index.
func (b RxCqe) SetIndex(v uint16) { binary.LittleEndian.PutUint16(b[4:], v) }

// Rule returns rule, bytes 6..7: rule that matched, 0xffff for the default action.
func (b RxCqe) Rule() uint16 { return binary.LittleEndian.Uint16(b[6:]) }

// SetRule sets rule.
func (b RxCqe) SetRule(v uint16) { binary.LittleEndian.PutUint16(b[6:], v) }

// PortSeq returns port_seq, bytes 8..11: ordinal of the frame on its port, from 0; dropped frames count.
func (b RxCqe) PortSeq() uint32 { return binary.LittleEndian.Uint32(b[8:]) }

// SetPortSeq sets port_seq.
func (b RxCqe) SetPortSeq(v uint32) { binary.LittleEndian.PutUint32(b[8:], v) }

// FrameLen returns frame_len, bytes 12..13: bytes of the frame.
func (b RxCqe) FrameLen() uint16 { return binary.LittleEndian.Uint16(b[12:]) }

// SetFrameLen sets frame_len.
func (b RxCqe) SetFrameLen(v uint16) { binary.LittleEndian.PutUint16(b[12:], v) }

// HdrLen returns hdr_len, bytes 14..15: bytes written to the header buffer.
func (b RxCqe) HdrLen() uint16 { return binary.LittleEndian.Uint16(b[14:]) }

// SetHdrLen sets hdr_len.
func (b RxCqe) SetHdrLen(v uint16) { binary.LittleEndian.PutUint16(b[14:], v) }

// L3Type returns l3_type, byte 16 bits 1:0: network layer.
func (b RxCqe) L3Type() L3Type { return L3Type(b[16] & 0x3) }

// SetL3Type sets l3_type to the low 2 bits of v.
func (b RxCqe) SetL3Type(v L3Type) {
	b[16] = b[16]&^0x3 | uint8(v)&0x3
}

// L4Type returns l4_type, byte 16 bits 3:2: transport layer.
func (b RxCqe) L4Type() L4Type { return L4Type(b[16] >> 2 & 0x3) }

// SetL4Type sets l4_type to the low 2 bits of v.
func (b RxCqe) SetL4Type(v L4Type) {
	b[16] = b[16]&^0xc | uint8(v<<2)&0xc
}

// VlanCount returns vlan_count, byte 16 bits 5:4: VLAN tags, 0..2.
func (b RxCqe) VlanCount() uint8 { return b[16] >> 4 & 0x3 }

// SetVlanCount sets vlan_count to the low 2 bits of v.
func (b RxCqe) SetVlanCount(v uint8) {
	b[16] = b[16]&^0x30 | v<<4&0x30
}

// Frag returns frag, byte 16 bit 6: IPv4 fragment (MF set or offset not zero).
func (b RxCqe) Frag() bool { return b[16]>>6&1 != 0 }

// SetFrag sets frag.
func (b RxCqe) SetFrag(v bool) {
	b[16] &^= 1 << 6
	if v {
		b[16] |= 1 << 6
	}
}

// Roce returns roce, byte 16 bit 7: a BTH was parsed.
func (b RxCqe) Roce() bool { return b[16]>>7&1 != 0 }

// SetRoce sets roce.
func (b RxCqe) SetRoce(v bool) {
	b[16] &^= 1 << 7
	if v {
		b[16] |= 1 << 7
	}
}

// IpLenBad returns ip_len_bad, byte 17 bit 0: the IP length does not fit header or frame.
func (b RxCqe) IpLenBad() bool { return b[17]&1 != 0 }

// SetIpLenBad sets ip_len_bad.
func (b RxCqe) SetIpLenBad(v bool) {
	b[17] &^= 1 << 0
	if v {
		b[17] |= 1 << 0
	}
}

// L4LenBad returns l4_len_bad, byte 17 bit 1: the UDP length does not fit header or frame.
func (b RxCqe) L4LenBad() bool { return b[17]>>1&1 != 0 }

// SetL4LenBad sets l4_len_bad.
func (b RxCqe) SetL4LenBad(v bool) {
	b[17] &^= 1 << 1
	if v {
		b[17] |= 1 << 1
	}
}

// IpCsum returns ip_csum, byte 17 bits 3:2: IPv4 header checksum.
func (b RxCqe) IpCsum() Verdict { return Verdict(b[17] >> 2 & 0x3) }

// SetIpCsum sets ip_csum to the low 2 bits of v.
func (b RxCqe) SetIpCsum(v Verdict) {
	b[17] = b[17]&^0xc | uint8(v<<2)&0xc
}

// L4Csum returns l4_csum, byte 17 bits 5:4: UDP checksum.
func (b RxCqe) L4Csum() Verdict { return Verdict(b[17] >> 4 & 0x3) }

// SetL4Csum sets l4_csum to the low 2 bits of v.
func (b RxCqe) SetL4Csum(v Verdict) {
	b[17] = b[17]&^0x30 | uint8(v<<4)&0x30
}

// Icrc returns icrc, byte 17 bits 7:6: ICRC.
func (b RxCqe) Icrc() Verdict { return Verdict(b[17] >> 6 & 0x3) }

// SetIcrc sets icrc to the low 2 bits of v.
func (b RxCqe) SetIcrc(v Verdict) {
	b[17] = b[17]&^0xc0 | uint8(v<<6)&0xc0
}

// Crc32c returns crc32c, byte 18 bits 1:0: payload CRC-32C; zero without the part (part crc32c).
func (b RxCqe) Crc32c() Verdict { return Verdict(b[18] & 0x3) }

// SetCrc32c sets crc32c to the low 2 bits of v.
func (b RxCqe) SetCrc32c(v Verdict) {
	b[18] = b[18]&^0x3 | uint8(v)&0x3
}

// SlowPath returns slow_path, byte 18 bit 2: delivered to a slow-path ring; zero without the part (part accounts).
func (b RxCqe) SlowPath() bool { return b[18]>>2&1 != 0 }

// SetSlowPath sets slow_path.
func (b RxCqe) SetSlowPath(v bool) {
	b[18] &^= 1 << 2
	if v {
		b[18] |= 1 << 2
	}
}

// Port returns port, byte 19: Ethernet port.
func (b RxCqe) Port() uint8 { return b[19] }

// SetPort sets port.
func (b RxCqe) SetPort(v uint8) { b[19] = v }

// VlanOuter returns vlan_outer, bytes 20..21: TCI of the first tag, zero without one.
func (b RxCqe) VlanOuter() uint16 { return binary.LittleEndian.Uint16(b[20:]) }

// SetVlanOuter sets vlan_outer.
func (b RxCqe) SetVlanOuter(v uint16) { binary.LittleEndian.PutUint16(b[20:], v) }

// VlanInner returns vlan_inner, bytes 22..23: TCI of the second tag, zero without one.
func (b RxCqe) VlanInner() uint16 { return binary.LittleEndian.Uint16(b[22:]) }

// SetVlanInner sets vlan_inner.
func (b RxCqe) SetVlanInner(v uint16) { binary.LittleEndian.PutUint16(b[22:], v) }

// L3Off returns l3_off, byte 24: offset of the network header (14 + 4 per tag), whatever l3_type is.
func (b RxCqe) L3Off() uint8 { return b[24] }

// SetL3Off sets l3_off.
func (b RxCqe) SetL3Off(v uint8) { b[24] = v }

// L4Off returns l4_off, byte 25: offset of the transport header, zero if l4_type = None.
func (b RxCqe) L4Off() uint8 { return b[25] }

// SetL4Off sets l4_off.
func (b RxCqe) SetL4Off(v uint8) { b[25] = v }

// PayloadOff returns payload_off, bytes 26..27: end of the headers that were parsed.
func (b RxCqe) PayloadOff() uint16 { return binary.LittleEndian.Uint16(b[26:]) }

// SetPayloadOff sets payload_off.
func (b RxCqe) SetPayloadOff(v uint16) { binary.LittleEndian.PutUint16(b[26:], v) }

// RssHash returns rss_hash, bytes 28..31: Toeplitz hash of the frame; zero without the part (part rss).
func (b RxCqe) RssHash() uint32 { return binary.LittleEndian.Uint32(b[28:]) }

// SetRssHash sets rss_hash.
func (b RxCqe) SetRssHash(v uint32) { binary.LittleEndian.PutUint32(b[28:], v) }

// Ethertype returns ethertype, bytes 32..33: EtherType after the tags.
func (b RxCqe) Ethertype() uint16 { return binary.LittleEndian.Uint16(b[32:]) }

// SetEthertype sets ethertype.
func (b RxCqe) SetEthertype(v uint16) { binary.LittleEndian.PutUint16(b[32:], v) }

// IpProto returns ip_proto, byte 34: IPv4 protocol or IPv6 next header, zero without IP.
func (b RxCqe) IpProto() uint8 { return b[34] }

// SetIpProto sets ip_proto.
func (b RxCqe) SetIpProto(v uint8) { b[34] = v }

// IpTos returns ip_tos, byte 35: IPv4 ToS or IPv6 traffic class, zero without IP.
func (b RxCqe) IpTos() uint8 { return b[35] }

// SetIpTos sets ip_tos.
func (b RxCqe) SetIpTos(v uint8) { b[35] = v }

// SrcPort returns src_port, bytes 36..37: L4 source port, zero if l4_type = None.
func (b RxCqe) SrcPort() uint16 { return binary.LittleEndian.Uint16(b[36:]) }

// SetSrcPort sets src_port.
func (b RxCqe) SetSrcPort(v uint16) { binary.LittleEndian.PutUint16(b[36:], v) }

// DstPort returns dst_port, bytes 38..39: L4 destination port, zero if l4_type = None.
func (b RxCqe) DstPort() uint16 { return binary.LittleEndian.Uint16(b[38:]) }

// SetDstPort sets dst_port.
func (b RxCqe) SetDstPort(v uint16) { binary.LittleEndian.PutUint16(b[38:], v) }

// BthOpcode returns bth_opcode, byte 40: BTH opcode; without a BTH it and the next four fields are zero.
func (b RxCqe) BthOpcode() uint8 { return b[40] }

// SetBthOpcode sets bth_opcode.
func (b RxCqe) SetBthOpcode(v uint8) { b[40] = v }

// BthFlags returns bth_flags, byte 41: second byte of the BTH: SE, M, PadCnt, TVer.
func (b RxCqe) BthFlags() uint8 { return b[41] }

// SetBthFlags sets bth_flags.
func (b RxCqe) SetBthFlags(v uint8) { b[41] = v }

// Pkey returns pkey, bytes 42..43: P_Key.
func (b RxCqe) Pkey() uint16 { return binary.LittleEndian.Uint16(b[42:]) }

// SetPkey sets pkey.
func (b RxCqe) SetPkey(v uint16) { binary.LittleEndian.PutUint16(b[42:], v) }

// DestQp returns dest_qp, bytes 44..47: destination QP in bits 23:0; bits 31:24 zero.
func (b RxCqe) DestQp() uint32 { return binary.LittleEndian.Uint32(b[44:]) }

// SetDestQp sets dest_qp.
func (b RxCqe) SetDestQp(v uint32) { binary.LittleEndian.PutUint32(b[44:], v) }

// Psn returns psn, bytes 48..51: PSN in bits 23:0, AckReq in bit 31; bits 30:24 zero.
func (b RxCqe) Psn() uint32 { return binary.LittleEndian.Uint32(b[48:]) }

// SetPsn sets psn.
func (b RxCqe) SetPsn(v uint32) { binary.LittleEndian.PutUint32(b[48:], v) }

// Crc32cValue returns crc32c_value, bytes 52..55: CRC-32C of the payload, zero where [X3] gives none; zero without the part (part crc32c).
func (b RxCqe) Crc32cValue() uint32 { return binary.LittleEndian.Uint32(b[52:]) }

// SetCrc32cValue sets crc32c_value.
func (b RxCqe) SetCrc32cValue(v uint32) { binary.LittleEndian.PutUint32(b[52:], v) }

// AccountSeq returns account_seq, bytes 56..59: ordinal of the frame in its credit account; zero without the part (part accounts).
func (b RxCqe) AccountSeq() uint32 { return binary.LittleEndian.Uint32(b[56:]) }

// SetAccountSeq sets account_seq.
func (b RxCqe) SetAccountSeq(v uint32) { binary.LittleEndian.PutUint32(b[56:], v) }

// PayLen returns pay_len, bytes 60..61: bytes written to the payload buffer; zero without the part (part trim).
func (b RxCqe) PayLen() uint16 { return binary.LittleEndian.Uint16(b[60:]) }

// SetPayLen sets pay_len.
func (b RxCqe) SetPayLen(v uint16) { binary.LittleEndian.PutUint16(b[60:], v) }

// Phase returns phase, byte 63 bit 0: 1 on the first lap of the ring, then toggling.
func (b RxCqe) Phase() bool { return b[63]&1 != 0 }

// SetPhase sets phase.
func (b RxCqe) SetPhase(v bool) {
	b[63] &^= 1 << 0
	if v {
		b[63] |= 1 << 0
	}
}

// RxCqeFields holds the fields of RxCqe as plain values.
type RxCqeFields struct {
	Type        CqeType // Rx, or Event when the queue entered the error state
	Status      Status  // Ok, or the failing read's status in an Event
	Queue       uint16  // receive queue
	Index       uint16  // descriptor consumed (free-running); in an Event the first descriptor of the failing read
	Rule        uint16  // rule that matched, 0xffff for the default action
	PortSeq     uint32  // ordinal of the frame on its port, from 0; dropped frames count
	FrameLen    uint16  // bytes of the frame
	HdrLen      uint16  // bytes written to the header buffer
	L3Type      L3Type  // network layer
	L4Type      L4Type  // transport layer
	VlanCount   uint8   // VLAN tags, 0..2
	Frag        bool    // IPv4 fragment (MF set or offset not zero)
	Roce        bool    // a BTH was parsed
	IpLenBad    bool    // the IP length does not fit header or frame
	L4LenBad    bool    // the UDP length does not fit header or frame
	IpCsum      Verdict // IPv4 header checksum
	L4Csum      Verdict // UDP checksum
	Icrc        Verdict // ICRC
	Crc32c      Verdict // payload CRC-32C; zero without the part (part crc32c)
	SlowPath    bool    // delivered to a slow-path ring; zero without the part (part accounts)
	Port        uint8   // Ethernet port
	VlanOuter   uint16  // TCI of the first tag, zero without one
	VlanInner   uint16  // TCI of the second tag, zero without one
	L3Off       uint8   // offset of the network header (14 + 4 per tag), whatever l3_type is
	L4Off       uint8   // offset of the transport header, zero if l4_type = None
	PayloadOff  uint16  // end of the headers that were parsed
	RssHash     uint32  // Toeplitz hash of the frame; zero without the part (part rss)
	Ethertype   uint16  // EtherType after the tags
	IpProto     uint8   // IPv4 protocol or IPv6 next header, zero without IP
	IpTos       uint8   // IPv4 ToS or IPv6 traffic class, zero without IP
	SrcPort     uint16  // L4 source port, zero if l4_type = None
	DstPort     uint16  // L4 destination port, zero if l4_type = None
	BthOpcode   uint8   // BTH opcode; without a BTH it and the next four fields are zero
	BthFlags    uint8   // second byte of the BTH: SE, M, PadCnt, TVer
	Pkey        uint16  // P_Key
	DestQp      uint32  // destination QP in bits 23:0; bits 31:24 zero
	Psn         uint32  // PSN in bits 23:0, AckReq in bit 31; bits 30:24 zero
	Crc32cValue uint32  // CRC-32C of the payload, zero where [X3] gives none; zero without the part (part crc32c)
	AccountSeq  uint32  // ordinal of the frame in its credit account; zero without the part (part accounts)
	PayLen      uint16  // bytes written to the payload buffer; zero without the part (part trim)
	Phase       bool    // 1 on the first lap of the ring, then toggling
}

// DecodeRxCqe reads all fields; it panics when b is shorter than 64 bytes.
func DecodeRxCqe(b []byte) (f RxCqeFields) {
	v := RxCqe(b[:64])
	f.Type = v.Type()
	f.Status = v.Status()
	f.Queue = v.Queue()
	f.Index = v.Index()
	f.Rule = v.Rule()
	f.PortSeq = v.PortSeq()
	f.FrameLen = v.FrameLen()
	f.HdrLen = v.HdrLen()
	f.L3Type = v.L3Type()
	f.L4Type = v.L4Type()
	f.VlanCount = v.VlanCount()
	f.Frag = v.Frag()
	f.Roce = v.Roce()
	f.IpLenBad = v.IpLenBad()
	f.L4LenBad = v.L4LenBad()
	f.IpCsum = v.IpCsum()
	f.L4Csum = v.L4Csum()
	f.Icrc = v.Icrc()
	f.Crc32c = v.Crc32c()
	f.SlowPath = v.SlowPath()
	f.Port = v.Port()
	f.VlanOuter = v.VlanOuter()
	f.VlanInner = v.VlanInner()
	f.L3Off = v.L3Off()
	f.L4Off = v.L4Off()
	f.PayloadOff = v.PayloadOff()
	f.RssHash = v.RssHash()
	f.Ethertype = v.Ethertype()
	f.IpProto = v.IpProto()
	f.IpTos = v.IpTos()
	f.SrcPort = v.SrcPort()
	f.DstPort = v.DstPort()
	f.BthOpcode = v.BthOpcode()
	f.BthFlags = v.BthFlags()
	f.Pkey = v.Pkey()
	f.DestQp = v.DestQp()
	f.Psn = v.Psn()
	f.Crc32cValue = v.Crc32cValue()
	f.AccountSeq = v.AccountSeq()
	f.PayLen = v.PayLen()
	f.Phase = v.Phase()
	return f
}

// Encode writes all fields and zeros the reserved bits of dst's first 64 bytes; it panics when
// there are fewer.
func (f *RxCqeFields) Encode(dst []byte) {
	v := RxCqe(dst[:64])
	clear(v)
	v.SetType(f.Type)
	v.SetStatus(f.Status)
	v.SetQueue(f.Queue)
	v.SetIndex(f.Index)
	v.SetRule(f.Rule)
	v.SetPortSeq(f.PortSeq)
	v.SetFrameLen(f.FrameLen)
	v.SetHdrLen(f.HdrLen)
	v.SetL3Type(f.L3Type)
	v.SetL4Type(f.L4Type)
	v.SetVlanCount(f.VlanCount)
	v.SetFrag(f.Frag)
	v.SetRoce(f.Roce)
	v.SetIpLenBad(f.IpLenBad)
	v.SetL4LenBad(f.L4LenBad)
	v.SetIpCsum(f.IpCsum)
	v.SetL4Csum(f.L4Csum)
	v.SetIcrc(f.Icrc)
	v.SetCrc32c(f.Crc32c)
	v.SetSlowPath(f.SlowPath)
	v.SetPort(f.Port)
	v.SetVlanOuter(f.VlanOuter)
	v.SetVlanInner(f.VlanInner)
	v.SetL3Off(f.L3Off)
	v.SetL4Off(f.L4Off)
	v.SetPayloadOff(f.PayloadOff)
	v.SetRssHash(f.RssHash)
	v.SetEthertype(f.Ethertype)
	v.SetIpProto(f.IpProto)
	v.SetIpTos(f.IpTos)
	v.SetSrcPort(f.SrcPort)
	v.SetDstPort(f.DstPort)
	v.SetBthOpcode(f.BthOpcode)
	v.SetBthFlags(f.BthFlags)
	v.SetPkey(f.Pkey)
	v.SetDestQp(f.DestQp)
	v.SetPsn(f.Psn)
	v.SetCrc32cValue(f.Crc32cValue)
	v.SetAccountSeq(f.AccountSeq)
	v.SetPayLen(f.PayLen)
	v.SetPhase(f.Phase)
}

// DiffRxCqe compares two structures: it returns ok if they are equal, else the first field that differs
// and both values, as StructInfo.Diff does.
func DiffRxCqe(exp, got []byte) (field, e, g string, ok bool) { return RxCqeInfo.Diff(exp, got) }

// String lists the fields that are not zero.
func (b RxCqe) String() string { return RxCqeInfo.Format(b) }
