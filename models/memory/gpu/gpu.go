// Package gpu is the memory of a GPU as devices and cores reach it: an address
// range behind the host's root, with a link of its own. It is a mem.Target that
// holds its bytes, for a region of package memmap.
//
// It is not a GPU: nothing here computes, and the GPU's own accesses to its
// memory do not compete.
//
// Invariants: those of package memlink. An access takes two crossings of the
// link, the time of its bytes on the link and, for reads, the memory's own
// latency.
//
// Source of the preset: a PCIe 4.0 x16 (256 Gbps raw, as for bf2.pcie) or
// 5.0 x16 (504 Gbps) link, 300 ns one way with its root port, 24 B of header;
// reads 400 ns in the device: assumption, the papers print none.
package gpu

import (
	"errors"
	"fmt"

	"nictwin/models/inject"
	"nictwin/models/memory/mem"
	"nictwin/models/memory/memlink"
	"nictwin/models/memory/memmap"
	"nictwin/models/sim/field"
	"nictwin/models/sim/simcore"
)

// Spec configures a GPU's memory.
type Spec struct {
	Base    uint64       `yaml:"base"` // bus address
	Bytes   uint64       `yaml:"bytes"`
	Link    memlink.Spec `yaml:"link"`
	Latency simcore.Ps   `yaml:"latency_ps"` // of the memory itself
}

// Validate returns every error of the spec.
func (s Spec) Validate() error {
	errs := []error{field.Under("link", s.Link.Validate())}
	if s.Bytes == 0 || s.Bytes > mem.MaxBytes || s.Base+s.Bytes-1 < s.Base {
		errs = append(errs, field.Errorf("bytes", "%d: want 1 to 2^56, from %#x (%s) on", s.Bytes, s.Base,
			field.Path("base")))
	}
	if s.Latency < 0 || s.Latency > simcore.Millisecond {
		errs = append(errs, field.Errorf("latency_ps", "%d: want 0 to 1 ms", int64(s.Latency)))
	}
	return errors.Join(errs...)
}

// Preset returns the spec of a GPU behind a link of a generation: "gen4" or "gen5". The caller sets
// the base address and the size.
func Preset(name string) (Spec, error) {
	s := Spec{Link: memlink.Spec{Latency: 300 * simcore.Nanosecond, HeaderBytes: 24}, Latency: 400 * simcore.Nanosecond}
	switch name {
	case "gen4":
		s.Link.Rate = simcore.Gbps(256)
	case "gen5":
		s.Link.Rate = simcore.Gbps(504)
	default:
		return Spec{}, fmt.Errorf("gpu: preset is %q: want gen4 or gen5", name)
	}
	return s, nil
}

// Memory is a GPU's memory behind its link.
type Memory struct {
	*memlink.Link
	store *store
	spec  Spec
}

// Builder makes a Memory.
type Builder struct {
	Scheduler simcore.Scheduler
	Spec      Spec
}

// Build makes the component. It panics if Akita does not accept the name.
func (b Builder) Build(name string) (*Memory, error) {
	if b.Scheduler == nil {
		return nil, fmt.Errorf("gpu: %s has no scheduler", name)
	}
	if err := b.Spec.Validate(); err != nil {
		return nil, fmt.Errorf("%s: %w", name, err)
	}
	s := &store{base: b.Spec.Base, bytes: mem.NewSparse(b.Spec.Bytes)}
	slow, err := inject.NewDelay(name+".HBM", b.Scheduler, inject.DelaySpec{Latency: b.Spec.Latency}, s)
	if err != nil {
		return nil, err
	}
	l, err := memlink.Builder{Scheduler: b.Scheduler, Spec: b.Spec.Link, Memory: slow}.Build(name)
	return &Memory{l, s, b.Spec}, err
}

// Region returns the address range of the memory, for a memmap.Map.
func (m *Memory) Region() memmap.Region {
	return memmap.Region{Name: m.Name(), Base: m.spec.Base, Bytes: m.spec.Bytes, Memory: m}
}

// Read implements mem.Backdoor.
func (m *Memory) Read(addr uint64, b []byte) error { return m.store.at(mem.Read, addr, b) }

// Write implements mem.Backdoor.
func (m *Memory) Write(addr uint64, b []byte) error { return m.store.at(mem.Write, addr, b) }

// Watch calls f after every write that touches the n bytes at addr, at the time when it takes
// effect.
func (m *Memory) Watch(addr uint64, n int, f func(addr uint64, n int)) (stop func(), err error) {
	return m.store.WatchIn(m.store, addr, n, f)
}

// OnWrite calls f after every write, at the time when it takes effect.
func (m *Memory) OnWrite(f func(addr uint64, n int)) { m.store.OnWrite(f) }

// store is the memory of the GPU's bytes, which begins at a bus address.
type store struct {
	mem.Watches
	base  uint64
	bytes *mem.Sparse
}

// Check implements mem.Target.
func (s *store) Check(op mem.Op, addr uint64, n int) error {
	if addr >= s.base && s.bytes.Has(addr-s.base, n) {
		return nil
	}
	return &mem.RangeError{Op: op, Addr: addr, Len: n,
		There: fmt.Sprintf("the GPU has %#x B from %#x on", s.bytes.Size(), s.base)}
}

// Access implements mem.Target. There is no cache, so Clean and Invalidate do nothing.
func (s *store) Access(a *mem.Access) {
	err := s.Check(a.Op, a.Addr, a.Len())
	if err == nil && a.Op.Moves() {
		err = s.at(a.Op, a.Addr, a.Data)
	}
	if err == nil && a.Op == mem.Write {
		s.Notify(a.Addr, len(a.Data))
	}
	a.Finish(err)
}

func (s *store) at(op mem.Op, addr uint64, b []byte) error {
	if err := s.Check(op, addr, len(b)); err != nil {
		return err
	}
	if op == mem.Write {
		s.bytes.Write(addr-s.base, b)
	} else {
		s.bytes.Read(addr-s.base, b)
	}
	return nil
}

var (
	_ mem.Target   = (*Memory)(nil)
	_ mem.Backdoor = (*Memory)(nil)
)
