package run

import (
	"errors"
	"fmt"

	"nictwin/models/board"
	"nictwin/models/inject"
	"nictwin/models/memory/mem"
	"nictwin/models/nic/nicspec"
	"nictwin/models/sim/field"
	"nictwin/models/sim/simcore"
)

// FaultSpec lists the faults injected around the devices.
type FaultSpec struct {
	// faults of the cables; the board's network must not have any itself
	Wire *inject.WireSpec `yaml:"wire"`
	// faults in completions of the NICs' reads, from the start of the traffic on
	PCIe       []PCIeFault       `yaml:"pcie"`
	SlowMemory *inject.DelaySpec `yaml:"slow_memory"` // additional delay in front of the memories of every card
	// percentage of cycles in which the NICs' streams stall
	Stall int `yaml:"stall"`
}

// PCIeFault makes completions of a NIC's reads wrong or late.
type PCIeFault struct {
	Server int            `yaml:"server"`
	Of     EndpointMemory `yaml:"of"`       // memory whose reads are affected
	Kind   string         `yaml:"kind"`     // kind of fault; none if completions are only late
	Skip   int            `yaml:"skip"`     // the first Skip reads are unaffected
	Count  int            `yaml:"count"`    // number of reads affected after the first Skip; 0: all
	Delay  simcore.Ps     `yaml:"delay_ps"` // time by which completions are late
}

// EndpointMemory names the memory of an endpoint: host or Arm.
type EndpointMemory string

const (
	ArmMemory  EndpointMemory = "arm"
	HostMemory EndpointMemory = "host"
	Buffers    EndpointMemory = "buffers" // application buffers
)

func (f *PCIeFault) validate(servers int) error {
	var errs []error
	bad := func(ok bool, path field.Path, format string, a ...any) {
		if !ok {
			errs = append(errs, field.Errorf(path, format, a...))
		}
	}
	bad(f.Server >= 0 && f.Server < servers, "server", "%d: the board has %d servers: want 0 to %d", f.Server, servers,
		servers-1)
	bad(f.Of == ArmMemory || f.Of == HostMemory || f.Of == Buffers, "of", "%q: want %s, %s or %s", f.Of, ArmMemory,
		HostMemory, Buffers)
	if _, err := inject.ParseFault(f.Kind); err != nil {
		errs = append(errs, field.Errorf("kind", ": %w", err))
	}
	bad(f.Skip >= 0, "skip", "%d: want 0 or more", f.Skip)
	bad(f.Count >= 0, "count", "%d: want 0 for all, or more", f.Count)
	bad(f.Delay >= 0 && f.Delay <= simcore.Second, "delay_ps", "%d: want 0 to 1 s", int64(f.Delay))
	return errors.Join(errs...)
}

// injectReadFaults activates the faults in completions of the NICs' reads.
func (w *world) injectReadFaults() error {
	for i := range w.c.Faults.PCIe {
		f := &w.c.Faults.PCIe[i]
		kind, err := inject.ParseFault(f.Kind)
		if err != nil {
			return err
		}
		x := inject.Fault{Kind: kind, Skip: f.Skip, Count: f.Count, Delay: f.Delay}
		faults := w.rack.Servers[f.Server].Cards[0].Faults
		if f.Of != Buffers {
			x.From, x.To = f.Of.reach()
			if err := faults.Add(x); err != nil {
				return err
			}
			continue
		}
		var ranges []inject.Range
		for _, p := range w.c.placesOf(f.Server) {
			at := placed(&w.spec.Servers[f.Server]).Of(p)
			ranges = append(ranges, inject.Range{From: at.Base, To: at.Base + at.Bytes})
		}
		if len(ranges) == 0 {
			continue // no application is on the server
		}
		x.From, x.To = ranges[0].From, ranges[0].To
		if err := faults.Add(x, ranges[1:]...); err != nil {
			return err
		}
	}
	return nil
}

// reach returns the range [from, to) of bus addresses of an endpoint's memory.
func (m EndpointMemory) reach() (from, to uint64) {
	switch m {
	case ArmMemory:
		return mem.Bus(nicspec.EndpointArm, 0), mem.Bus(nicspec.EndpointArm, mem.MaxBytes-1)
	}
	return mem.Bus(nicspec.EndpointHost, 0), mem.Bus(nicspec.EndpointHost, mem.MaxBytes-1)
}

func (f *FaultSpec) validate(servers int) error {
	var errs []error
	if f.Wire != nil {
		errs = append(errs, field.Under("wire", f.Wire.Validate()))
	}
	for i := range f.PCIe {
		errs = append(errs, field.Under(field.Path(fmt.Sprintf("pcie[%d]", i)), f.PCIe[i].validate(servers)))
	}
	if f.SlowMemory != nil {
		errs = append(errs, field.Under("slow_memory", f.SlowMemory.Validate()))
	}
	if f.Stall < 0 || f.Stall > board.MaxStall {
		errs = append(errs, field.Errorf("stall", "%d: want 0 to %d", f.Stall, board.MaxStall))
	}
	return errors.Join(errs...)
}
