package board

import (
	"errors"
	"fmt"

	"nictwin/models/memory/mem"
	"nictwin/models/nic/nicspec"
	"nictwin/models/server/host"
	"nictwin/models/sim/field"
	"nictwin/models/sim/simcore"
)

// SharedSpec is the host memory that all cards of a server share: one last-level cache and DRAM, or
// one machine with cores, behind a root port for each card.
type SharedSpec struct {
	Bytes      uint64 `yaml:"bytes"`
	MemorySpec `yaml:",inline"`
}

// validate returns every error of the spec.
func (s *SharedSpec) validate() error {
	if s.Bytes == 0 || s.Bytes > mem.MaxBytes {
		return field.Errorf("bytes", "%d: want 1 to %d", s.Bytes, uint64(mem.MaxBytes))
	}
	return s.MemorySpec.validate(nicspec.EndpointHost, s.Bytes)
}

// validateCard rejects memory settings of a card that the server's shared memory replaces, and
// cards that cannot share it.
func (s *SharedSpec) validateCard(c *CardSpec) error {
	d, at := c.hostLink()
	if d == nil {
		return field.Errorf("switch", ": want one, or %v: a card with one root for both memories cannot share the "+
			"server's", field.Path("direct"))
	}
	var errs []error
	for _, x := range [...]struct {
		path field.Path
		set  bool
	}{{"cache", d.Cache != nil}, {"dram", d.DRAM != nil}, {"host", d.Host != nil}, {"gpus", len(d.GPUs) > 0},
		{"loads", len(d.Loads) > 0}} {
		if x.set {
			errs = append(errs, field.Under(at, field.Errorf(x.path, ": want none: the server has a memory that its "+
				"cards share")))
		}
	}
	if c.Endpoint.HostBytes != s.Bytes {
		errs = append(errs, field.Errorf("endpoint.host_bytes", "%d: want the %d of the memory that the server's "+
			"cards share", c.Endpoint.HostBytes, s.Bytes))
	}
	return errors.Join(append(errs, field.Under(at, d.validateSocket(s.Host)))...)
}

// hostLink returns the downlink to host memory and the path of its field; nil if one root serves
// both memories.
func (s *CardSpec) hostLink() (*Downlink, field.Path) {
	switch {
	case s.Switch != nil:
		return &s.Switch.Host, "switch.host"
	case s.Direct != nil:
		return s.Direct, "direct"
	}
	return nil, ""
}

// validateOwnMemory checks the socket of a card whose host memory is not shared.
func (s *CardSpec) validateOwnMemory() error {
	d, at := s.hostLink()
	if d == nil {
		return nil
	}
	return field.Under(at, d.validateSocket(d.Host))
}

// build assembles the memory. Its parts' names begin with the server's name.
func (s *SharedSpec) build(e *simcore.Engine, server string) (*end, error) {
	space, err := mem.NewSpace(1, s.Bytes)
	if err != nil {
		return nil, fmt.Errorf("server %s: memory: %w", server, err)
	}
	m := newMemory(space)
	if err := m.build(e, server+".Host", nicspec.EndpointHost, &s.MemorySpec); err != nil {
		return nil, fmt.Errorf("server %s: memory: %w", server, err)
	}
	return &m.ends[nicspec.EndpointHost], nil
}

// validateSocket checks that the machine has the socket that the root is attached to.
func (d *Downlink) validateSocket(h *host.Spec) error {
	sockets := 1
	if h != nil {
		sockets = h.Sockets
	}
	if last := max(sockets, 1) - 1; d.Socket < 0 || d.Socket > last {
		return field.Errorf("socket", "%d: want 0 to %d, a socket of the machine behind the root", d.Socket, last)
	}
	return nil
}
