package core

import (
	"encoding/binary"

	"nictwin/models/format/wire"
	"nictwin/models/nic/nicspec"
)

// FinishTx applies [T5], [T7], [T8], [T15], [X1] and [E2] to a gathered frame, in place: appended
// bytes, offloads and padding. frame has the plan's Length bytes, including the inline bytes, and a
// capacity of at least its Room. FinishTx returns the frame that leaves; with a status other than
// Ok nothing leaves.
func FinishTx(p *TxPlan, frame []byte) ([]byte, nicspec.Status) {
	frame = frame[:p.Length]
	if p.Append {
		n := p.appended(frame)
		if n == 0 {
			return nil, nicspec.StatusBadOffload
		}
		frame = extend(frame, n)
	}
	if p.ECN != 0 && ecnFits(p.L3Off, frame) {
		SetECN(frame[p.L3Off:], p.ECN)
	}
	if p.IPCsum && !ipCsumFits(p, frame) || p.UDPZero && !udpFits(p, frame) ||
		p.UDPCsum && !udpCsumFits(p, frame) || p.ICRC && !icrcFits(p, frame) || p.CRC32C && !crc32cFits(p, frame) {
		return nil, nicspec.StatusBadOffload
	}
	p.offload(frame)
	if p.Pad && len(frame) < nicspec.FrameMin {
		frame = extend(frame, nicspec.FrameMin)
	}
	return frame, nicspec.StatusOk
}

// extend adds zero bytes to a frame up to a length of n.
func extend(frame []byte, n int) []byte {
	old := len(frame)
	frame = frame[:n]
	clear(frame[old:])
	return frame
}

// appended returns the length of a gathered frame with its pad bytes and ICRC, or 0 if the headers
// do not allow them [T15].
func (p *TxPlan) appended(frame []byte) int {
	l4 := p.L4Off
	if l4+bthEndInUDP > headerLimit(frame) {
		return 0
	}
	n := len(frame) + padBytes(frame[l4+bthOffInUDP+1]) + icrcBytes
	if l4+udpLen(frame, l4) != n {
		return 0
	}
	return n
}

// offload applies the offloads of the plan, in the order of [X2] and [T8].
func (p *TxPlan) offload(frame []byte) {
	l3, l4 := p.L3Off, p.L4Off
	hdrLen := 0 // read before anything is written: with l4 before l3, f_udp_zero may overwrite the IHL
	if p.IPCsum {
		hdrLen = ihl(frame, l3)
	}
	var pseudo wire.PartialSum // over the addresses as gathered, even if the CRC-32C overwrites them
	if p.UDPCsum {
		pseudo = wire.PseudoHeader(addresses(frame, l3), protoUDP, uint32(udpLen(frame, l4)))
	}
	if p.CRC32C {
		setCRC32C(p, frame)
	}
	if p.ICRC {
		at := l4 + udpLen(frame, l4) - icrcBytes
		binary.LittleEndian.PutUint32(frame[at:], wire.CoveredCRC(frame[l3:], l4-l3, at-l3))
	}
	if p.UDPZero {
		binary.BigEndian.PutUint16(frame[l4+udpCsumOff:], 0)
	}
	if p.UDPCsum {
		setUDPCsum(frame[l4:l4+udpLen(frame, l4)], pseudo)
	}
	if p.IPCsum {
		hdr := frame[l3 : l3+hdrLen]
		binary.BigEndian.PutUint16(hdr[ipv4CsumOff:], 0)
		binary.BigEndian.PutUint16(hdr[ipv4CsumOff:], wire.Checksum(hdr))
	}
}

func setUDPCsum(udp []byte, pseudo wire.PartialSum) {
	binary.BigEndian.PutUint16(udp[udpCsumOff:], 0)
	c := pseudo.Add(udp).Checksum()
	if c == 0 {
		c = 0xffff
	}
	binary.BigEndian.PutUint16(udp[udpCsumOff:], c)
}

func ipCsumFits(p *TxPlan, f []byte) bool {
	l3 := p.L3Off
	return l3+ipv4MinBytes <= len(f) && f[l3]>>4 == 4 && ihl(f, l3) >= ipv4MinBytes && l3+ihl(f, l3) <= headerLimit(f)
}

func udpFits(p *TxPlan, f []byte) bool { return p.L4Off+udpBytes <= headerLimit(f) }

func udpCsumFits(p *TxPlan, f []byte) bool {
	l3, l4 := p.L3Off, p.L4Off
	if !udpFits(p, f) || l3 >= l4 {
		return false
	}
	fixed := 0
	switch f[l3] >> 4 {
	case 4:
		fixed = ipv4MinBytes
	case 6:
		fixed = ipv6Bytes
	default:
		return false
	}
	u := udpLen(f, l4)
	return l3+fixed <= headerLimit(f) && u >= udpBytes && l4+u <= len(f)
}

func icrcFits(p *TxPlan, f []byte) bool {
	l3, l4 := p.L3Off, p.L4Off
	if l4+bthEndInUDP > headerLimit(f) || l3 >= l4 {
		return false
	}
	switch f[l3] >> 4 {
	case 4:
		if ihl(f, l3) < ipv4MinBytes || l4 != l3+ihl(f, l3) {
			return false
		}
	case 6:
		if l4 != l3+ipv6Bytes {
			return false
		}
	default:
		return false
	}
	u := udpLen(f, l4)
	return u >= icrcMinUDP && l4+u <= len(f)
}
