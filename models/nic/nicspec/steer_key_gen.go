// Code generated from nic.yaml by go generate ./models/nic/nicspec; DO NOT EDIT.

package nicspec

import "encoding/binary"

// SteerKeySize is the size of a SteerKey in bytes.
const SteerKeySize = 56

// SteerKey is a view of 56 bytes of memory: fields that rules compare; fields of absent layers are zero.
// Accessors read and write the bytes in place and panic when there are fewer.
type SteerKey []byte

// Port returns port, byte 0: Ethernet port.
func (b SteerKey) Port() uint8 { return b[0] }

// SetPort sets port.
func (b SteerKey) SetPort(v uint8) { b[0] = v }

// IpProto returns ip_proto, byte 1: IPv4 protocol or IPv6 next header.
func (b SteerKey) IpProto() uint8 { return b[1] }

// SetIpProto sets ip_proto.
func (b SteerKey) SetIpProto(v uint8) { b[1] = v }

// IsIpv4 returns is_ipv4, byte 2 bit 0: l3_type is Ipv4.
func (b SteerKey) IsIpv4() bool { return b[2]&1 != 0 }

// SetIsIpv4 sets is_ipv4.
func (b SteerKey) SetIsIpv4(v bool) {
	b[2] &^= 1 << 0
	if v {
		b[2] |= 1 << 0
	}
}

// IsIpv6 returns is_ipv6, byte 2 bit 1: l3_type is Ipv6.
func (b SteerKey) IsIpv6() bool { return b[2]>>1&1 != 0 }

// SetIsIpv6 sets is_ipv6.
func (b SteerKey) SetIsIpv6(v bool) {
	b[2] &^= 1 << 1
	if v {
		b[2] |= 1 << 1
	}
}

// IsUdp returns is_udp, byte 2 bit 2: l4_type is Udp.
func (b SteerKey) IsUdp() bool { return b[2]>>2&1 != 0 }

// SetIsUdp sets is_udp.
func (b SteerKey) SetIsUdp(v bool) {
	b[2] &^= 1 << 2
	if v {
		b[2] |= 1 << 2
	}
}

// IsTcp returns is_tcp, byte 2 bit 3: l4_type is Tcp.
func (b SteerKey) IsTcp() bool { return b[2]>>3&1 != 0 }

// SetIsTcp sets is_tcp.
func (b SteerKey) SetIsTcp(v bool) {
	b[2] &^= 1 << 3
	if v {
		b[2] |= 1 << 3
	}
}

// IsRoce returns is_roce, byte 2 bit 4: a BTH was parsed.
func (b SteerKey) IsRoce() bool { return b[2]>>4&1 != 0 }

// SetIsRoce sets is_roce.
func (b SteerKey) SetIsRoce(v bool) {
	b[2] &^= 1 << 4
	if v {
		b[2] |= 1 << 4
	}
}

// IsFrag returns is_frag, byte 2 bit 5: IPv4 fragment.
func (b SteerKey) IsFrag() bool { return b[2]>>5&1 != 0 }

// SetIsFrag sets is_frag.
func (b SteerKey) SetIsFrag(v bool) {
	b[2] &^= 1 << 5
	if v {
		b[2] |= 1 << 5
	}
}

// IpLenBad returns ip_len_bad, byte 2 bit 6: as in the completion entry.
func (b SteerKey) IpLenBad() bool { return b[2]>>6&1 != 0 }

// SetIpLenBad sets ip_len_bad.
func (b SteerKey) SetIpLenBad(v bool) {
	b[2] &^= 1 << 6
	if v {
		b[2] |= 1 << 6
	}
}

// L4LenBad returns l4_len_bad, byte 2 bit 7: as in the completion entry.
func (b SteerKey) L4LenBad() bool { return b[2]>>7&1 != 0 }

// SetL4LenBad sets l4_len_bad.
func (b SteerKey) SetL4LenBad(v bool) {
	b[2] &^= 1 << 7
	if v {
		b[2] |= 1 << 7
	}
}

// HasVlan returns has_vlan, byte 3 bit 0: at least one tag.
func (b SteerKey) HasVlan() bool { return b[3]&1 != 0 }

