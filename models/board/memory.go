package board

import (
	"errors"
	"fmt"

	"nictwin/models/armcache"
	"nictwin/models/dram"
	"nictwin/models/field"
	"nictwin/models/host"
	"nictwin/models/host/iio"
	"nictwin/models/mem"
	"nictwin/models/nicspec"
	"nictwin/models/simcore"
)

// MemorySpec is what stands between a root and the bytes of its endpoint's memory. The zero value is memory that answers at
// once.
type MemorySpec struct {
	Cache *armcache.Spec `yaml:"cache"` // last-level cache; nil: none
	DRAM  *dram.Spec     `yaml:"dram"`  // nil: memory answers at once

	// Host is a whole machine (or the Arm side of a card, which is one, too) instead of both: cores with their private caches,
	// sockets with a last-level cache and DRAM each, and an IIO buffer behind the root. nil: there are no cores.
	Host *host.Spec `yaml:"host"`
}

// validate returns every error of the spec; endpoint is whose memory it is, of so many bytes.
func (s *MemorySpec) validate(endpoint int, bytes uint64) error {
	var errs []error
	if s.Host != nil {
		errs = append(errs, field.Under("host", s.validateHost(endpoint, bytes)))
		if s.Cache != nil || s.DRAM != nil {
			errs = append(errs, field.Errorf("host", ": it has cache and DRAM of its own: want null for %v and %v", field.Path("cache"), field.Path("dram")))
		}
	}
	if s.Cache != nil {
		errs = append(errs, field.Under("cache", s.Cache.Validate()))
	}
	if s.DRAM != nil {
		errs = append(errs, field.Under("dram", s.DRAM.Validate()))
	}
	return errors.Join(errs...)
}

// Memory is the memory of a card's two endpoints by bus address, as software sees it: through the caches, where there are
// any. As a mem.Target it takes the time of cache and DRAM; as a mem.Backdoor none, but it sees and changes what the caches
// hold. An invalidated line is as stale to it as to an access.
type Memory struct {
	space *mem.Space
	ends  [2]end // by endpoint
	stray int
}

// end is the memory of one endpoint.
type end struct {
	target mem.Target // cache, DRAM or Space
	door   mem.Backdoor
	watch  func(addr uint64, n int, f func(addr uint64, n int)) (stop func(), err error)
	cache  *armcache.Cache // nil: none
	dram   *dram.DRAM      // nil: none
	host   *host.Server    // nil: none, as are cache and dram with one
	iio    *iio.Buffer     // of host, before its memory as the root sees it
}

// newMemory is a space without anything before it.
func newMemory(space *mem.Space) *Memory {
	m := &Memory{space: space}
	for ep := range m.ends {
		m.ends[ep] = end{target: space, door: space, watch: space.Watch}
	}
	return m
}

// validateHost holds a machine to the memory that it has on the board.
func (s *MemorySpec) validateHost(endpoint int, bytes uint64) error {
	h := s.Host
	errs := []error{h.Validate()}
	if base := mem.Bus(endpoint, 0); h.Base != base {
		errs = append(errs, field.Errorf("base", "%#x: want %#x, where the memory of this endpoint is", h.Base, base))
	}
	if size := h.SocketBytes * uint64(max(h.Sockets, 0)); size != bytes {
		errs = append(errs, field.Errorf("socket_bytes", "%d in %d sockets: want the %d of the endpoint in all", h.SocketBytes, h.Sockets, bytes))
	}
	return errors.Join(errs...)
}

// put puts what a spec has before the memory of an endpoint.
func (m *Memory) put(e *simcore.Engine, name string, endpoint int, s *MemorySpec) (err error) {
	x := &m.ends[endpoint]
	if s.Host != nil {
		return x.putHost(e, name, s.Host, m.space)
	}
	if s.DRAM != nil {
		if x.dram, err = (dram.Builder{Scheduler: e, Spec: *s.DRAM, Memory: x.target}).Build(name + "DRAM"); err != nil {
			return err
		}
		x.target, x.door = x.dram, x.dram
	}
	if s.Cache != nil {
		b := armcache.Builder{Scheduler: e, Spec: *s.Cache, Memory: x.target, Backdoor: x.door}
		if x.cache, err = b.Build(name + "Cache"); err != nil {
			return err
		}
		x.target, x.door, x.watch = x.cache, x.cache, x.cache.Watch
	}
	return nil
}

