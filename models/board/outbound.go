package board

import (
	"errors"

	"nictwin/models/fabric/root"
	"nictwin/models/format/tlp"
	"nictwin/models/memory/mem"
	"nictwin/models/memory/memmap"
	"nictwin/models/nic/nicspec"
	"nictwin/models/server/host/mmio"
	"nictwin/models/sim/field"
	"nictwin/models/sim/simcore"
)

// Requester IDs of the cores' accesses to the other side's memory: one function above the ID that
// the root uses for register accesses.
const (
	requesterArmOutbound  = nicspec.RequesterArm + 1
	requesterHostOutbound = nicspec.RequesterHost + 1
)

// validateOutbound checks the paths from one side's cores to the other side's memory.
func (s *SwitchSpec) validateOutbound() error {
	var errs []error
	if s.ArmOutbound != nil {
		errs = append(errs, field.Under("arm_outbound", s.ArmOutbound.Validate()))
		if s.Arm.Host == nil {
			errs = append(errs, field.Errorf("arm_outbound", ": want none, or cores that use it: a machine at %v",
				field.Path("arm.host")))
		}
	}
	if s.HostMMIO != nil {
		errs = append(errs, field.Under("host_mmio", s.HostMMIO.Validate()))
	}
	return errors.Join(errs...)
}

// lateTarget stands for a memory that does not exist yet: host memory, which the Arm's machine
// needs when it is assembled. Target is set later.
type lateTarget struct{ mem.Target }

// region returns the address range of host memory, as the Arm's cores see it.
func (l *lateTarget) region(m *Memory) []memmap.Region {
	if l == nil {
		return nil
	}
	view := endpointMemory{m, nicspec.EndpointHost}
	return []memmap.Region{{Name: "host memory", Base: mem.Bus(nicspec.EndpointHost, 0), Bytes: mem.MaxBytes, Memory: l,
		View: view, Watcher: view}}
}

// buildOutbound makes the paths from one side's cores to the other side's memory.
func (s *SwitchSpec) buildOutbound(e *simcore.Engine, c *Card, ep *Endpoint, far *lateTarget) (err error) {
	limits := minLimits(s.Arm.limits(ep), s.Host.limits(ep))
	if far != nil {
		c.ArmOutbound, err = c.Root.NewOutbound(requesterArmOutbound, *s.ArmOutbound, limits,
			endpointMemory{c.Memory, nicspec.EndpointHost})
		if err != nil {
			return err
		}
		far.Target = c.ArmOutbound
	}
	if s.HostMMIO == nil {
		return nil
	}
	out, err := c.Host.NewOutbound(requesterHostOutbound, root.DefaultOutboundSpec(), limits,
		endpointMemory{c.Memory, nicspec.EndpointArm})
	if err == nil {
		c.HostMMIO, err = mmio.Builder{Scheduler: e, Spec: *s.HostMMIO,
			Registers: &mmio.Window{Memory: out}}.Build(c.Name + ".HostMMIO")
	}
	return err
}

// minLimits returns the limits that both roots accept.
func minLimits(a, b tlp.Limits) tlp.Limits {
	return tlp.Limits{MPS: min(a.MPS, b.MPS), MRRS: min(a.MRRS, b.MRRS), RCB: min(a.RCB, b.RCB)}
}

// buildMemory builds the memory behind a downlink, or uses the server's shared host memory.
func (c *Card) buildMemory(e *simcore.Engine, side string, endpoint int, d *Downlink, far ...memmap.Region) error {
	device := "IIO"
	if c.shared != nil && endpoint == nicspec.EndpointHost {
		c.Memory.share(c.shared)
		device = c.Name + "." + device
	} else if err := c.Memory.build(e, c.Name+"."+side, endpoint, &d.MemorySpec, far...); err != nil {
		return err
	}
	return c.Memory.ends[endpoint].attach(d.Socket, device)
}

// Read implements mem.Backdoor.
func (m endpointMemory) Read(addr uint64, b []byte) error {
	if err := m.foreign(mem.Read, addr, len(b)); err != nil {
		return err
	}
	return m.memory.Read(addr, b)
}

// Write implements mem.Backdoor.
func (m endpointMemory) Write(addr uint64, b []byte) error {
	if err := m.foreign(mem.Write, addr, len(b)); err != nil {
		return err
	}
	return m.memory.Write(addr, b)
}

// Watch implements memmap.Watcher.
func (m endpointMemory) Watch(addr uint64, n int, f func(addr uint64, n int)) (stop func(), err error) {
	if err := m.foreign(mem.Read, addr, n); err != nil {
		return nil, err
	}
	return m.memory.Watch(addr, n, f)
}
