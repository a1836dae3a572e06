package board

import (
	"fmt"

	"nictwin/models/memory/dram"
	"nictwin/models/memory/mem"
	"nictwin/models/memory/memmap"
)

// rootMemory returns the memory of one endpoint as its root sees it. It can be full if it is a
// machine's, or DRAM without a cache.
func (m *Memory) rootMemory(endpoint int) mem.Target {
	h, x := half{m, endpoint}, &m.ends[endpoint]
	switch {
	case x.iio != nil:
		return buffered{h, x.iio}
	case x.dram != nil && x.cache == nil && x.joined != nil:
		return buffered{h, besideGPUs{x.joined, x.dram}}
	case x.dram != nil && x.cache == nil:
		return buffered{h, x.dram}
	}
	return h
}

// besideGPUs is DRAM with GPU memories beside it. It is full when the DRAM is, or when writes to
// one memory wait for those to another, because all arrive in one order.
type besideGPUs struct {
	*memmap.Map
	dram *dram.DRAM
}

// Full implements mem.Holder.
func (b besideGPUs) Full() bool { return b.dram.Full() || b.Waiting() }

// OnRoom implements mem.Holder.
func (b besideGPUs) OnRoom(f func()) {
	report := func() {
		if !b.Full() {
			f()
		}
	}
	b.dram.OnRoom(report)
	b.OnEmpty(report)
}

// half is the memory of one endpoint, for a root that has no other.
type half struct {
	memory   *Memory
	endpoint int
}

// buffered is half, with accesses made through the Holder, whose back-pressure reaches the root.
type buffered struct {
	half
	mem.Holder
}

// Access implements mem.Target.
func (b buffered) Access(a *mem.Access) {
	err := b.foreign(a.Op, a.Addr, a.Len())
	if err == nil {
		err = a.Verify(b.Holder) // so that it need not check again
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
func (b buffered) Check(op mem.Op, addr uint64, n int) error { return b.half.Check(op, addr, n) }

// Access implements mem.Target.
func (h half) Access(a *mem.Access) {
	if err := h.foreign(a.Op, a.Addr, a.Len()); err != nil {
		if a.Op == mem.Write {
			h.memory.stray++
		}
		a.Finish(err)
		return
	}
	h.memory.Access(a)
}

// Check implements mem.Target.
func (h half) Check(op mem.Op, addr uint64, n int) error {
	if err := h.foreign(op, addr, n); err != nil {
		return err
	}
	return h.memory.Check(op, addr, n)
}

// foreign returns an error for an address of another endpoint, or nil.
func (h half) foreign(op mem.Op, addr uint64, n int) error {
	if ep, _ := mem.Split(addr); ep != h.endpoint {
		return &mem.RangeError{Op: op, Addr: addr, Len: n,
			There: fmt.Sprintf("this root has endpoint %d only", h.endpoint)}
	}
	return nil
}

var (
	_ mem.Target = half{}
	_ mem.Holder = buffered{}
	_ mem.Holder = besideGPUs{}
)
