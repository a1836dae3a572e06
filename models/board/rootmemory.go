package board

import (
	"fmt"

	"nictwin/models/memory/dram"
	"nictwin/models/memory/mem"
	"nictwin/models/memory/memmap"
)

// rootMemory returns the memory of one endpoint as its root sees it. It is a mem.Holder, which can
// be full, if it has an IIO buffer (a machine), or DRAM without a cache.
func (m *Memory) rootMemory(endpoint int) mem.Target {
	h, x := endpointMemory{m, endpoint}, &m.ends[endpoint]
	switch {
	case x.iio != nil:
		return buffered{h, x.iio}
	case x.dram != nil && x.cache == nil && x.joined != nil:
		return buffered{h, dramWithGPUs{x.joined, x.dram}}
	case x.dram != nil && x.cache == nil:
		return buffered{h, x.dram}
	}
	return h
}

// dramWithGPUs joins DRAM and GPU memories. It is full while the DRAM is full, and also while
// writes to one memory wait for those to another: all arrive in one order, so the root must not
// send more.
type dramWithGPUs struct {
	*memmap.Map
	dram *dram.DRAM
}

// Full implements mem.Holder.
func (b dramWithGPUs) Full() bool { return b.dram.Full() || b.Waiting() }

// OnRoom implements mem.Holder.
func (b dramWithGPUs) OnRoom(f func()) {
	report := func() {
		if !b.Full() {
			f()
		}
	}
	b.dram.OnRoom(report)
	b.OnEmpty(report)
}

// endpointMemory restricts Memory to the addresses of one endpoint, for the root of that endpoint.
type endpointMemory struct {
	memory   *Memory
	endpoint int
}

// buffered is an endpointMemory whose accesses go to the Holder, which can be full, so that its
// back-pressure reaches the root.
type buffered struct {
	endpointMemory
	mem.Holder
}

// Access implements mem.Target.
func (b buffered) Access(a *mem.Access) {
	err := b.foreign(a.Op, a.Addr, a.Len())
	if err == nil {
		err = a.Verify(b.Holder) // records the check in a, so that Holder need not repeat it
	}
	if err != nil {
		if a.Op == mem.Write {
			b.memory.stray++
		}
		a.Finish(err)
		return
	}
	b.Holder.Access(a)
}

// Check implements mem.Target.
func (b buffered) Check(op mem.Op, addr uint64, n int) error {
	return b.endpointMemory.Check(op, addr, n)
}

// Access implements mem.Target.
func (m endpointMemory) Access(a *mem.Access) {
	if err := m.foreign(a.Op, a.Addr, a.Len()); err != nil {
		if a.Op == mem.Write {
			m.memory.stray++
		}
		a.Finish(err)
		return
	}
	m.memory.Access(a)
}

// Check implements mem.Target.
func (m endpointMemory) Check(op mem.Op, addr uint64, n int) error {
	if err := m.foreign(op, addr, n); err != nil {
		return err
	}
	return m.memory.Check(op, addr, n)
}

// foreign returns an error for an address of another endpoint, or nil.
func (m endpointMemory) foreign(op mem.Op, addr uint64, n int) error {
	if ep, _ := mem.Split(addr); ep != m.endpoint {
		return &mem.RangeError{Op: op, Addr: addr, Len: n,
			There: fmt.Sprintf("this root has endpoint %d only", m.endpoint)}
	}
	return nil
}

var (
	_ mem.Target = endpointMemory{}
	_ mem.Holder = buffered{}
	_ mem.Holder = dramWithGPUs{}
)
