package load

import (
	"errors"

	"nictwin/models/board"
	"nictwin/models/memory/mem"
	"nictwin/models/nic/nicspec"
	"nictwin/models/server/host"
	"nictwin/models/sim/field"
	"nictwin/models/sim/quantity"
	"nictwin/scenarios/run/place"
	"nictwin/stack/apps"
)

const (
	lineBytes = mem.LineBytes
	pageBytes = 4096
)

// Server is a server of a board as its loads see it.
type Server struct {
	place.Server
	Places []apps.Place                    // where the applications' buffers lie
	Busy   func(endpoint, number int) bool // whether stack or applications use a core of the first socket
}

// seat holds the cores and the buffers of a load of a cache.
type seat struct {
	cores []int
	base  uint64
	bytes uint64 // length of each buffer
}

func (m Memory) endpoint() int {
	if m == Arm {
		return nicspec.EndpointArm
	}
	return nicspec.EndpointHost
}

// memory returns the memory of a side, and its size; nil for a side without one, or one that answers at once.
func (v *Server) memory(m Memory) (*board.MemorySpec, uint64) {
	c := v.Card
	switch {
	case m == Arm && c.Switch != nil:
		return &c.Switch.Arm.MemorySpec, c.Endpoint.ArmBytes
	case m == Arm:
		return nil, 0
	case v.Spec.Memory != nil:
		return &v.Spec.Memory.MemorySpec, v.Spec.Memory.Bytes
	case c.Switch != nil:
		return &c.Switch.Host.MemorySpec, c.Endpoint.HostBytes
	case c.Direct != nil:
		return &c.Direct.MemorySpec, c.Endpoint.HostBytes
	}
	return nil, 0
}

// Check returns an error for each load that the servers cannot have, with field paths that begin at the scenario.
func (l List) Check(servers []Server) error {
	var errs []error
	for i := range l {
		s := &l[i]
		if s.Server >= len(servers) {
			errs = append(errs, field.Errorf(path(i)+".server", "%d: the board has %d servers: want 0 to %d", s.Server,
				len(servers), len(servers)-1))
			continue
		}
		v := &servers[s.Server]
		err := v.check(s)
		if err == nil && s.At == LLC {
			_, err = v.seat(l, i)
		}
		if err != nil {
			errs = append(errs, field.Against(field.Under(path(i), err), "board"))
		}
	}
	return errors.Join(errs...)
}

// check returns an error if the server lacks what a load loads.
func (v *Server) check(s *Spec) error {
	name := v.Spec.Name
	m, bytes := v.memory(s.Of)
	sockets := 1
	switch {
	case s.Of == Arm && m == nil:
		return field.Errorf("of", "%s: server %s has a plain NIC, without Arm memory: want %s", Arm, name, Host)
	case m == nil || m.Host == nil && m.DRAM == nil:
		return field.Errorf("at", "%s: memory of the %s of server %s answers at once: want a board with its caches "+
			"and "+
			"DRAM, such as bf3-cores-pair", s.At, s.Of, name)
	case m.Host != nil:
		sockets, bytes = m.Host.Sockets, m.Host.SocketBytes
	}
	switch {
	case s.Socket >= sockets:
		return field.Errorf("socket", "%d: the %s of server %s has %d: want 0 to %d", s.Socket, s.Of, name, sockets,
			sockets-1)
	case s.At == DRAM && s.Hog().Span > bytes:
		return field.Errorf("bytes", "%v: the %s of server %s has %v: want that at most", quantity.Bytes(s.Hog().Span),
			s.Of, name, quantity.Bytes(bytes))
	case s.At == DRAM:
		return nil
	case s.At == Cores && len(v.used(s.Of)) == 0:
		return field.Errorf("at", "%s: neither stack nor applications use any of the %s of server %s: want another "+
			"%v, or %s or %s", Cores, s.Of, name, field.Path("of"), DRAM, LLC)
	case s.At == Cores:
		return nil
	case m.Host == nil:
		return field.Errorf("at", "%s: the %s of server %s has no cores that could load it: want %s, or a board with "+
			"cores, such as bf3-cores-pair", LLC, s.Of, name, DRAM)
	case m.Host.LLC == nil:
		return field.Errorf("at", "%s: the %s of server %s has no last-level cache: want %s", LLC, s.Of, name, DRAM)
	}
	return nil
}

// used lists the cores of a side that stack and applications use.
func (v *Server) used(m Memory) (list []int) {
	if spec, _ := v.memory(m); spec != nil && spec.Host != nil {
		for n := range spec.Host.CPU.Cores {
			if v.Busy(m.endpoint(), n) {
				list = append(list, n)
			}
		}
	}
	return list
}

// length returns the length of each buffer of a load of a cache. Without one in the spec it is twice that of a private
// cache, which then never has the next line.
func (v *Server) length(s *Spec) uint64 {
	if s.Bytes != nil {
		return uint64(*s.Bytes)
	}
	m, _ := v.memory(s.Of)
	return 2 * uint64(m.Host.Private.SizeBytes)
}

