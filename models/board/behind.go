package board

import (
	"fmt"

	"nictwin/models/memory/dram"
	"nictwin/models/memory/mem"
	"nictwin/models/memory/memmap"
)

// behind is the memory of one endpoint as its root sees it. A machine's and DRAM without a cache can be full.
func (m *Memory) behind(endpoint int) mem.Target {
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

// besideGPUs is DRAM and the GPUs beside it: full when the DRAM is, or when writes to one wait for those to another,
// as all come in one order.
type besideGPUs struct {
	*memmap.Map
	dram *dram.DRAM
}

// Full implements mem.Holder.
func (b besideGPUs) Full() bool { return b.dram.Full() || b.Waiting() }

// OnRoom implements mem.Holder.
func (b besideGPUs) OnRoom(f func()) {
	tell := func() {
		if !b.Full() {
			f()
		}
	}
	b.dram.OnRoom(tell)
	b.OnEmpty(tell)
}

// half is the memory of one endpoint, for the root that has no other.
type half struct {
	memory   *Memory
	endpoint int
}

// buffered is half by way of what can be full, whose back-pressure reaches the root.
type buffered struct {
	half
	mem.Holder
}

// Access implements mem.Target.
func (b buffered) Access(a *mem.Access) {
	err := b.foreign(a.Op, a.Addr, a.Len())
	if err == nil {
		err = a.Verify(b.Holder) // which need not look again
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

// foreign is the error for an address of another endpoint, or nil.
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
