package core

import (
	"encoding/binary"

	"nictwin/models/format/wire"
	"nictwin/models/nic/nicspec"
)

const (
	ipv4CsumOff  = 10
	udpLengthOff = 4
	udpCsumOff   = 6
)

// CheckIPCsum checks the IPv4 header checksum [H8].
func CheckIPCsum(frame []byte, h *Headers) nicspec.Verdict {
	if h.L3Type != nicspec.L3TypeIpv4 {
		return nicspec.VerdictNotChecked
	}
	l3 := int(h.L3Off)
	return verdict(wire.Checksum(frame[l3:l3+int(h.IPHdrLen)]) == 0)
}

// CheckL4Csum checks the UDP checksum [H9].
func CheckL4Csum(frame []byte, h *Headers) nicspec.Verdict {
	if h.L4Type != nicspec.L4TypeUdp || h.L4LenBad || h.Frag {
		return nicspec.VerdictNotChecked
	}
	l4 := int(h.L4Off)
	udp := frame[l4 : l4+int(h.UDPLen)]
	if binary.BigEndian.Uint16(udp[udpCsumOff:]) == 0 {
		return nicspec.VerdictNotChecked
	}
	sum := wire.PseudoHeader(addresses(frame, int(h.L3Off)), protoUDP, uint32(len(udp)))
	return verdict(sum.Add(udp).Checksum() == 0)
}

// addresses returns source and destination of the IP header at l3, which are adjacent.
func addresses(frame []byte, l3 int) []byte {
	if frame[l3]>>4 == 4 {
		return frame[l3+12 : l3+ipv4MinBytes]
	}
	return frame[l3+8 : l3+ipv6Bytes]
}

func verdict(ok bool) nicspec.Verdict {
	if ok {
		return nicspec.VerdictOk
	}
	return nicspec.VerdictBad
}

// headerLimit returns the offset before which the headers of a frame must end to be used by
// offloads [T7].
func headerLimit(frame []byte) int { return min(len(frame), nicspec.ParseBytes) }

func ihl(frame []byte, l3 int) int { return int(frame[l3]&0xf) * 4 }

func udpLen(frame []byte, l4 int) int { return int(binary.BigEndian.Uint16(frame[l4+udpLengthOff:])) }