// takes returns the bytes of both buffers of a load of a cache, in whole pages.
func (v *Server) takes(s *Spec) uint64 {
	n := (v.length(s) + pageBytes - 1) &^ (pageBytes - 1)
	if s.measures() {
		n *= 2
	}
	return n
}

// room returns the memory of a socket that neither stack nor applications use.
func (v *Server) room(m Memory, h *host.Spec, socket int) (from, to uint64) {
	from = h.Base + uint64(socket)*h.SocketBytes
	to = from + h.SocketBytes
	if m == Arm {
		from, to = from+place.HostFrom, mem.Bus(nicspec.EndpointArm, min(v.ArmTop(), v.ArmEnd(v.Places...)))
	} else {
		from = max(from, mem.Bus(nicspec.EndpointHost, place.HostFrom+place.HostBytes))
	}
	if t := h.TLB.Tables; t >= from && t < to {
		to = t &^ (pageBytes - 1)
	}
	return from, max(from, to)
}

// upTo returns the loads of the same cache up to load i.
func (l List) upTo(i int) (list []*Spec) {
	for k := range l[:i+1] {
		if s := &l[k]; s.At == LLC && s.Server == l[i].Server && s.Of == l[i].Of && s.Socket == l[i].Socket {
			list = append(list, s)
		}
	}
	return list
}

// seat returns cores and memory of load i, behind those of the loads before it: cores from the last one down, buffers
// from the end of the free memory down.
func (v *Server) seat(l List, i int) (x seat, err error) {
	s := &l[i]
	m, _ := v.memory(s.Of)
	from, to := v.room(s.Of, m.Host, s.Socket)
	free := v.free(s, m.Host)
	spare, all := len(free), to-from
	for _, o := range l.upTo(i) {
		n, bytes := o.Takes(), v.takes(o)
		if n > len(free) {
			return x, field.Errorf("cores", "%d: the load takes %d cores of the %s of server %s, which has %d beside "+
				"those of stacks and applications, for all loads: want fewer, or %v false", s.Cores, n, s.Of,
				v.Spec.Name, spare, field.Path("latency"))
		}
		if bytes > to-from {
			return x, field.Errorf("bytes", "%v: the load takes %v of the memory of the %s of server %s, which has %v "+
				"beside that of stacks and applications, for all loads: want less", quantity.Bytes(v.length(s)),
				quantity.Bytes(bytes), s.Of, v.Spec.Name, quantity.Bytes(all))
		}
		to -= bytes
		x = seat{cores: free[:n], base: to, bytes: v.length(o)}
		free = free[n:]
	}
	return x, nil
}

// free lists the cores that nobody uses.
func (v *Server) free(s *Spec, h *host.Spec) (list []int) {
	for n := h.CPU.Cores - 1; n >= 0; n-- {
		if s.Socket > 0 || !v.Busy(s.Of.endpoint(), n) {
			list = append(list, n)
		}
	}
	return list
}

// ArmRoom returns the end of the Arm memory that loads leave to the stack of a server.
func (l List) ArmRoom(v *Server, server int) uint64 {
	end := v.ArmEnd(v.Places...)
	for i := range l {
		if s := &l[i]; s.Server == server && s.At == LLC && s.Of == Arm {
			if x, err := v.seat(l, i); err == nil {
				end = min(end, x.base-mem.Bus(nicspec.EndpointArm, 0))
			}
		}
	}
	return end
}

// AddTo adds the loads of DRAM to a board, which holds them until they begin. `servers` must be the caller's own,
// because AddTo changes them.
func (l List) AddTo(servers []board.ServerSpec) {
	for i := range l {
		if s := &l[i]; s.At == DRAM && s.Server < len(servers) {
			addTo(&servers[s.Server], s)
		}
	}
}

// addTo adds a load of DRAM to the memory of a server. Parts that the server's spec shares with other specs are copied
// first.
func addTo(v *board.ServerSpec, s *Spec) {
	add := func(to *board.MemorySpec) {
		one := board.LoadSpec{HogSpec: s.Hog(), Socket: s.Socket, Held: true}
		to.Loads = append(append([]board.LoadSpec(nil), to.Loads...), one)
	}
	c := &v.Cards[0]
	switch {
	case s.Of == Host && v.Memory != nil:
		m := *v.Memory
		v.Memory = &m
		add(&m.MemorySpec)
	case c.Switch != nil:
		sw := *c.Switch
		c.Switch = &sw
		if s.Of == Arm {
			add(&sw.Arm.MemorySpec)
		} else {
			add(&sw.Host.MemorySpec)
		}
	case c.Direct != nil && s.Of == Host:
		d := *c.Direct
		c.Direct = &d
		add(&d.MemorySpec)
	}
}
