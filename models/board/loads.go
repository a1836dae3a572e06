package board

import (
	"errors"
	"fmt"

	"nictwin/models/memory/dram"
	"nictwin/models/memory/mem"
	"nictwin/models/sim/field"
	"nictwin/models/sim/simcore"
)

// LoadSpec configures a background load of a DRAM: the accesses of other programs. They take time on
// the channels, but change no bytes and wake no software; nothing waits for them at the end of a
// run (dram.DRAM.Background). HogSpec's times count from the beginning of the simulation.
type LoadSpec struct {
	dram.HogSpec `yaml:",inline"`
	// of the loaded range in the memory; if the memory belongs to a machine (host), in the memory of the socket
	Offset uint64 `yaml:"offset" unit:"bytes"`
	Socket int    `yaml:"socket"` // socket of the machine whose DRAM is loaded
	// Held leaves it to the caller to begin the load (dram.Hog.StartFrom).
	Held bool `yaml:"-"`
}

// SetDefaults implements specfile.Defaulter.
func (s *LoadSpec) SetDefaults() { s.HogSpec = dram.DefaultHogSpec() }

// validateLoads checks that the memory of the given size has a DRAM for each load.
func (s *MemorySpec) validateLoads(bytes uint64) error {
	var errs []error
	sockets := 1
	if s.Host != nil {
		sockets = max(s.Host.Sockets, 1)
		bytes = s.Host.SocketBytes
	}
	for i := range s.Loads {
		at, l := field.Path(fmt.Sprintf("loads[%d]", i)), &s.Loads[i]
		errs = append(errs, field.Under(at, l.Validate()))
		if s.DRAM == nil && s.Host == nil {
			errs = append(errs, field.Errorf(at, ": memory answers at once: want %v or %v to load, or no load",
				field.Path("dram"), field.Path("host")))
		}
		if l.Socket < 0 || l.Socket >= sockets {
			errs = append(errs, field.Errorf(at+".socket", "%d: want 0 to %d, a socket of the machine", l.Socket,
				sockets-1))
		}
		if l.Span > bytes || l.Offset > bytes-l.Span {
			errs = append(errs, field.Against(field.Errorf(at+".offset", "%d: want its %d B (span_bytes) inside the "+
				"%d B of the memory", l.Offset, l.Span, bytes), at+".span_bytes"))
		}
	}
	return errors.Join(errs...)
}

// startLoads makes the loads of an endpoint's memory. Those without Held begin at their times.
func (x *end) startLoads(e *simcore.Engine, endpoint int, s *MemorySpec) error {
	for i, l := range s.Loads {
		to := x.dram
		l.Base = mem.Bus(endpoint, 0) + l.Offset
		if x.host != nil {
			to = x.host.DRAM[l.Socket]
			l.Base += uint64(l.Socket) * s.Host.SocketBytes
		}
		h, err := dram.NewHog(fmt.Sprintf("%s.Load[%d]", x.name, i), e, l.HogSpec, to.Background())
		if err != nil {
			return err
		}
		if !l.Held {
			h.Start()
		}
		x.loads = append(x.loads, h)
	}
	return nil
}

// Loads returns the background loads of an endpoint's memory, in the order of the spec.
func (m *Memory) Loads(endpoint int) []*dram.Hog { return m.ends[endpoint].loads }

// StopLoads ends the background loads of the card's memories, so that its engine runs out of events.
func (c *Card) StopLoads() {
	for ep := range c.Memory.ends {
		for _, h := range c.Memory.ends[ep].loads {
			h.Stop()
		}
	}
}

// StopLoads ends the background loads of all memories.
func (r *Rack) StopLoads() {
	for _, c := range r.Cards() {
		c.StopLoads()
	}
}

// Loaded returns the path of the first background load of the card, or "".
func (s *CardSpec) Loaded() field.Path {
	for _, x := range s.downlinks() {
		if len(x.Loads) > 0 {
			return x.at + ".loads"
		}
	}
	return ""
}

// placed is a downlink with the path of its field in the card's spec.
type placed struct {
	*Downlink
	at field.Path
}

// downlinks returns the card's downlinks.
func (s *CardSpec) downlinks() (all []placed) {
	if s.Switch != nil {
		all = append(all, placed{&s.Switch.Arm, "switch.arm"}, placed{&s.Switch.Host, "switch.host"})
	}
	if s.Direct != nil {
		all = append(all, placed{s.Direct, "direct"})
	}
	return all
}
