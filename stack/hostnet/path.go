package hostnet

import (
	"nictwin/models/nic/nicspec"
	"nictwin/models/server/cpu"
	"nictwin/stack/driver"
	"nictwin/stack/driver/corebus"
)

// Path brings the packets that the NIC receives for a flow to the flow's core, in the order in which the NIC took them.
// Its methods run as software of that core and allocate nothing.
//
// A path registers its watches with PathConfig.Loop, and wakes that loop when Next may have a packet again.
type Path interface {
	// Next stores the next packet in p. It returns false if no packet is ready, or an error has ended the path. The
	// packet's bytes are in host memory; they and p's buffer belong to the flow until Done.
	Next(p *Packet) bool

	// Done tells the path that a packet has been processed: its buffer may receive another one. Packets end in any
	// order.
	Done(p *Packet)

	// Idle reports whether the path has nothing in flight and holds no packet that Next would return.
	Idle() bool

	// Err returns the first error, or nil.
	Err() error

	// Close ends loops and watches of the path that are not PathConfig.Loop's.
	Close()
}

// Limited is a path that says how many packets an application may hold until later ones come: Holds. Over other paths
// it may hold half of PathConfig.Buffers.
type Limited interface{ Holds() int }

// Worker is a path whose Next may have worked when it returns false: it took completions, or packets of other flows.
type Worker interface {
	// Worked reports whether Next has worked since the previous call of Worked.
	Worked() bool
}

// Shared is a path whose receive ring other flows use, too, and wait behind its packets. The flow takes them as they
// come, whatever a Reader wants.
type Shared interface{ SharesRing() bool }

// Packet is a received frame. Its first HdrLen bytes are at Hdr, the PayLen bytes after them at Pay.
type Packet struct {
	driver.Buffer
	HdrLen, PayLen int
	L3, L4         int  // offsets of the IP and UDP headers; L4 0: not UDP, or a fragment
	Good           bool // lengths and checksums are right
	Slow           bool // the packet took the slow path
	Last           bool // the packet ends its message; set by the flow before Done
	CE             bool // the packet counts as congestion experienced, whatever its header says

	AccountSeq uint32 // ordinal in the flow's account; 0: the flow has none

	Slot uint32 // for the path's own use
}

// At returns the address of the byte at an offset of the frame.
func (p *Packet) At(off int) uint64 {
	if off < p.HdrLen {
		return p.Hdr + uint64(off)
	}
	return p.Pay + uint64(off-p.HdrLen)
}

// SetCqe sets the fields that a completion entry has.
func (p *Packet) SetCqe(c nicspec.RxCqe) {
	p.L3, p.L4 = int(c.L3Off()), int(c.L4Off())
	if c.L4Type() != nicspec.L4TypeUdp || c.Frag() {
		p.L4 = 0
	}
	p.Good = !c.IpLenBad() && !c.L4LenBad() && c.IpCsum() != nicspec.VerdictBad && c.L4Csum() != nicspec.VerdictBad
	p.Slow, p.AccountSeq = c.SlowPath(), c.AccountSeq()
}

// Buffers describes the receive buffers of a flow.
type Buffers struct {
	Log   int // log2 of their number
	Bytes int // length of a payload buffer; buffers are adjacent, so that payload of consecutive packets can be

	// Split, if not 0, splits that many bytes off each frame into a header buffer of HeaderBytes, so that payload of
	// consecutive packets is adjacent in memory. Buffers are then posted in the order of their addresses.
	Split, HeaderBytes int
}

// PathConfig holds the parts of a flow and its node that a path may use. Commands that it adds to the driver are
// carried out before the node is ready.
type PathConfig struct {
	Name    string // of the flow, in errors
	Driver  *driver.Driver
	Bus     *corebus.Bus // of the flow's core
	Loop    *cpu.Loop    // the flow's loop
	Match   driver.Rule  // matches the flow's frames; its target is the path's to set
	Buffers Buffers
	Repost  int // buffers to announce by one doorbell
	Burst   int // packets to take from a ring at a time

	*Resources
}

// Opener opens the path of a flow.
type Opener func(c PathConfig) (Path, error)
