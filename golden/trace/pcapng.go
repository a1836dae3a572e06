package trace

import (
	"encoding/binary"
	"fmt"
	"io"
	"strings"
)

// Interfaces of a NIC, in the order of their blocks; those of the next NIC follow.
const (
	Golden = 0 // what the reference expected
	DUT    = 1 // what the device did
)

// sides names the interfaces of a NIC without a name.
var sides = [...]string{Golden: "golden", DUT: "dut"}

// Block types and options of draft-ietf-opsawg-pcapng.
const (
	blockSection   = 0x0a0d0d0a
	blockInterface = 1
	blockStats     = 5
	blockEnhanced  = 6
	orderMagic     = 0x1a2b3c4d
	linkEthernet   = 1
	optEnd         = 0
	optComment     = 1
	optUserAppl    = 4 // option of a section: the program that wrote it
	optName        = 2 // option of an interface
	optResolution  = 9
	optDropped     = 5 // option of an interface's statistics: packets missing from the file
	optFlags       = 2 // option of a packet
	optPacketID    = 5 // option of a packet: the same on all interfaces that saw it
	nanoseconds    = 9 // time stamps count 10^-9 s
	maxComment     = 1<<16 - 4
)

// Pcapng writes a pcapng file with two interfaces for each NIC, or with those that the caller
// names. A file that was cut at its limit ends with interface statistics, which hold the number of
// missing packets.
type Pcapng struct {
	out     limited
	buf     []byte   // block under construction
	leftOut []uint64 // packets left out, by interface
}

// NewPcapng begins a file of at most limit bytes (0 = no limit) for NICs with these names: the
// interfaces of NIC "a" are "golden a" and "dut a". Without names there is one NIC, without a name.
func NewPcapng(w io.Writer, limit int64, nics ...string) *Pcapng {
	if len(nics) == 0 {
		nics = []string{""}
	}
	var names []string
	for _, nic := range nics {
		for _, side := range sides {
			names = append(names, strings.TrimSpace(side+" "+nic))
		}
	}
	return NewInterfaces(w, limit, names...)
}

// NewInterfaces begins a file of at most limit bytes (0 = no limit) with interfaces of these names.
func NewInterfaces(w io.Writer, limit int64, names ...string) *Pcapng {
	p := &Pcapng{out: newLimited(w, limit), leftOut: make([]uint64, len(names))}
	p.begin(blockSection)
	p.u32(orderMagic)
	p.u32(1) // version 1.0
	p.u32(0xffffffff)
	p.u32(0xffffffff) // section length unknown
	p.option(optUserAppl, "nictwin")
	p.u32(optEnd)
	p.end()
	for _, name := range names {
		p.iface(name)
	}
	p.out.flush() // without these blocks the file of a run that is killed could not be opened
	return p
}

func (p *Pcapng) iface(name string) {
	p.begin(blockInterface)
	p.u32(linkEthernet)
	p.u32(0) // no limit on captured bytes
	p.option(optName, name)
	p.option(optResolution, string([]byte{nanoseconds}))
	p.u32(optEnd)
	p.end()
}

// Direction is the direction of a frame as seen from the NIC, as encoded in the flags of a packet.
type Direction uint32

// Directions of frames.
const (
	Inbound  Direction = 1
	Outbound Direction = 2
)

// PacketID is the number by which [Annotate] finds a frame. Packets of one frame on both interfaces
// share it.
type PacketID uint64

// NoID is the PacketID of a frame that Annotate need not find.
const NoID PacketID = 1<<64 - 1

// Frame is the metadata that the file records with the bytes of a frame.
type Frame struct {
	Ns       int64 // time stamp in nanoseconds
	Dir      Direction
	ID       PacketID
	Comments []string
}

// Packet adds a frame to an interface.
func (p *Pcapng) Packet(iface int, f *Frame, frame []byte) {
	if iface < 0 || iface >= len(p.leftOut) {
		panic(fmt.Sprintf("trace: interface %d: there are %d", iface, len(p.leftOut)))
	}
	p.begin(blockEnhanced)
	p.u32(uint32(iface))
	p.u32(uint32(uint64(f.Ns) >> 32))
	p.u32(uint32(f.Ns))
	p.u32(uint32(len(frame)))
	p.u32(uint32(len(frame)))
	p.bytes(frame)
	for _, c := range f.Comments {
		p.comment(c)
	}
	if f.Dir != 0 {
		p.u32(optFlags | 4<<16)
		p.u32(uint32(f.Dir))
	}
	if f.ID != NoID {
		p.u32(optPacketID | 8<<16)
		p.buf = binary.LittleEndian.AppendUint64(p.buf, uint64(f.ID))
	}
	p.u32(optEnd)
	p.seal()
	before := p.out.LeftOut
	p.out.record(p.buf, f.Ns, f.Ns)
	p.leftOut[iface] += p.out.LeftOut - before
}

// Cut reports how many of the observed records the file contains; see type Cut.
func (p *Pcapng) Cut() Cut { return p.out.Cut }

// Close flushes the file and returns the first error.
func (p *Pcapng) Close() error {
	for i, n := range p.leftOut {
		if n > 0 {
			p.statistics(i, n)
		}
	}
	if err := p.out.close(); err != nil {
		return fmt.Errorf("trace: pcapng: %w", err)
	}
	return nil
}

// statistics writes how many packets of an interface are missing.
func (p *Pcapng) statistics(iface int, missing uint64) {
	p.begin(blockStats)
	p.u32(uint32(iface))
	p.u32(uint32(uint64(p.out.last) >> 32))
	p.u32(uint32(p.out.last))
	p.option(optComment, fmt.Sprintf("the file was cut at its limit: %d packets from %d ns on are missing", missing,
		p.out.first))
	p.option(optDropped, string(binary.LittleEndian.AppendUint64(nil, missing)))
	p.u32(optEnd)
	p.end()
}

func (p *Pcapng) begin(typ uint32) {
	p.buf = binary.LittleEndian.AppendUint32(p.buf[:0], typ)
	p.u32(0) // length of the block; method `end` overwrites it
}

func (p *Pcapng) u32(v uint32) { p.buf = binary.LittleEndian.AppendUint32(p.buf, v) }

// bytes adds b, padded to a multiple of four.
func (p *Pcapng) bytes(b []byte) {
	p.buf = append(p.buf, b...)
	for len(p.buf)%4 != 0 {
		p.buf = append(p.buf, 0)
	}
}

func (p *Pcapng) option(code uint16, value string) {
	p.u32(uint32(code) | uint32(len(value))<<16)
	p.bytes([]byte(value))
}

// comment adds a comment, cut between characters at the size that an option can hold.
func (p *Pcapng) comment(text string) {
	if len(text) > maxComment {
		text = strings.ToValidUTF8(text[:maxComment], "")
	}
	p.option(optComment, text)
}

// end writes a block regardless of the limit.
func (p *Pcapng) end() {
	p.seal()
	p.out.left -= int64(len(p.buf))
	p.out.write(p.buf)
}

// seal completes the block with its length.
func (p *Pcapng) seal() {
	n := uint32(len(p.buf) + 4)
	p.u32(n)
	binary.LittleEndian.PutUint32(p.buf[4:], n)
}
