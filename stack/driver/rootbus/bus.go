// Package rootbus is a driver.Bus for software on a board without processor cores: it accesses registers by TLPs of a
// root complex, and memory directly.
//
// Bus takes no time for memory. Timed sends memory accesses through the caches, as a core does, and takes the time that
// they need. Apart wraps either on boards where each endpoint has its own root. None interprets what it carries.
package rootbus

import (
	"nictwin/models/fabric/root"
	"nictwin/models/memory/mem"
	"nictwin/models/nic/nicspec"
	"nictwin/stack/driver"
)

// Memory is memory that software reads, writes and watches.
type Memory interface {
	mem.Target
	mem.Backdoor
	Watch(addr uint64, n int, f func(addr uint64, n int)) (stop func(), err error)
}

// Bus accesses a NIC's registers through a root, and memory without delay.
type Bus struct {
	Regs   *root.MMIO
	Memory Memory
}

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

// Apart adds Flush to a bus, on a board where each endpoint has its own root.
type Apart struct {
	driver.Bus
	Roots [nicspec.EndpointHost + 1]*root.MMIO // root complex of each endpoint
}

// Flush implements driver.Flusher. The completion of a register read takes the same path as the NIC's writes to the
// root that asked, and cannot pass posted requests (PCIe 2.4.1), so it pushes them into memory.
func (b Apart) Flush(endpoint int, done func(error)) {
	const idBytes = 4
	if err := b.Roots[endpoint].Read(nicspec.RegId, idBytes, func(_ uint64, err error) { done(err) }); err != nil {
		done(err)
	}
}

// Timed accesses registers as Bus does, and memory like a core.
type Timed struct {
	Bus
	idle []*access
}

// NewTimed returns a bus whose memory accesses take time.
func NewTimed(regs *root.MMIO, memory Memory) *Timed { return &Timed{Bus: Bus{regs, memory}} }

// access is a memory access in flight, kept for reuse.
type access struct {
	mem.Access
	done func(error)
}

// Read implements driver.Bus.
func (b *Timed) Read(addr uint64, p []byte, done func(error)) { b.access(mem.Read, addr, p, done) }

// Write implements driver.Bus.
func (b *Timed) Write(addr uint64, p []byte, done func(error)) { b.access(mem.Write, addr, p, done) }

func (b *Timed) access(op mem.Op, addr uint64, p []byte, done func(error)) {
	var a *access
	if n := len(b.idle); n > 0 {
		a, b.idle = b.idle[n-1], b.idle[:n-1]
	} else {
		a = new(access)
		a.By, a.Access.Done = mem.Core, func(*mem.Access) { b.ended(a) }
	}
	a.Op, a.Addr, a.Data, a.Err, a.done = op, addr, p, nil, done
	b.Memory.Access(&a.Access)
}

func (b *Timed) ended(a *access) {
	done, err := a.done, a.Err
	a.done, a.Data = nil, nil
	b.idle = append(b.idle, a)
	done(err)
}

var (
	_ driver.Bus = Bus{}
	_ driver.Bus = (*Timed)(nil)

	_ driver.Flusher = Apart{}
)
