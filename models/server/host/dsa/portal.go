package dsa

import (
	"encoding/binary"
	"fmt"

	"nictwin/models/server/cpu"
	"nictwin/models/sim/fifo"
)

// DescriptorBytes is the length of a descriptor that software writes to a Portal.
const DescriptorBytes = 64

// opMove is the operation code of a copy ("memory move"), in the byte that follows the flags.
const opMove = 3

// Offsets in a descriptor, as the architecture specification of the accelerator (DSA) has them.
const (
	atOperation = 7
	atRecord    = 8
	atSrc       = 16
	atDst       = 24
	atBytes     = 32
)

// EncodeDescriptor returns the descriptor of a copy.
func EncodeDescriptor(src, dst uint64, n uint32, record uint64) (b [DescriptorBytes]byte) {
	b[atOperation] = opMove
	binary.LittleEndian.PutUint64(b[atRecord:], record)
	binary.LittleEndian.PutUint64(b[atSrc:], src)
	binary.LittleEndian.PutUint64(b[atDst:], dst)
	binary.LittleEndian.PutUint32(b[atBytes:], n)
	return b
}

// Portal is the register through which cores submit descriptors to an engine: each write of
// DescriptorBytes at offset 0 is one. While the engine's queue is full, a core's write waits. The
// completion record reports the end of a copy, so a descriptor must have one. A descriptor that the
// engine cannot carry out is an error of the write.
type Portal struct {
	engine *Engine
	copies fifo.Free[Copy]
}

// Portal returns a portal of the engine.
func (e *Engine) Portal() *Portal { return &Portal{engine: e} }

// Write implements cpu.Registers.
func (p *Portal) Write(off uint32, b []byte) error {
	name := p.engine.Name()
	switch {
	case off != 0 || len(b) != DescriptorBytes:
		return fmt.Errorf("dsa: %s: write of %d B at %#x: want a descriptor of %d B at 0", name, len(b), off,
			DescriptorBytes)
	case b[atOperation] != opMove:
		return fmt.Errorf("dsa: %s: descriptor with operation %d: want %d, a copy", name, b[atOperation], opMove)
	case binary.LittleEndian.Uint64(b[atRecord:]) == 0:
		return fmt.Errorf("dsa: %s: descriptor without a completion record: want one, which reports the end", name)
	}
	c, fresh := p.copies.Get()
	if fresh {
		c.Done = func(c *Copy) { p.copies.Put(c) }
	}
	c.Src, c.Dst = binary.LittleEndian.Uint64(b[atSrc:]), binary.LittleEndian.Uint64(b[atDst:])
	c.N, c.Record = int(binary.LittleEndian.Uint32(b[atBytes:])), binary.LittleEndian.Uint64(b[atRecord:])
	err := p.engine.Submit(c)
	if err != nil {
		p.copies.Put(c)
	}
	return err
}

// Read implements cpu.Registers. A portal cannot be read.
func (p *Portal) Read(off uint32, n int, _ func(v uint64, err error)) error {
	return fmt.Errorf("dsa: %s: read of %d B at %#x: want writes only", p.engine.Name(), n, off)
}

// Full implements cpu.Holder.
func (p *Portal) Full() bool { return p.engine.queue.Len() >= p.engine.spec.Queue }

// OnRoom implements cpu.Holder.
func (p *Portal) OnRoom(f func()) { p.engine.onRoom = append(p.engine.onRoom, f) }

var _ cpu.Holder = (*Portal)(nil)
