package hostnet

import (
	niccore "nictwin/models/nic/core"
	"nictwin/models/nic/nicspec"
	"nictwin/models/server/cpu"
)

// SetCE makes the packet count as congestion experienced, without a change of its header, and reports whether it did.
// It leaves the packets alone that Marker leaves alone. c is the packet's completion entry.
func (p *Packet) SetCE(c nicspec.RxCqe) bool {
	ecn := c.IpTos() & ecnMask
	if !p.Good || p.L4 <= p.L3 || ecn == 0 || ecn == ecnMarked {
		return false
	}
	p.CE = true
	return true
}

// Marker marks packets in host memory as congestion experienced, by loads and stores of a core. It has the memory for
// one header, so that nothing is allocated for a packet.
type Marker struct {
	header [12]byte // up to the checksum of an IPv4 header
}

// Mark marks a packet and reports whether it did. It leaves packets that are broken, no UDP over IP, not ECN-capable,
// or marked already. The checksum of an IPv4 header, which the NIC has checked, stays as it is.
func (m *Marker) Mark(c *cpu.Core, p *Packet) (marked bool, err error) {
	if !p.Good || p.L4 <= p.L3 {
		return false, nil
	}
	b, at := m.header[:], p.At(p.L3)
	if err := c.Load(at, b); err != nil {
		return false, err
	}
	ecn := b[1] & ecnMarked
	if b[0]>>4 == 6 {
		ecn = b[1] >> 4 & ecnMarked
	}
	if ecn == 0 || ecn == ecnMarked {
		return false, nil
	}
	niccore.SetECN(b, ecnMarked)
	return true, c.Store(at, b)
}
