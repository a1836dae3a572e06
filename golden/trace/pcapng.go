package trace

import (
	"bufio"
	"encoding/binary"
	"fmt"
	"io"
)

// Interfaces of the file, in the order of their blocks.
const (
	Golden = 0 // what the reference expected
	DUT    = 1 // what the device did
)

var interfaceNames = [...]string{Golden: "golden", DUT: "dut"}

// Block types and options of draft-ietf-opsawg-pcapng.
const (
	blockSection   = 0x0a0d0d0a
	blockInterface = 1
	blockEnhanced  = 6
	orderMagic     = 0x1a2b3c4d
	linkEthernet   = 1
	optEnd         = 0
	optComment     = 1
	optUserAppl    = 4 // of a section
	optName        = 2 // of an interface
	optResolution  = 9
	nanoseconds    = 9 // time stamps count 10^-9 s
	maxComment     = 1<<16 - 4
)

// Pcapng writes a pcapng file with the two interfaces.
type Pcapng struct {
	w   *bufio.Writer
	buf []byte // block under construction
	err error
}

// NewPcapng begins a file.
func NewPcapng(w io.Writer) *Pcapng {
	p := &Pcapng{w: bufio.NewWriterSize(w, 1<<16)}
	p.begin(blockSection)
	p.u32(orderMagic)
	p.u32(1) // version 1.0
	p.u32(0xffffffff)
	p.u32(0xffffffff) // section length unknown
	p.option(optUserAppl, "nictwin")
	p.u32(optEnd)
	p.end()
	for _, name := range interfaceNames {
		p.begin(blockInterface)
		p.u32(linkEthernet)
		p.u32(0) // no limit on captured bytes
		p.option(optName, name)
		p.option(optResolution, string([]byte{nanoseconds}))
		p.u32(optEnd)
		p.end()
	}
	return p
}

// Packet adds a frame to an interface. ns is its time; an empty comment is none.
func (p *Pcapng) Packet(iface int, ns int64, frame []byte, comment string) {
	if iface < 0 || iface >= len(interfaceNames) {
		panic(fmt.Sprintf("trace: interface %d: there are %d", iface, len(interfaceNames)))
	}
	p.begin(blockEnhanced)
	p.u32(uint32(iface))
	p.u32(uint32(uint64(ns) >> 32))
	p.u32(uint32(ns))
	p.u32(uint32(len(frame)))
	p.u32(uint32(len(frame)))
	p.bytes(frame)
	if comment != "" {
		p.option(optComment, comment[:min(len(comment), maxComment)])
		p.u32(optEnd)
	}
	p.end()
}

// Close writes what is left and returns the first error.
func (p *Pcapng) Close() error {
	if err := p.w.Flush(); p.err == nil {
		p.err = err
	}
	if p.err != nil {
		return fmt.Errorf("trace: pcapng: %w", p.err)
	}
	return nil
}

func (p *Pcapng) begin(typ uint32) {
	p.buf = binary.LittleEndian.AppendUint32(p.buf[:0], typ)
	p.u32(0) // length, see end
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

func (p *Pcapng) end() {
	n := uint32(len(p.buf) + 4)
	p.u32(n)
	binary.LittleEndian.PutUint32(p.buf[4:], n)
	if p.err == nil {
		_, p.err = p.w.Write(p.buf)
	}
}
