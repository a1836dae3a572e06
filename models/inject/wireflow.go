package inject

import (
	"encoding/binary"
	"hash/crc64"

	"nictwin/models/format/wire"
)

// flowKey identifies a flow: packets whose PSNs form one sequence.
type flowKey struct {
	direction Direction
	class     WireClass
	opcode    wire.Opcode // for ClassVendor; else 0
	dest      uint32      // destination queue pair
	source    uint32      // queue pair that sends datagrams, as several may send to one queue pair; else 0
	addresses [32]byte    // source and destination, as hosts may use the same queue pair numbers
}

// flow counts the attempts of a flow's packets.
type flow struct {
	key   uint64   // hash of the flowKey
	first uint32   // PSN of the first packet; the fields below count PSNs from it
	high  int64    // greatest PSN seen
	least int64    // lowest PSN whose attempts are in `tried`
	tried []uint16 // number of attempts by PSN; a ring indexed by the low bits of the PSN
	count int      // number of packets, for ClassCNP
}

// tries is the initial length of flow.tried, which grows with the flow.
const tries = 64

// packet holds the decoded headers of a RoCE packet, and its place in its flow.
type packet struct {
	place   wire.Place
	opcode  wire.Opcode
	class   WireClass
	dest    uint32
	key     uint64 // hash of the packet's flow
	psn     int64  // PSN counted from the flow's first
	raw     uint32 // PSN as in the BTH; ordinal of a frame that is not RoCE
	attempt int
}

// classOf returns the class of an opcode.
func classOf(op wire.Opcode) WireClass {
	switch op.Info().Operation {
	case wire.OpSend, wire.OpWrite, wire.OpReadRequest, wire.OpCmpSwap, wire.OpFetchAdd:
		return ClassRequest
	case wire.OpReadResponse, wire.OpAtomicAck:
		return ClassResponse
	case wire.OpAck:
		return ClassAck
	case wire.OpCNP:
		return ClassCNP
	}
	return ClassVendor
}

// flows holds the state of every flow.
type flows struct {
	window int
	known  map[flowKey]*flow
}

// meet decodes a packet's headers, finds its flow, and counts the attempt. It returns false for a frame that is not
// RoCE.
func (s *flows) meet(d Direction, frame []byte, p *packet) bool {
	at, ok := wire.FindRoCE(frame)
	if !ok {
		return false
	}
	bth := wire.BTH(frame[at.BTH:])
	*p = packet{place: at, opcode: bth.Opcode(), class: classOf(bth.Opcode()), dest: bth.DestQP(), raw: bth.PSN()}
	k := flowKey{direction: d, class: p.class, dest: p.dest}
	copy(k.addresses[:], wire.Addresses(frame[at.IP:]))
	if p.class == ClassVendor {
		k.opcode = p.opcode
	}
	if info := p.opcode.Info(); info.Transport == wire.TransportUD && at.BTH+wire.BTHSize+wire.DETHSize <= at.End {
		k.source = wire.DETH(frame[at.BTH+wire.BTHSize:]).SrcQP()
	}
	f := s.known[k]
	if f == nil {
		f = &flow{key: k.hash(), tried: make([]uint16, tries)}
		f.begin(p.raw)
		s.known[k] = f
	}
	p.key = f.key
	if p.class == ClassCNP {
		p.attempt = f.count
		f.count++
		return true
	}
	p.psn, p.attempt = f.meet(p.raw, s.window)
	return true
}

var ecma = crc64.MakeTable(crc64.ECMA)

func (k *flowKey) hash() uint64 {
	b := append([]byte(k.class), byte(k.direction), byte(k.opcode))
	b = binary.BigEndian.AppendUint32(binary.BigEndian.AppendUint32(b, k.dest), k.source)
	return crc64.Checksum(append(b, k.addresses[:]...), ecma)
}

func (f *flow) begin(psn uint32) {
	f.first, f.high, f.least = psn, 0, 0
	clear(f.tried)
}

const psnBits = 24

// meet counts an attempt of a PSN. raw is taken for the PSN nearest to the greatest one seen, before or after it.
func (f *flow) meet(raw uint32, window int) (psn int64, attempt int) {
	ahead := int32((raw-f.first-uint32(f.high))<<(32-psnBits)) >> (32 - psnBits)
	psn = f.high + int64(ahead)
	switch {
	case psn > f.high:
		f.advance(psn, window)
	case psn <= f.high-int64(window):
		f.begin(raw)
		psn = 0
	case psn < f.least:
		f.lower(psn)
	}
	slot := &f.tried[psn&int64(len(f.tried)-1)]
	attempt = int(*slot)
	*slot++
	return psn, attempt
}

// advance moves the greatest PSN up, makes room for the attempts in between, and forgets those before the window.
func (f *flow) advance(psn int64, window int) {
	for psn-f.least >= int64(len(f.tried)) && len(f.tried) < window {
		f.grow()
	}
	size := int64(len(f.tried))
	for at := max(f.high+1, psn-size+1); at <= psn; at++ {
		f.tried[at&(size-1)] = 0
	}
	f.high, f.least = psn, max(f.least, psn-size+1)
}

// lower makes room in `tried` for the attempts of a PSN that is below the lowest one counted so far.
func (f *flow) lower(psn int64) {
	for f.high-psn >= int64(len(f.tried)) {
		f.grow()
	}
	f.least = psn
}

func (f *flow) grow() {
	more := make([]uint16, 2*len(f.tried))
	for at := f.least; at <= f.high; at++ {
		more[at&int64(len(more)-1)] = f.tried[at&int64(len(f.tried)-1)]
	}
	f.tried = more
}
