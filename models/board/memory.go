package board

import (
	"errors"
	"fmt"

	"nictwin/models/memory/armcache"
	"nictwin/models/memory/dram"
	"nictwin/models/memory/gpu"
	"nictwin/models/memory/mem"
	"nictwin/models/memory/memmap"
	"nictwin/models/nic/nicspec"
	"nictwin/models/server/host"
	"nictwin/models/server/host/iio"
	"nictwin/models/sim/field"
	"nictwin/models/sim/simcore"
)

// MemorySpec configures the models between a root and the bytes of its endpoint's memory. The zero
// value is memory that answers at once.
type MemorySpec struct {
	Cache *armcache.Spec `yaml:"cache"` // last-level cache; nil: none
	DRAM  *dram.Spec     `yaml:"dram"`  // nil: memory answers at once

	// Host replaces both by a whole machine (the Arm side of a card is one, too): cores with
	// private caches, sockets with a last-level cache and DRAM each, and an IIO buffer behind the
	// root. nil: there are no cores.
	Host *host.Spec `yaml:"host"`

	// GPUs are memories of GPUs behind the host's root, each with its own link, at bus addresses
	// outside host memory.
	GPUs []gpu.Spec `yaml:"gpus"`
}

// validate returns every error of the spec for an endpoint whose memory has the given size.
func (s *MemorySpec) validate(endpoint int, bytes uint64) error {
	var errs []error
	if s.Host != nil {
		errs = append(errs, field.Under("host", s.validateHost(endpoint, bytes)))
		if s.Cache != nil || s.DRAM != nil {
			errs = append(errs, field.Errorf("host", ": it has cache and DRAM of its own: want null for %v and %v",
				field.Path("cache"), field.Path("dram")))
		}
	}
	if s.Cache != nil {
		errs = append(errs, field.Under("cache", s.Cache.Validate()))
	}
	if s.DRAM != nil {
		errs = append(errs, field.Under("dram", s.DRAM.Validate()))
	}
	return errors.Join(append(errs, s.validateGPUs(endpoint, bytes))...)
}

// validateGPUs checks that the GPUs lie at host addresses not taken by host memory.
func (s *MemorySpec) validateGPUs(endpoint int, bytes uint64) error {
	if endpoint != nicspec.EndpointHost && len(s.GPUs) > 0 {
		return field.Errorf("gpus", ": want none: GPUs are behind the host's root only")
	}
	var errs []error
	for i := range s.GPUs {
		at, g := field.Path(fmt.Sprintf("gpus[%d]", i)), &s.GPUs[i]
		if err := g.Validate(); err != nil {
			errs = append(errs, field.Under(at, err))
			continue
		}
		first, last := mem.Bus(endpoint, bytes), mem.Bus(endpoint, mem.MaxBytes-1)
		if g.Base < first || g.Base > last || g.Bytes-1 > last-g.Base {
			errs = append(errs, field.Errorf(at+".base", "%#x: want its %#x B from %#x, the end of host memory, to %#x",
				g.Base, g.Bytes, first, last))
		}
		for k := range s.GPUs[:i] {
			if o := &s.GPUs[k]; g.Base < o.Base+o.Bytes && o.Base < g.Base+g.Bytes {
				errs = append(errs, field.Errorf(at+".base", "%#x: its %#x B overlap those of gpus[%d] at %#x", g.Base,
					g.Bytes, k, o.Base))
			}
		}
	}
	return errors.Join(errs...)
}

// Memory is the memory of a card's two endpoints by bus address, as software sees it: through the
// caches, if there are any. As a mem.Target it takes the time of cache and DRAM; as a mem.Backdoor
// it takes none, but reads and modifies the contents of the caches. An invalidated line is as stale
// for it as for an access.
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
	host   *host.Server    // nil: none; with a machine cache and dram are nil
	iio    *iio.Buffer     // of host, between the root and the memory
	gpus   []*gpu.Memory
	joined *memmap.Map // GPUs and the rest joined, without a machine; nil: none
	name   string      // prefix of the parts' names
}

