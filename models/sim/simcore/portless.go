package simcore

import "github.com/sarchlab/akita/v3/sim"

// Portless is what a component has in common with others that have no ports, as memories are called and not sent to.
type Portless struct{ *sim.ComponentBase }

// NewPortless makes it. It panics if Akita does not accept the name.
func NewPortless(name string) Portless { return Portless{sim.NewComponentBase(name)} }

// NotifyRecv implements sim.Component.
func (Portless) NotifyRecv(sim.VTimeInSec, sim.Port) {}

// NotifyPortFree implements sim.Component.
func (Portless) NotifyPortFree(sim.VTimeInSec, sim.Port) {}
