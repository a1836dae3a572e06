package replay

import (
	"nictwin/models/nic"
	"nictwin/models/nicspec"
	"nictwin/models/wire"
)

// offload asks for what is to be recomputed, where a driver that has read [T7]
// may ask for it, and returns the frame that must come out: its checksums are
// computed with models/wire, not with the NIC's own code.
func (t *transmit) offload(w nicspec.Wqe, data []byte) []byte {
	redo := (t.fix.Checksums || t.fix.ICRC) && len(data) >= nicspec.FrameMin && len(data) <= nicspec.FrameMax
	if !redo && len(data) >= nicspec.FrameMin {
		return data
	}
	want := append([]byte(nil), data...)
	if redo {
		t.recompute(w, want)
	}
	for len(want) < nicspec.FrameMin {
		want = append(want, 0)
	}
	return want
}

func (t *transmit) recompute(w nicspec.Wqe, want []byte) {
	var h nic.Headers
	nic.Parse(want, nicspec.ResetRocePort, &h)
	if h.L3Type == nicspec.L3TypeNone {
		return
	}
	l3, l4 := int(h.L3Off), int(h.L4Off)
	ip := want[l3:]
	inside := min(len(want), nicspec.ParseBytes)
	w.SetL3Off(h.L3Off)
	udp := h.L4Type == nicspec.L4TypeUdp && !h.L4LenBad && !h.Frag && l4+8 <= inside
	if t.fix.ICRC && h.Roce && udp && h.UDPLen >= 24 && l4+20 <= inside {
		w.SetL4Off(h.L4Off)
		w.SetFIcrc(true)
		putICRC(want, l3, l4, int(h.UDPLen))
	}
	if !t.fix.Checksums {
		return
	}
	if udp {
		w.SetL4Off(h.L4Off)
		w.SetFUdpCsum(true)
		putUDP(want, &h)
	}
	if h.L3Type == nicspec.L3TypeIpv4 && l3+int(h.IPHdrLen) <= inside {
		w.SetFIpCsum(true)
		if wire.SetIPv4HeaderChecksum(ip) != nil {
			w.SetFIpCsum(false)
		}
	}
}

// putICRC writes the ICRC of the datagram whose UDP length is u.
func putICRC(frame []byte, l3, l4, u int) {
	end := l4 + u - 4 - l3
	crc := wire.CoveredCRC(frame[l3:], l4-l3, end)
	for i := range 4 {
		frame[l3+end+i] = byte(crc >> (8 * i))
	}
}

// putUDP writes the UDP checksum; zero is sent as all ones.
func putUDP(frame []byte, h *nic.Headers) {
	l4, u := int(h.L4Off), int(h.UDPLen)
	addrs := frame[int(h.L3Off)+12 : int(h.L3Off)+20]
	if h.L3Type == nicspec.L3TypeIpv6 {
		addrs = frame[int(h.L3Off)+8 : int(h.L3Off)+40]
	}
	frame[l4+6], frame[l4+7] = 0, 0
	sum := wire.PseudoHeader(addrs, 17, uint32(u)).Add(frame[l4 : l4+u]).Checksum()
	if sum == 0 {
		sum = 0xffff
	}
	frame[l4+6], frame[l4+7] = byte(sum>>8), byte(sum)
}