// newMemory returns a space without any model in front of it.
func newMemory(space *mem.Space) *Memory {
	m := &Memory{space: space}
	for ep := range m.ends {
		m.ends[ep] = end{target: space, door: space, watch: space.Watch}
	}
	return m
}

// validateHost checks a machine against the memory that it has on the board.
func (s *MemorySpec) validateHost(endpoint int, bytes uint64) error {
	h := s.Host
	errs := []error{h.Validate()}
	if base := mem.Bus(endpoint, 0); h.Base != base {
		errs = append(errs, field.Errorf("base", "%#x: want %#x, where the memory of this endpoint is", h.Base, base))
	}
	if size := h.SocketBytes * uint64(max(h.Sockets, 0)); size != bytes {
		errs = append(errs, field.Against(field.Errorf("socket_bytes", "%d in %d sockets: want the %d of the "+
			"endpoint in all", h.SocketBytes, h.Sockets, bytes), "sockets"))
	}
	if h.Base == mem.Bus(endpoint, 0) && h.TLB.Validate() == nil {
		at, n := h.TLB.Tables-h.Base, h.TLB.TableBytes()
		if at > bytes || n > bytes-at {
			errs = append(errs, field.Errorf("tlb.tables", "%#x: want its %d B inside the %d B of the endpoint's "+
				"memory from %#x on", h.TLB.Tables, n, bytes, h.Base))
		}
	}
	return errors.Join(errs...)
}

// BytesField returns the path of the field with the size of an endpoint's memory in a card's spec.
func BytesField(endpoint int) field.Path {
	return [...]field.Path{nicspec.EndpointArm: "endpoint.arm_bytes",
		nicspec.EndpointHost: "endpoint.host_bytes"}[endpoint]
}

// put builds the models that a spec puts before the memory of an endpoint. far are memories behind
// the card's switch that its cores reach.
func (m *Memory) put(e *simcore.Engine, name string, endpoint int, s *MemorySpec, far ...memmap.Region) (err error) {
	x := &m.ends[endpoint]
	x.name = name
	for i, g := range s.GPUs {
		one, err := gpu.Builder{Scheduler: e, Spec: g}.Build(fmt.Sprintf("%s.GPU[%d]", name, i))
		if err != nil {
			return err
		}
		x.gpus = append(x.gpus, one)
	}
	if s.Host != nil {
		return x.putHost(e, s.Host, m.space, far)
	}
	if err := x.putParts(e, s); err != nil || len(x.gpus) == 0 {
		return err
	}
	regions := append(x.gpuRegions(),
		memmap.Region{Name: name, Base: mem.Bus(endpoint, 0), Bytes: m.space.Bytes(endpoint), Memory: x.target,
			View: x.door, Watcher: watcher(x.watch)})
	all, err := memmap.New(regions...)
	if err == nil {
		x.target, x.door, x.watch, x.joined = all, all, all.Watch, all
	}
	return err
}

// watcher adapts a function to memmap.Watcher.
type watcher func(addr uint64, n int, f func(addr uint64, n int)) (stop func(), err error)

// Watch implements memmap.Watcher.
func (w watcher) Watch(addr uint64, n int, f func(addr uint64, n int)) (stop func(), err error) {
	return w(addr, n, f)
}

func (x *end) gpuRegions() (regions []memmap.Region) {
	for _, g := range x.gpus {
		regions = append(regions, g.Region())
	}
	return regions
}