// putHost puts a machine there. The root's device hangs on its first socket, and software without a core is there, too.
func (x *end) putHost(e *simcore.Engine, name string, s *host.Spec, space *mem.Space) (err error) {
	if x.host, err = (host.Builder{Scheduler: e, Spec: *s, Memory: space}).Build(name); err != nil {
		return err
	}
	if x.iio, err = x.host.Device(0, "IIO"); err != nil {
		return err
	}
	view, err := x.host.Sockets.At(0)
	if err == nil {
		x.target, x.door, x.watch = view, view, view.Watch
	}
	return err
}

// of returns the memory that an address is in, and, for addresses of no endpoint, one that refuses them.
func (m *Memory) of(addr uint64) *end {
	if ep, _ := mem.Split(addr); ep < len(m.ends) {
		return &m.ends[ep]
	}
	return &m.ends[nicspec.EndpointArm]
}

// Access implements mem.Target.
func (m *Memory) Access(a *mem.Access) {
	if err := m.Check(a.Op, a.Addr, a.Len()); err != nil {
		if a.Op == mem.Write {
			m.stray++
		}
		a.Finish(err)
		return
	}
	m.of(a.Addr).target.Access(a)
}

// Check implements mem.Target.
func (m *Memory) Check(op mem.Op, addr uint64, n int) error {
	return m.of(addr).target.Check(op, addr, n)
}

// Read implements mem.Backdoor.
func (m *Memory) Read(addr uint64, b []byte) error { return m.of(addr).door.Read(addr, b) }

// Write implements mem.Backdoor.
func (m *Memory) Write(addr uint64, b []byte) error { return m.of(addr).door.Write(addr, b) }

// Watch calls f after every write access that touches the n bytes at addr, as mem.Watches does: when the cache has taken
// it, where there is one.
func (m *Memory) Watch(addr uint64, n int, f func(addr uint64, n int)) (stop func(), err error) {
	return m.of(addr).watch(addr, n, f)
}

// Timed reports whether accesses take time.
func (m *Memory) Timed() bool {
	for i := range m.ends {
		if x := &m.ends[i]; x.cache != nil || x.dram != nil || x.host != nil {
			return true
		}
	}
	return false
}

// Stray counts the writes that did not lie inside memory.
func (m *Memory) Stray() int { return m.stray + m.space.Stray }

// Host is the machine of an endpoint, with its cores, or nil. It has the endpoint's caches and DRAM, which Cache and DRAM do
// not return then.
func (m *Memory) Host(endpoint int) *host.Server { return m.ends[endpoint].host }

// Cache is the cache before an endpoint's memory, or nil.
func (m *Memory) Cache(endpoint int) *armcache.Cache { return m.ends[endpoint].cache }

// DRAM is the DRAM of an endpoint, or nil.
func (m *Memory) DRAM(endpoint int) *dram.DRAM { return m.ends[endpoint].dram }

// idle reports whether caches, DRAMs and machines have nothing under way.
func (m *Memory) idle() bool {
	for i := range m.ends {
		if x := &m.ends[i]; x.cache != nil && !x.cache.Idle() || x.dram != nil && !x.dram.Idle() || x.host != nil && !x.host.Idle() {
			return false
		}
	}
	return true
}

// err is the first write-back that was refused, what a core could not do, or nil.
func (m *Memory) err() error {
	for i := range m.ends {
		if x := m.ends[i].cache; x != nil && x.Err() != nil {
			return x.Err()
		}
		if x := m.ends[i].host; x != nil && x.Err() != nil {
			return x.Err()
		}
	}
	return nil
}

// behind is the memory of one endpoint as its root sees it. A machine's and DRAM without a cache can be full.
func (m *Memory) behind(endpoint int) mem.Target {
	h, x := half{m, endpoint}, &m.ends[endpoint]
	switch {
	case x.iio != nil:
		return buffered{h, x.iio}
	case x.dram != nil && x.cache == nil:
		return buffered{h, x.dram}
	}
	return h
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
	if err := b.half.Check(a.Op, a.Addr, a.Len()); err != nil {
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
		return &mem.RangeError{Op: op, Addr: addr, Len: n, There: fmt.Sprintf("this root has endpoint %d only", h.endpoint)}
	}
	return nil
}

var (
	_ mem.Target   = (*Memory)(nil)
	_ mem.Backdoor = (*Memory)(nil)
	_ mem.Target   = half{}
	_ mem.Holder   = buffered{}
)
