package transport

import "nictwin/models/format/wire"

// flip inverts a bit of a packet's frame. It returns the UDP payload that a NIC then passes to its software, or nil if
// the NIC drops the frame because of a checksum, the ICRC or its destination. A frame passes only if no RoCEv2 checksum
// covers the bit: in MAC addresses, or in fields that routers change.
func (e *end) flip(o *Out, b []byte, at uint64) []byte {
	frame := append(append(append([]byte(nil), o.Head[:ipSize(o.Head)+udpSize]...), b...), 0, 0, 0, 0)
	if err := wire.InsertFrameICRC(frame); err != nil {
		e.failf("side %d: %v", e.side, err)
	}
	at %= uint64(8 * len(frame))
	frame[at/8] ^= 1 << (at % 8)
	e.flips[0]++
	off, _, err := wire.L3Offset(frame)
	p, ok := wire.FindRoCE(frame)
	if err != nil || !ok || wire.VerifyFrameICRC(frame).Verdict != wire.OK ||
		wire.VerifyIPv4Header(frame[off:]) == wire.Bad || wire.VerifyUDPChecksum(frame[off:]) == wire.Bad {
		return nil
	}
	e.flips[1]++
	return frame[p.BTH : p.End-wire.ICRCSize]
}