// putParts builds DRAM and cache.
func (x *end) putParts(e *simcore.Engine, s *MemorySpec) (err error) {
	if s.DRAM != nil {
		if x.dram, err = (dram.Builder{Scheduler: e, Spec: *s.DRAM, Memory: x.target}).Build(x.name +
			"DRAM"); err != nil {
			return err
		}
		x.target, x.door = x.dram, x.dram
	}
	if s.Cache != nil {
		b := armcache.Builder{Scheduler: e, Spec: *s.Cache, Memory: x.target, Backdoor: x.door}
		if x.cache, err = b.Build(x.name + "Cache"); err != nil {
			return err
		}
		x.target, x.door, x.watch = x.cache, x.cache, x.cache.Watch
	}
	return nil
}

// putHost builds a machine. Software without a core is at its first socket.
func (x *end) putHost(e *simcore.Engine, s *host.Spec, space *mem.Space, far []memmap.Region) (err error) {
	if x.host, err = (host.Builder{Scheduler: e, Spec: *s, Memory: space, Elsewhere: x.gpuRegions(),
		Far: far}).Build(x.name); err != nil {
		return err
	}
	view, err := x.host.Sockets.At(0)
	if err == nil {
		x.target, x.door, x.watch = view, view, view.Watch
	}
	return err
}

// attach connects a root's device to a socket of the machine, if there is one.
func (x *end) attach(socket int, device string) (err error) {
	if x.host != nil {
		x.iio, err = x.host.Device(socket, device)
	}
	return err
}

// share uses the server's shared host memory.
func (m *Memory) share(x *end) { m.ends[nicspec.EndpointHost] = *x }

// of returns the memory that an address lies in; for addresses of no endpoint, one that refuses
// them.
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

// Watch calls f after every write access that touches the n bytes at addr, as mem.Watches does:
// with a cache, as soon as that has taken the write.
func (m *Memory) Watch(addr uint64, n int, f func(addr uint64, n int)) (stop func(), err error) {
	return m.of(addr).watch(addr, n, f)
}

// caches reports whether devices write to a cache before an endpoint's memory.
func (m *Memory) caches(endpoint int) bool {
	x := &m.ends[endpoint]
	return x.cache != nil || x.host != nil && x.host.LLC[0] != nil
}

// Timed reports whether accesses take time.
func (m *Memory) Timed() bool {
	for i := range m.ends {
		if x := &m.ends[i]; x.cache != nil || x.dram != nil || x.host != nil || len(x.gpus) > 0 {
			return true
		}
	}
	return false
}

// Stray counts the writes that did not lie inside memory.
func (m *Memory) Stray() int { return m.stray + m.space.Stray }

// Host returns the machine of an endpoint, with its cores, or nil. With a machine, Cache and DRAM
// return nil, because the machine has its own.
func (m *Memory) Host(endpoint int) *host.Server { return m.ends[endpoint].host }

// Cache returns the cache before an endpoint's memory, or nil.
func (m *Memory) Cache(endpoint int) *armcache.Cache { return m.ends[endpoint].cache }

// GPU returns the i-th GPU memory of the spec, behind the host's root, or nil.
func (m *Memory) GPU(i int) *gpu.Memory {
	if x := &m.ends[nicspec.EndpointHost]; i >= 0 && i < len(x.gpus) {
		return x.gpus[i]
	}
	return nil
}

// DRAM returns the DRAM of an endpoint, or nil.
func (m *Memory) DRAM(endpoint int) *dram.DRAM { return m.ends[endpoint].dram }

// idle reports whether caches, DRAMs, GPUs and machines have nothing in flight.
func (m *Memory) idle() bool { return m.ends[0].idle() && m.ends[1].idle() }

func (x *end) idle() bool {
	for _, g := range x.gpus {
		if !g.Idle() {
			return false
		}
	}
	return (x.cache == nil || x.cache.Idle()) && (x.dram == nil || x.dram.Idle()) && (x.host == nil || x.host.Idle()) &&
		(x.joined == nil || x.joined.Idle())
}

// err returns the first error: a refused write-back or a failed access of a core, or nil.
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

var (
	_ mem.Target   = (*Memory)(nil)
	_ mem.Backdoor = (*Memory)(nil)
)
