package replay

import (
	"nictwin/models/format/wire"
	"nictwin/models/nic/core"
	"nictwin/models/nic/nicspec"
	"nictwin/stack/driver"
)

// offload requests the offloads that [T7] allows a driver to request for a frame, and returns the frame that must come
// out. Its checksums are computed with models/format/wire, independently of the NIC's code.
func (t *transmit) offload(o *driver.Offloads, data []byte) []byte {
	redo := (t.fix.Checksums || t.fix.ICRC) && len(data) >= nicspec.FrameMin && len(data) <= nicspec.FrameMax
	if !redo && len(data) >= nicspec.FrameMin {
		return data
	}
	want := append([]byte(nil), data...)
	if redo {
		t.recompute(o, want)
	}
	for len(want) < nicspec.FrameMin {
		want = append(want, 0)
	}
	return want
}

func (t *transmit) recompute(o *driver.Offloads, want []byte) {
	var h core.Headers
	core.Parse(want, nicspec.ResetRocePort, &h)
	if h.L3Type == nicspec.L3TypeNone {
		return
	}
	l3, l4 := int(h.L3Off), int(h.L4Off)
	ip := want[l3:]
	inside := min(len(want), nicspec.ParseBytes)
	o.L3 = h.L3Off
	udp := h.L4Type == nicspec.L4TypeUdp && !h.L4LenBad && !h.Frag && l4+8 <= inside
	if t.fix.ICRC && h.Roce && udp && l4+20 <= inside && wire.InsertICRC(ip) == nil {
		o.L4 = h.L4Off
		o.ICRC = true
	}
	if !t.fix.Checksums {
		return
	}
	if udp && wire.SetUDPChecksum(ip) == nil {
		o.L4 = h.L4Off
		o.UDPChecksum = true
	}
	if h.L3Type == nicspec.L3TypeIpv4 && l3+int(h.IPHdrLen) <= inside && wire.SetIPv4HeaderChecksum(ip) == nil {
		o.IPv4Checksum = true
	}
}
