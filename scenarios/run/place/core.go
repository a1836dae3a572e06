package place

import (
	"nictwin/models/memory/mem"
	"nictwin/models/server/cpu"
	"nictwin/stack/apps"
)

// wordBytes is the most that a register read returns.
const wordBytes = 8

// Core is a core of the host whose application has its buffers in Arm memory. It reads them by one register access for
// every 8 bytes, and writes them by one for every 64; a read behind the writes makes sure that they have arrived before
// the core goes on and notifies the stack.
//
// A load returns the bytes of memory when software issues it (models/server/cpu), without stores of the same step.
type Core struct {
	on     *cpu.Core
	window cpu.Registers
	memory apps.Memory
	err    error // of a register read
}

// NewCore returns the core of an application. `window` is the register window onto Arm memory; nil: accesses take no
// time.
func NewCore(on *cpu.Core, window cpu.Registers, memory apps.Memory) *Core {
	return &Core{on: on, window: window, memory: memory}
}

// Load implements apps.Core.
func (c *Core) Load(addr uint64, b []byte) error {
	if err := c.memory.Read(addr, b); err != nil || c.window == nil {
		return err
	}
	for end := addr + uint64(len(b)); addr < end; {
		n := min(end-addr, wordBytes-addr%wordBytes)
		c.read(addr, int(n))
		addr += n
	}
	return c.err
}

// Store implements apps.Core.
func (c *Core) Store(addr uint64, b []byte) error {
	if c.window == nil || len(b) == 0 {
		return c.memory.Write(addr, b)
	}
	_, off := mem.Split(addr)
	c.on.Post(c.window, uint32(off), b)
	last := addr + uint64(len(b)) - 1
	c.read(last, 1)
	return c.err
}

func (c *Core) read(addr uint64, n int) {
	_, off := mem.Split(addr)
	c.on.ReadReg(c.window, uint32(off), n, func(_ uint64, err error) {
		if c.err == nil {
			c.err = err
		}
	})
}

var _ apps.Core = (*Core)(nil)