// SetHasVlan sets has_vlan.
func (b SteerKey) SetHasVlan(v bool) {
	b[3] &^= 1 << 0
	if v {
		b[3] |= 1 << 0
	}
}

// HasVlan2 returns has_vlan2, byte 3 bit 1: two tags.
func (b SteerKey) HasVlan2() bool { return b[3]>>1&1 != 0 }

// SetHasVlan2 sets has_vlan2.
func (b SteerKey) SetHasVlan2(v bool) {
	b[3] &^= 1 << 1
	if v {
		b[3] |= 1 << 1
	}
}

// Ethertype returns ethertype, bytes 4..5: EtherType after the tags.
func (b SteerKey) Ethertype() uint16 { return binary.LittleEndian.Uint16(b[4:]) }

// SetEthertype sets ethertype.
func (b SteerKey) SetEthertype(v uint16) { binary.LittleEndian.PutUint16(b[4:], v) }

// VlanOuter returns vlan_outer, bytes 6..7: TCI of the first tag.
func (b SteerKey) VlanOuter() uint16 { return binary.LittleEndian.Uint16(b[6:]) }

// SetVlanOuter sets vlan_outer.
func (b SteerKey) SetVlanOuter(v uint16) { binary.LittleEndian.PutUint16(b[6:], v) }

// Dmac returns dmac, bytes 8..13: destination MAC address.
func (b SteerKey) Dmac() []byte { return b[8:14:14] }

// SetDmac copies v to dmac and fills up with zeros; it panics when v is longer than 6 bytes.
func (b SteerKey) SetDmac(v []byte) { putBytes(b[8:14], v) }

// IpTos returns ip_tos, byte 14: IPv4 ToS or IPv6 traffic class.
func (b SteerKey) IpTos() uint8 { return b[14] }

// SetIpTos sets ip_tos.
func (b SteerKey) SetIpTos(v uint8) { b[14] = v }

// BthOpcode returns bth_opcode, byte 15: BTH opcode.
func (b SteerKey) BthOpcode() uint8 { return b[15] }

// SetBthOpcode sets bth_opcode.
func (b SteerKey) SetBthOpcode(v uint8) { b[15] = v }

// SrcAddr returns src_addr, bytes 16..31: source address; IPv4 in the first four bytes, the rest zero.
func (b SteerKey) SrcAddr() []byte { return b[16:32:32] }

// SetSrcAddr copies v to src_addr and fills up with zeros; it panics when v is longer than 16 bytes.
func (b SteerKey) SetSrcAddr(v []byte) { putBytes(b[16:32], v) }

// DstAddr returns dst_addr, bytes 32..47: destination address; IPv4 in the first four bytes, the rest zero.
func (b SteerKey) DstAddr() []byte { return b[32:48:48] }

// SetDstAddr copies v to dst_addr and fills up with zeros; it panics when v is longer than 16 bytes.
func (b SteerKey) SetDstAddr(v []byte) { putBytes(b[32:48], v) }

// SrcPort returns src_port, bytes 48..49: L4 source port.
func (b SteerKey) SrcPort() uint16 { return binary.LittleEndian.Uint16(b[48:]) }

// SetSrcPort sets src_port.
func (b SteerKey) SetSrcPort(v uint16) { binary.LittleEndian.PutUint16(b[48:], v) }

// DstPort returns dst_port, bytes 50..51: L4 destination port.
func (b SteerKey) DstPort() uint16 { return binary.LittleEndian.Uint16(b[50:]) }

// SetDstPort sets dst_port.
func (b SteerKey) SetDstPort(v uint16) { binary.LittleEndian.PutUint16(b[50:], v) }

// DestQp returns dest_qp, bytes 52..55: BTH destination QP in bits 23:0.
func (b SteerKey) DestQp() uint32 { return binary.LittleEndian.Uint32(b[52:]) }

// SetDestQp sets dest_qp.
func (b SteerKey) SetDestQp(v uint32) { binary.LittleEndian.PutUint32(b[52:], v) }

