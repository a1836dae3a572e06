package path

import (
	"encoding/binary"

	"nictwin/models/nic/nicspec"
	"nictwin/models/server/cpu"
	"nictwin/stack/ceio/device"
	"nictwin/stack/hostnet"
)

const (
	ipv4Source = 12 // offset of the source address, which the destination address follows
	ipv6Source = 8

	portBytes    = 4   // source and destination port of UDP
	steeredBytes = 128 // headers of any packet that a flow takes: the NIC parses no more
)

// steer finds the flow of the shared ring whose rule a packet matches, as the NIC does for flows with accounts. The
// core loads the headers for that. For a packet of no flow it returns nil.
func (s *Server) steer(core *cpu.Core, k *device.Packet) *path {
	x := hostnet.Packet{HdrLen: k.HdrLen, PayLen: k.Bytes}
	x.Hdr, x.Pay = k.Hdr, k.Address
	x.SetCqe(k.Cqe())
	var b [steeredBytes]byte
	n := x.L4 + portBytes
	if x.L4 == 0 || n > len(b) {
		return nil
	}
	if inHeader := min(n, x.HdrLen); inHeader > 0 {
		s.d.Check(core.Load(x.At(0), b[:inHeader]))
	}
	if n > x.HdrLen {
		s.d.Check(core.Load(x.At(x.HdrLen), b[x.HdrLen:n]))
	}
	key, ok := keyOf(b[:n], x.L3, x.L4)
	for _, p := range s.hub {
		if m := &p.c.Match; ok && matches(&key, &m.Value, &m.Mask) {
			return p
		}
	}
	return nil
}

// keyOf returns the fields of a UDP packet's headers that rules of flows look at. It reports false if the headers are
// shorter than those of IP.
func keyOf(b []byte, l3, l4 int) (key nicspec.SteerKeyFields, ok bool) {
	source, size := ipv4Source, 4
	if l3 < l4 && b[l3]>>4 == 6 {
		source, size = ipv6Source, 16
	}
	if l4 < l3+source+2*size {
		return key, false
	}
	copy(key.Dmac[:], b)
	copy(key.DstAddr[:size], b[l3+source+size:])
	key.SrcPort, key.DstPort = binary.BigEndian.Uint16(b[l4:]), binary.BigEndian.Uint16(b[l4+2:])
	return key, true
}

// matches reports whether a key has the bits of a value that a mask selects, in the fields that keyOf sets.
func matches(key, value, mask *nicspec.SteerKeyFields) bool {
	for i, m := range mask.Dmac {
		if (key.Dmac[i]^value.Dmac[i])&m != 0 {
			return false
		}
	}
	for i, m := range mask.DstAddr {
		if (key.DstAddr[i]^value.DstAddr[i])&m != 0 {
			return false
		}
	}
	return (key.SrcPort^value.SrcPort)&mask.SrcPort == 0 && (key.DstPort^value.DstPort)&mask.DstPort == 0
}
