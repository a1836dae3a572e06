package board

import (
	"errors"
	"fmt"

	"nictwin/models/inject"
	"nictwin/models/mem"
	"nictwin/models/root"
	"nictwin/models/simcore"
	"nictwin/models/tlp"
)

// Endpoint is what stands behind the NIC's PCIe link: a root complex over the memories of both endpoints, and what is to be
// inserted around it.
type Endpoint struct {
	root.Spec
	ArmBytes  uint64           // size of Arm memory, from offset 0
	HostBytes uint64           // size of host memory, from offset 0
	Delay     inject.DelaySpec // of the memories; the zero value inserts none. Its seed is the root's

	Faults bool // insert Board.Faults
	Gate   bool // insert Board.Gate
}

// DefaultEndpoint is 1 GB of Arm and 1 GB of host memory behind a default root, and nothing inserted. Data is fetched when
// its completion is to be sent, so that completions of a read come with gaps if the memories have a delay.
func DefaultEndpoint() Endpoint {
	e := Endpoint{Spec: root.DefaultSpec(), ArmBytes: 1 << 30, HostBytes: 1 << 30}
	e.Ahead = 1
	return e
}

// EndpointFor is the default, but if streams stall, reads come back shuffled and split at random, too.
func EndpointFor(seed uint64, stall int) Endpoint {
	e := DefaultEndpoint()
	e.Seed = seed
	if stall > 0 {
		e.Split, e.Delay.Jitter = tlp.CplRandom, 200*simcore.Nanosecond
	}
	return e
}

// Validate returns every error of the spec.
func (e *Endpoint) Validate() error {
	_, err := mem.NewSpace(e.ArmBytes, e.HostBytes)
	return errors.Join(e.Spec.Validate(), e.Delay.Validate(), err)
}

// build puts the endpoint together; port is where the PCIe link is to end.
func (e *Endpoint) build(b *Board) (port *simcore.Port, err error) {
	if b.Memory, err = mem.NewSpace(e.ArmBytes, e.HostBytes); err != nil {
		return nil, err
	}
	var memory mem.Target = b.Memory
	if d := e.Delay; d.Latency > 0 || d.Jitter > 0 {
		d.Seed = e.Seed
		if memory, err = inject.NewDelay("Delay", b.Engine, d, memory); err != nil {
			return nil, err
		}
	}
	b.Root, err = root.Builder{Scheduler: b.Engine, Spec: e.Spec, Memory: memory, TLPs: &b.pools.tlps}.Build("Root")
	if err != nil {
		return nil, err
	}
	port = b.Root.PCIe()
	if e.Faults {
		b.Faults = inject.NewFaults("Faults", b.Engine, &b.pools.tlps)
		if port, err = b.insert(b.Faults, port); err != nil {
			return nil, err
		}
	}
	if e.Gate {
		b.Gate = inject.NewGate("Gate", b.Engine)
		port, err = b.insert(b.Gate, port)
	}
	return port, err
}

// decorator stands in a link.
type decorator interface {
	Name() string
	Device() *simcore.Port
	Peer() *simcore.Port
}

// insert puts a decorator before a port, and returns the port that stands for that one from now on.
func (b *Board) insert(d decorator, before *simcore.Port) (*simcore.Port, error) {
	if _, err := simcore.Connect(d.Name()+"Link", b.Engine, simcore.LinkSpec{}, before, d.Peer()); err != nil {
		return nil, fmt.Errorf("inserting %s: %w", d.Name(), err)
	}
	return d.Device(), nil
}

// Idle reports whether the endpoint has nothing to send and waits for nothing.
func (b *Board) Idle() bool { return b.Root.Idle() && (b.Faults == nil || b.Faults.Idle()) }
