package path

import (
	"encoding/binary"

	"nictwin/models/nic/nicspec"
	"nictwin/models/server/cpu"
	"nictwin/stack/ceio/device"
	"nictwin/stack/driver"
	"nictwin/stack/hostnet"
)

const (
	ipv4Source = 12 // offset of the source address, which the destination address follows
	ipv6Source = 8

	portBytes    = 4   // source and destination port of UDP
	steeredBytes = 128 // headers of any packet that a flow takes: the NIC parses no more
)

// hub finds the flow of a packet in the shared ring: a table in host memory has a line for each flow, which a look-up
// loads, besides the cycles of Spec.PacketCycles.
type hub struct {
	paths  []*path
	table  map[hubKey]int // place of a path, by the fields that its rule matches; source port 0: any
	memory uint64         // address of the table; there is room for hubSlots lines
}

// hubKey holds what the rules of flows match (hostnet.Ends).
type hubKey struct {
	mac              [6]byte
	address          [16]byte
	port, sourcePort uint16
}

// hubSlots is the number of lines that flows are hashed to: assumption.
const hubSlots = 1024

// open allocates the table.
func (h *hub) open(d *driver.Driver) (err error) {
	h.table = map[hubKey]int{}
	h.memory, err = d.Alloc(nicspec.EndpointHost, hubSlots*nicspec.LineBytes, nicspec.LineBytes)
	return err
}

// add adds a path. Earlier ones have precedence, as their rules have in the NIC.
func (h *hub) add(p *path) {
	v, m := &p.c.Match.Value, &p.c.Match.Mask
	key := hubKey{v.Dmac, v.DstAddr, v.DstPort, v.SrcPort & m.SrcPort}
	if _, before := h.table[key]; !before {
		h.table[key] = len(h.paths)
	}
	h.paths = append(h.paths, p)
}

// find returns the path whose rule matches a packet, or nil.
func (h *hub) find(key hubKey) *path {
	first, ok := h.table[key]
	key.sourcePort = 0
	if i, any := h.table[key]; any && (!ok || i < first) {
		first, ok = i, true
	}
	if !ok {
		return nil
	}
	return h.paths[first]
}

// line returns the address of the line of the table that a key is hashed to.
func (h *hub) line(k *hubKey) uint64 {
	const multiplier = 0x9e37_79b1 // golden ratio: Fibonacci hashing
	slot := (uint32(k.port) ^ uint32(k.sourcePort)<<16) * multiplier >> 22
	return h.memory + uint64(slot)%hubSlots*nicspec.LineBytes
}

// steer finds the flow of the shared ring whose rule a packet matches, as the NIC does for flows with accounts. The
// core loads the headers and the table for that. For a packet of no flow it returns nil.
func (s *Server) steer(core *cpu.Core, k *device.Packet) *path {
	x := hostnet.Packet{HdrLen: k.HdrLen, PayLen: k.Bytes}
	x.Hdr, x.Pay = k.Hdr, k.Address
	x.SetCqe(k.Cqe())
	core.Compute(s.c.Spec.PacketCycles)
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
	if !ok {
		return nil
	}
	s.d.Check(core.Load(s.hub.line(&key), b[:nicspec.LineBytes]))
	return s.hub.find(key)
}

// keyOf returns the fields of a UDP packet's headers that rules of flows look at. It reports false if the headers are
// shorter than those of IP.
func keyOf(b []byte, l3, l4 int) (key hubKey, ok bool) {
	source, size := ipv4Source, 4
	if l3 < l4 && b[l3]>>4 == 6 {
		source, size = ipv6Source, 16
	}
	if l4 < l3+source+2*size {
		return key, false
	}
	copy(key.mac[:], b)
	copy(key.address[:size], b[l3+source+size:])
	key.sourcePort, key.port = binary.BigEndian.Uint16(b[l4:]), binary.BigEndian.Uint16(b[l4+2:])
	return key, true
}
