package simcore

import "github.com/sarchlab/akita/v3/sim"

// Portless is the base of components without ports, such as memories, which are called directly.
type Portless struct{ *sim.ComponentBase }

// NewPortless returns the base of a component. It panics if Akita does not accept the name.
func NewPortless(name string) Portless { return Portless{sim.NewComponentBase(name)} }

// NotifyRecv implements sim.Component.
func (Portless) NotifyRecv(sim.VTimeInSec, sim.Port) {}

// NotifyPortFree implements sim.Component.
func (Portless) NotifyPortFree(sim.VTimeInSec, sim.Port) {}