// SteerKeyFields holds the fields of SteerKey as plain values.
type SteerKeyFields struct {
	Port      uint8    // Ethernet port
	IpProto   uint8    // IPv4 protocol or IPv6 next header
	IsIpv4    bool     // l3_type is Ipv4
	IsIpv6    bool     // l3_type is Ipv6
	IsUdp     bool     // l4_type is Udp
	IsTcp     bool     // l4_type is Tcp
	IsRoce    bool     // a BTH was parsed
	IsFrag    bool     // IPv4 fragment
	IpLenBad  bool     // as in the completion entry
	L4LenBad  bool     // as in the completion entry
	HasVlan   bool     // at least one tag
	HasVlan2  bool     // two tags
	Ethertype uint16   // EtherType after the tags
	VlanOuter uint16   // TCI of the first tag
	Dmac      [6]byte  // destination MAC address
	IpTos     uint8    // IPv4 ToS or IPv6 traffic class
	BthOpcode uint8    // BTH opcode
	SrcAddr   [16]byte // source address; IPv4 in the first four bytes, the rest zero
	DstAddr   [16]byte // destination address; IPv4 in the first four bytes, the rest zero
	SrcPort   uint16   // L4 source port
	DstPort   uint16   // L4 destination port
	DestQp    uint32   // BTH destination QP in bits 23:0
}

// DecodeSteerKey reads all fields; it panics when b is shorter than 56 bytes.
func DecodeSteerKey(b []byte) (f SteerKeyFields) {
	v := SteerKey(b[:56])
	f.Port = v.Port()
	f.IpProto = v.IpProto()
	f.IsIpv4 = v.IsIpv4()
	f.IsIpv6 = v.IsIpv6()
	f.IsUdp = v.IsUdp()
	f.IsTcp = v.IsTcp()
	f.IsRoce = v.IsRoce()
	f.IsFrag = v.IsFrag()
	f.IpLenBad = v.IpLenBad()
	f.L4LenBad = v.L4LenBad()
	f.HasVlan = v.HasVlan()
	f.HasVlan2 = v.HasVlan2()
	f.Ethertype = v.Ethertype()
	f.VlanOuter = v.VlanOuter()
	copy(f.Dmac[:], v.Dmac())
	f.IpTos = v.IpTos()
	f.BthOpcode = v.BthOpcode()
	copy(f.SrcAddr[:], v.SrcAddr())
	copy(f.DstAddr[:], v.DstAddr())
	f.SrcPort = v.SrcPort()
	f.DstPort = v.DstPort()
	f.DestQp = v.DestQp()
	return f
}

// Encode writes all fields and zeros the reserved bits of dst's first 56 bytes; it panics when
// there are fewer.
func (f *SteerKeyFields) Encode(dst []byte) {
	v := SteerKey(dst[:56])
	clear(v)
	v.SetPort(f.Port)
	v.SetIpProto(f.IpProto)
	v.SetIsIpv4(f.IsIpv4)
	v.SetIsIpv6(f.IsIpv6)
	v.SetIsUdp(f.IsUdp)
	v.SetIsTcp(f.IsTcp)
	v.SetIsRoce(f.IsRoce)
	v.SetIsFrag(f.IsFrag)
	v.SetIpLenBad(f.IpLenBad)
	v.SetL4LenBad(f.L4LenBad)
	v.SetHasVlan(f.HasVlan)
	v.SetHasVlan2(f.HasVlan2)
	v.SetEthertype(f.Ethertype)
	v.SetVlanOuter(f.VlanOuter)
	v.SetDmac(f.Dmac[:])
	v.SetIpTos(f.IpTos)
	v.SetBthOpcode(f.BthOpcode)
	v.SetSrcAddr(f.SrcAddr[:])
	v.SetDstAddr(f.DstAddr[:])
	v.SetSrcPort(f.SrcPort)
	v.SetDstPort(f.DstPort)
	v.SetDestQp(f.DestQp)
}

// DiffSteerKey compares two structures: it returns ok if they are equal, else the first field that differs
// and both values, as StructInfo.Diff does.
func DiffSteerKey(exp, got []byte) (field, e, g string, ok bool) { return SteerKeyInfo.Diff(exp, got) }

// String lists the fields that are not zero.
func (b SteerKey) String() string { return SteerKeyInfo.Format(b) }
