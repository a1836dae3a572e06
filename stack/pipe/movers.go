package pipe

import "fmt"

// Copier is an engine that copies bytes between memories: the NIC's, or a model of one. It calls done exactly once per
// copy. Copies may end in any order.
type Copier interface {
	Copy(to, from uint64, n int, done func(error))
}

// Staged is a Mover over a copy engine: it puts bytes into the producer's own memory, at the same offset as in the
// target range, and copies them from there. No two writes, and no two reads, of the same line may be in flight.
type Staged struct {
	local  Memory
	engine Copier
	from   uint64 // start of the producer's staging memory
	to     uint64 // start of the consumer's memory
	n      uint64
	idle   []*job
}

// job is a read or write in flight.
type job struct {
	s    *Staged
	b    []byte // read: where the bytes go
	at   uint64 // read: staging address at which the bytes arrive
	done func(error)
	then func(error)
}

// NewStaged returns a Mover for the n bytes at `to` in the consumer's memory, with a staging area at `from`.
func NewStaged(local Memory, e Copier, from, to, n uint64) *Staged {
	return &Staged{local: local, engine: e, from: from, to: to, n: n}
}

// begin returns the staging address for n bytes at addr and a record of the copy; nil if they lie outside the range.
func (s *Staged) begin(addr uint64, n int, done func(error)) (at uint64, j *job) {
	if addr < s.to || uint64(n) > s.n || addr-s.to > s.n-uint64(n) {
		done(fmt.Errorf("pipe: %d B at %#x: want bytes of %#x to %#x, which are staged", n, addr, s.to, s.to+s.n))
		return 0, nil
	}
	if k := len(s.idle); k > 0 {
		j, s.idle = s.idle[k-1], s.idle[:k-1]
	} else {
		j = &job{s: s}
		j.then = j.ended
	}
	j.done = done
	return addr - s.to + s.from, j
}

// Write implements Mover.
func (s *Staged) Write(addr uint64, b []byte, done func(error)) {
	at, j := s.begin(addr, len(b), done)
	if j == nil {
		return
	}
	j.b = nil
	if err := s.local.Store(at, b); err != nil {
		j.ended(err)
		return
	}
	s.engine.Copy(addr, at, len(b), j.then)
}

// Read implements Mover.
func (s *Staged) Read(addr uint64, b []byte, done func(error)) {
	at, j := s.begin(addr, len(b), done)
	if j == nil {
		return
	}
	j.b, j.at = b, at
	s.engine.Copy(at, addr, len(b), j.then)
}

func (j *job) ended(err error) {
	if err == nil && j.b != nil {
		err = j.s.local.Load(j.at, j.b)
	}
	done := j.done
	j.b, j.done = nil, nil
	j.s.idle = append(j.s.idle, j)
	done(err)
}

// Registers are the registers of a device that a core accesses by MMIO; a driver.Bus has them.
type Registers interface {
	WriteReg(off uint32, b []byte) error
	ReadReg(off uint32, n int, done func(v uint64, err error))
}

// MMIO is a Mover by register accesses: writes of 64 B, which write combining forms from a line's stores, and reads of
// 8 B. Register offsets are the low 32 bits of addresses.
type MMIO struct {
	regs  Registers
	b     []byte
	done  func(error)
	taken func(uint64, error)
}

// NewMMIO returns a Mover over registers.
func NewMMIO(r Registers) *MMIO {
	m := &MMIO{regs: r}
	m.taken = m.readEnded
	return m
}

// Write implements Mover.
func (m *MMIO) Write(addr uint64, b []byte, done func(error)) {
	for len(b) > 0 {
		n := min(LineBytes, len(b))
		if err := m.regs.WriteReg(uint32(addr), b[:n]); err != nil {
			done(err)
			return
		}
		addr, b = addr+uint64(n), b[n:]
	}
	done(nil)
}

// Read implements Mover. It reads 8 bytes; one read may be in flight.
func (m *MMIO) Read(addr uint64, b []byte, done func(error)) {
	if len(b) != counterBytes || m.b != nil {
		done(fmt.Errorf("pipe: a read of %d B by MMIO: want %d B, one at a time", len(b), counterBytes))
		return
	}
	m.b, m.done = b, done
	m.regs.ReadReg(uint32(addr), len(b), m.taken)
}

func (m *MMIO) readEnded(v uint64, err error) {
	for i := range m.b {
		m.b[i] = byte(v >> (8 * i))
	}
	done := m.done
	m.b, m.done = nil, nil
	done(err)
}

var (
	_ Mover = (*Staged)(nil)
	_ Mover = (*MMIO)(nil)
)
