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

// FaultSpec is what goes wrong around the devices.
type FaultSpec struct {
	// in the cables, beside what the board's network has: it may have none of its own then
	Wire *inject.WireSpec `yaml:"wire"`
	// answers to reads of the NICs, from the beginning of the traffic on
	PCIe       []PCIeFault       `yaml:"pcie"`
	SlowMemory *inject.DelaySpec `yaml:"slow_memory"` // before the memories of every card
	// percent of the cycles in which the streams of the NICs stand still
	Stall int `yaml:"stall"`
}

// PCIeFault is reads of a NIC whose answers go wrong, or come late.
type PCIeFault struct {
	Server int            `yaml:"server"`   // 0 or 1
	Of     EndpointMemory `yaml:"of"`       // that is read
	Kind   string         `yaml:"kind"`     // none, if they are only late
	Skip   int            `yaml:"skip"`     // the first so many are spared
	Count  int            `yaml:"count"`    // so many are struck; 0: all
	Delay  simcore.Ps     `yaml:"delay_ps"` // so much later
}

// EndpointMemory names the memory of an endpoint.
type EndpointMemory string

// The memories.
const (
	ArmMemory  EndpointMemory = "arm"
	HostMemory EndpointMemory = "host"
	Buffers    EndpointMemory = "buffers" // of applications, in the host
)

func (f *PCIeFault) validate() error {
	var errs []error
	bad := func(ok bool, path field.Path, format string, a ...any) {
		if !ok {
			errs = append(errs, field.Errorf(path, format, a...))
		}
	}
	bad(f.Server == 0 || f.Server == 1, "server", "%d: want 0 or 1", f.Server)
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

// strike puts the faults of reads into force.
func (w *world) strike() error {
	for i := range w.c.Faults.PCIe {
		f := &w.c.Faults.PCIe[i]
		kind, err := inject.ParseFault(f.Kind)
		if err != nil {
			return err
		}
		from, to := f.Of.reach()
		x := inject.Fault{Kind: kind, From: from, To: to, Skip: f.Skip, Count: f.Count, Delay: f.Delay}
		if err := w.rack.Servers[f.Server].Cards[0].Faults.Add(x); err != nil {
			return err
		}
	}
	return nil
}

// reach is where the reads begin that are meant, and where no more do.
func (m EndpointMemory) reach() (from, to uint64) {
	switch m {
	case ArmMemory:
		return mem.Bus(nicspec.EndpointArm, 0), mem.Bus(nicspec.EndpointArm, mem.MaxBytes-1)
	case Buffers:
		return mem.Bus(nicspec.EndpointHost, appsFrom), mem.Bus(nicspec.EndpointHost, appsFrom+appsBytes)
	}
	return mem.Bus(nicspec.EndpointHost, 0), mem.Bus(nicspec.EndpointHost, mem.MaxBytes-1)
}

func (f *FaultSpec) validate() error {
	var errs []error
	if f.Wire != nil {
		errs = append(errs, field.Under("wire", f.Wire.Validate()))
	}
	for i := range f.PCIe {
		errs = append(errs, field.Under(field.Path(fmt.Sprintf("pcie[%d]", i)), f.PCIe[i].validate()))
	}
	if f.SlowMemory != nil {
		errs = append(errs, field.Under("slow_memory", f.SlowMemory.Validate()))
	}
	if f.Stall < 0 || f.Stall > board.MaxStall {
		errs = append(errs, field.Errorf("stall", "%d: want 0 to %d", f.Stall, board.MaxStall))
	}
	return errors.Join(errs...)
}
