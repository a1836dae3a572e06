package etherlink

import (
	"fmt"

	"github.com/sarchlab/akita/v3/sim"

	"nictwin/models/fabric/etherlink/core"
	"nictwin/models/format/ether"
	"nictwin/models/format/msg"
	"nictwin/models/sim/simcore"
)

// Builder makes a Switch. The Switch takes copies of frames, and pause frames, from the pool Frames, and
// returns frames that it drops to that pool.
type Builder struct {
	Scheduler simcore.Scheduler
	Spec      Spec
	Frames    *msg.Frames
}

// portCap is the capacity of a port's buffer, in frames. It never fills, because the switch takes
// each frame when it arrives.
const portCap = 64

// Build makes the component; its ports are named by their numbers, Port0 first. It panics if Akita
// does not accept the name.
func (b Builder) Build(name string) (*Switch, error) {
	if b.Scheduler == nil || b.Frames == nil {
		return nil, fmt.Errorf("etherlink: %s: want a scheduler and a pool of frames", name)
	}
	if err := b.Spec.Validate(); err != nil {
		return nil, fmt.Errorf("%s: %w", name, err)
	}
	table, err := core.NewTable(b.Spec.TableLen, b.Spec.Learning, b.Spec.Table)
	if err != nil {
		return nil, fmt.Errorf("%s: %w", name, err)
	}
	pfc := b.Spec.pfc()
	s := &Switch{
		ComponentBase: sim.NewComponentBase(name), spec: b.Spec, clock: simcore.NewClock(b.Scheduler), frames: b.Frames,
		table: table,
		pool:  core.NewPool(b.Spec.Ports, b.Spec.BufferBytes, b.Spec.Alpha, &pfc), worked: -1,
	}
	var weights [core.Classes]int
	for c := range weights {
		weights[c] = b.Spec.Classes[c].Weight
	}
	for i := range b.Spec.Ports {
		p := &port{s: s, index: i, bit: 1 << i, lead: i,
			sched: core.NewScheduler(&weights, b.Spec.Longest+ether.WireOverhead)}
		p.members = append(p.members, p)
		p.mac = b.Spec.MAC
		p.mac[len(p.mac)-1] += byte(i)
		p.admit.ev = simcore.Event{H: s, Arg: p, Kind: kindAdmit}
		p.done.ev = simcore.Event{H: s, Arg: p, Kind: kindDone}
		short := fmt.Sprintf("Port%d", i)
		p.port = simcore.NewPort(s, portCap, name+"."+short)
		s.AddPort(short, p.port)
		s.ports = append(s.ports, p)
	}
	for _, lag := range b.Spec.LAGs {
		lead := s.ports[lag[0]]
		lead.members = nil
		for _, i := range lag {
			s.ports[i].lead = lead.index
			lead.members = append(lead.members, s.ports[i])
		}
	}
	for _, e := range b.Spec.Table { // a static entry names a port, which may belong to a LAG
		s.table.Move(e.MAC, s.ports[e.Port].lead)
	}
	return s, nil
}
