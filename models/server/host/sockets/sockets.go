// Package sockets presents the memories of a server's sockets to each socket:
// its own directly, the other's over the link between them, whose two
// directions the accesses of both sockets share. An initiator (a core, the root
// that a device hangs on) accesses memory through the map of its socket
// (Sockets.At), which decides the cost of an access.
//
// It has no caches of its own: a socket's memory is its last-level cache over its
// DRAM, which holds only lines of its own addresses, whoever uses them. Package
// memmap keeps the order of writes to both sockets.
//
// Invariants: those of packages memmap and memlink.
//
// Sources of the presets: 30 ns one way, so that the remote socket costs 60 ns
// more per access; rates of the parts' links from public descriptions (three of
// 16 GT/s, three of 11.2, two of 10.4): all of these are assumptions, as the
// papers print neither.
package sockets

import (
	"errors"
	"fmt"
	"maps"
	"slices"

	"nictwin/models/memory/mem"
	"nictwin/models/memory/memlink"
	"nictwin/models/memory/memmap"
	"nictwin/models/sim/field"
	"nictwin/models/sim/pace"
	"nictwin/models/sim/simcore"
)

// Spec configures the sockets of a server.
type Spec struct {
	Base        uint64       `yaml:"base"`         // address of the first socket's memory; the others follow
	SocketBytes uint64       `yaml:"socket_bytes"` // of each socket's memory
	Link        memlink.Spec `yaml:"link"`         // between any two sockets
}

// Validate returns every error of the spec.
func (s Spec) Validate() error {
	var errs []error
	if s.SocketBytes == 0 || s.SocketBytes > mem.MaxBytes || s.SocketBytes%mem.LineBytes != 0 {
		errs = append(errs, field.Errorf("socket_bytes", "%d: want a multiple of %d from 64 to 2^56", s.SocketBytes,
			mem.LineBytes))
	}
	return errors.Join(append(errs, field.Under("link", s.Link.Validate()))...)
}

const oneWay = 30 * simcore.Nanosecond

// presets are the links between the sockets of the papers' servers.
var presets = map[string]memlink.Spec{
	"host-fn": {Latency: oneWay, Rate: simcore.Gbps(960), HeaderBytes: 8},
	"host-op": {Latency: oneWay, Rate: simcore.Gbps(499), HeaderBytes: 8},
	"host-ce": {Latency: oneWay, Rate: simcore.Gbps(333), HeaderBytes: 8},
	"host-rb": {Latency: oneWay, Rate: simcore.Gbps(333), HeaderBytes: 8},
}

// LinkPreset returns the link between a machine's sockets by its name.
func LinkPreset(name string) (memlink.Spec, error) {
	s, ok := presets[name]
	if !ok {
		return s, fmt.Errorf("sockets: preset is %q: want one of %v", name, slices.Sorted(maps.Keys(presets)))
	}
	return s, nil
}

// Builder makes Sockets. Memories holds the memory of each socket, by bus address: that of socket i
// begins at Base + i * SocketBytes. Elsewhere lists memories that belong to no socket, such as a
// GPU's; every socket accesses them in the same way.
type Builder struct {
	Scheduler simcore.Scheduler
	Spec      Spec
	Memories  []mem.Target
	Elsewhere []memmap.Region
}

// Sockets gives each socket access to all memories of the server.
type Sockets struct {
	spec    Spec
	regions [][]memmap.Region // by socket: the address ranges that the socket sees
	links   []*memlink.Link
	maps    []*memmap.Map
}

// Build makes the sockets and their links, with name as the prefix of their names. It panics if
// Akita does not accept the name.
func (b Builder) Build(name string) (*Sockets, error) {
	if err := b.Spec.Validate(); err != nil {
		return nil, fmt.Errorf("%s: %w", name, err)
	}
	const most = 8
	n := len(b.Memories)
	if n < 1 || n > most {
		return nil, fmt.Errorf("%s: %d memories: want one for each of 1 to %d sockets", name, n, most)
	}
	lanes := make([]pace.Pacer, n*n) // bandwidth from socket i to j: lanes[i*n+j]
	for i := range lanes {
		lanes[i].Rate = b.Spec.Link.Rate
	}
	s := &Sockets{spec: b.Spec}
	for i := range n {
		regions := slices.Clone(b.Elsewhere)
		for j, memory := range b.Memories {
			r := memmap.Region{Name: fmt.Sprintf("%s[%d]", name, j), Base: b.Spec.Base + uint64(j)*b.Spec.SocketBytes,
				Bytes: b.Spec.SocketBytes, Memory: memory}
			if i != j {
				l, err := memlink.Builder{Scheduler: b.Scheduler, Spec: b.Spec.Link, Memory: memory,
					There: &lanes[i*n+j], Back: &lanes[j*n+i]}.
					Build(fmt.Sprintf("%s.Link[%d][%d]", name, i, j))
				if err != nil {
					return nil, err
				}
				r.Memory = l
				r.View, _ = memory.(mem.Backdoor)
				r.Watcher, _ = memory.(memmap.Watcher)
				s.links = append(s.links, l)
			}
			regions = append(regions, r)
		}
		if _, err := memmap.New(regions...); err != nil {
			return nil, fmt.Errorf("%s: %w", name, err)
		}
		s.regions = append(s.regions, regions)
	}
	return s, nil
}

// At returns the memory for one more initiator on a socket. Each initiator has an address map of its
// own: a map makes a write wait for earlier writes to other memories, and no write has to wait for
// those of another initiator.
func (s *Sockets) At(socket int) (*memmap.Map, error) {
	if socket < 0 || socket >= len(s.regions) {
		return nil, fmt.Errorf("sockets: socket %d: want 0 to %d", socket, len(s.regions)-1)
	}
	m, err := memmap.New(s.regions[socket]...)
	s.maps = append(s.maps, m)
	return m, err
}

// Home returns the socket that an address belongs to; -1 if it belongs to none.
func (s *Sockets) Home(addr uint64) int {
	if i := (addr - s.spec.Base) / s.spec.SocketBytes; i < uint64(len(s.regions)) {
		return int(i)
	}
	return -1
}

// Links returns the links between sockets, for their counters.
func (s *Sockets) Links() []*memlink.Link { return s.links }

// Idle reports whether no access is in flight.
func (s *Sockets) Idle() bool {
	return !slices.ContainsFunc(s.maps, func(m *memmap.Map) bool { return !m.Idle() }) &&
		!slices.ContainsFunc(s.links, func(l *memlink.Link) bool { return !l.Idle() })
}
