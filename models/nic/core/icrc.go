package core

import (
	"encoding/binary"

	"nictwin/models/format/wire"
	"nictwin/models/nic/nicspec"
)

const (
	icrcBytes   = 4
	icrcMinUDP  = udpBytes + bthBytes + icrcBytes
	bthOffInUDP = udpBytes
	bthEndInUDP = udpBytes + bthBytes
)

// padBytes returns PadCnt from the flags of a BTH.
func padBytes(bthFlags uint8) int { return int(bthFlags >> 4 & 3) }

// CheckICRC checks the ICRC of a RoCEv2 frame [H10].
func CheckICRC(frame []byte, h *Headers) nicspec.Verdict {
	if !h.Roce || h.L4LenBad || h.UDPLen < icrcMinUDP || h.Frag {
		return nicspec.VerdictNotChecked
	}
	l3, l4 := int(h.L3Off), int(h.L4Off)
	at := l4 + int(h.UDPLen) - icrcBytes
	want := wire.CoveredCRC(frame[l3:], l4-l3, at-l3)
	return verdict(binary.LittleEndian.Uint32(frame[at:]) == want)
}
