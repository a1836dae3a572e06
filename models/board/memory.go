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

	// Host replaces cache and DRAM by a whole machine, also on the Arm side of a card: cores with
	// private caches, sockets with a last-level cache and DRAM each, and an IIO buffer behind the
	// root. nil: the endpoint has no cores.
	Host *host.Spec `yaml:"host"`

	// GPUs lists GPU memories behind the host's root, each with its own link, at bus addresses
	// outside host memory.
	GPUs []gpu.Spec `yaml:"gpus"`

	// Loads lists background loads of the DRAM.
	Loads []LoadSpec `yaml:"loads"`
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
	return errors.Join(append(errs, s.validateGPUs(endpoint, bytes), s.validateLoads(bytes))...)
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

// Memory is the memory of a card's two endpoints, by bus address, as software sees it: through the
// caches. As a mem.Target its accesses take the time of cache and DRAM; as a mem.Backdoor they take
// none, but read and modify the contents of the caches. Either sees stale bytes in a line that was
// invalidated before its write-back.
type Memory struct {
	space *mem.Space
	ends  [2]end // by endpoint
	stray int
}

// end holds the memory models of one endpoint.
type end struct {
	target   mem.Target // model that an access meets first: cache, DRAM or Space
	backdoor mem.Backdoor
	watch    func(addr uint64, n int, f func(addr uint64, n int)) (stop func(), err error)
	cache    *armcache.Cache // nil: no cache, or inside host
	dram     *dram.DRAM      // nil: no DRAM, or inside host
	host     *host.Server    // nil: no machine, so no cores
	iio      *iio.Buffer     // IIO buffer of host, between the root and the memory
	gpus     []*gpu.Memory
	loads    []*dram.Hog
	joined   *memmap.Map // address map of GPUs and memory; nil: no GPUs, or inside host
	name     string      // prefix of the names of the models of this end
}

// newMemory returns a Memory whose accesses go straight to the bytes.
func newMemory(space *mem.Space) *Memory {
	m := &Memory{space: space}
	for ep := range m.ends {
		m.ends[ep] = end{target: space, backdoor: space, watch: space.Watch}
	}
	return m
}

// validateHost checks that a machine's base, size and page tables match the endpoint's memory on
// the board.
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
	if h.DSA != nil && endpoint != nicspec.EndpointHost {
		errs = append(errs, field.Errorf("dsa", ": want none: only servers have a copy engine beside their cores"))
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

// build makes the models that a spec puts in front of an endpoint's bytes. far lists memories
// behind the card's switch that the endpoint's cores reach.
func (m *Memory) build(e *simcore.Engine, name string, endpoint int, s *MemorySpec, far ...memmap.Region) error {
	x := &m.ends[endpoint]
	x.name = name
	if err := m.buildModels(e, endpoint, s, far); err != nil {
		return err
	}
	return x.startLoads(e, endpoint, s)
}

// buildModels makes the models of GPUs, DRAM and caches, without the background loads (startLoads).
func (m *Memory) buildModels(e *simcore.Engine, endpoint int, s *MemorySpec, far []memmap.Region) error {
	x := &m.ends[endpoint]
	for i, g := range s.GPUs {
		one, err := gpu.Builder{Scheduler: e, Spec: g}.Build(fmt.Sprintf("%s.GPU[%d]", x.name, i))
		if err != nil {
			return err
		}
		x.gpus = append(x.gpus, one)
	}
	if s.Host != nil {
		return x.buildHost(e, s.Host, m.space, far)
	}
	if err := x.buildParts(e, s); err != nil || len(x.gpus) == 0 {
		return err
	}
	regions := append(x.gpuRegions(),
		memmap.Region{Name: x.name, Base: mem.Bus(endpoint, 0), Bytes: m.space.Bytes(endpoint), Memory: x.target,
			View: x.backdoor, Watcher: watcher(x.watch)})
	all, err := memmap.New(regions...)
	if err == nil {
		x.target, x.backdoor, x.watch, x.joined = all, all, all.Watch, all
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

// buildParts builds DRAM and cache.
func (x *end) buildParts(e *simcore.Engine, s *MemorySpec) (err error) {
	if s.DRAM != nil {
		if x.dram, err = (dram.Builder{Scheduler: e, Spec: *s.DRAM, Memory: x.target}).Build(x.name +
			"DRAM"); err != nil {
			return err
		}
		x.target, x.backdoor = x.dram, x.dram
	}
	if s.Cache != nil {
		b := armcache.Builder{Scheduler: e, Spec: *s.Cache, Memory: x.target, Backdoor: x.backdoor}
		if x.cache, err = b.Build(x.name + "Cache"); err != nil {
			return err
		}
		x.target, x.backdoor, x.watch = x.cache, x.cache, x.cache.Watch
	}
	return nil
}

// buildHost makes the host machine of an endpoint. Software without a core accesses memory from the machine's first
// socket.
func (x *end) buildHost(e *simcore.Engine, s *host.Spec, space *mem.Space, far []memmap.Region) (err error) {
	if x.host, err = (host.Builder{Scheduler: e, Spec: *s, Memory: space, Elsewhere: x.gpuRegions(),
		Far: far}).Build(x.name); err != nil {
		return err
	}
	view, err := x.host.Sockets.At(0)
	if err == nil {
		x.target, x.backdoor, x.watch = view, view, view.Watch
	}
	return err
}

// attach connects a root to a socket of the machine by an IIO buffer; without a machine it does
// nothing.
func (x *end) attach(socket int, device string) (err error) {
	if x.host != nil {
		x.iio, err = x.host.Device(socket, device)
	}
	return err
}

// share uses the server's shared host memory.
func (m *Memory) share(x *end) { m.ends[nicspec.EndpointHost] = *x }

// of returns the memory that an address lies in. An address of neither endpoint goes to the Arm's,
// which refuses it.
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
func (m *Memory) Read(addr uint64, b []byte) error { return m.of(addr).backdoor.Read(addr, b) }

// Write implements mem.Backdoor.
func (m *Memory) Write(addr uint64, b []byte) error { return m.of(addr).backdoor.Write(addr, b) }

// Watch calls f after every write access that touches the n bytes at addr, as mem.Watches does.
// With a cache, f is called as soon as the cache has taken the write.
func (m *Memory) Watch(addr uint64, n int, f func(addr uint64, n int)) (stop func(), err error) {
	return m.of(addr).watch(addr, n, f)
}

// caches reports whether devices write through a cache on their way to an endpoint's memory.
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

// Stray counts the writes to addresses outside memory.
func (m *Memory) Stray() int { return m.stray + m.space.Stray }

// Host returns the machine of an endpoint, with its cores, or nil. If the endpoint has a machine,
// Cache and DRAM return nil: the machine has its own.
func (m *Memory) Host(endpoint int) *host.Server { return m.ends[endpoint].host }

// IIO returns the buffer between an endpoint's root and its machine, or nil if it has none.
func (m *Memory) IIO(endpoint int) *iio.Buffer { return m.ends[endpoint].iio }

// Cache returns the cache in front of an endpoint's memory, or nil.
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

// err returns the first error, or nil: a write-back that memory refused, or a failed access of a
// core.
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
