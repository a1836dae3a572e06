// Package rootbus is a driver.Bus of software whose accesses to memory take no
// time: the registers are reached by the TLPs of a root complex, memory
// directly.
//
// It is for boards without processor cores. It has no opinion on what it
// carries.
package rootbus

import (
	"nictwin/models/mem"
	"nictwin/models/root"
	"nictwin/stack/driver"
)

// Bus reaches a NIC's registers through a root, and memory.
type Bus struct {
	Regs   *root.MMIO
	Memory *mem.Space
}

var _ driver.Bus = Bus{}

// WriteReg implements driver.Bus.
func (b Bus) WriteReg(off uint32, p []byte) error { return b.Regs.Write(off, p) }

// ReadReg implements driver.Bus.
func (b Bus) ReadReg(off uint32, n int, done func(v uint64, err error)) {
	if err := b.Regs.Read(off, n, done); err != nil {
		done(0, err)
	}
}

// Read implements driver.Bus.
func (b Bus) Read(addr uint64, p []byte, done func(error)) { done(b.Memory.Read(addr, p)) }

// Write implements driver.Bus.
func (b Bus) Write(addr uint64, p []byte, done func(error)) { done(b.Memory.Write(addr, p)) }

// Watch implements driver.Bus.
func (b Bus) Watch(addr uint64, n int, f func()) (stop func(), err error) {
	return b.Memory.Watch(addr, n, func(uint64, int) { f() })
}
