package run

import (
	"nictwin/models/board"
	"nictwin/models/sim/field"
)

// validateProcesses checks that a stack and its server can run the workload's number of processes: each needs a verbs
// context, and a core of the host's first socket.
func (s *Spec) validateProcesses(x *StackSpec, c *board.CardSpec) error {
	const path = field.Path("workload.processes")
	n := s.Workload.Processes
	if n > 1 && x.Kind != StackFlexiNS {
		return field.Errorf(path, "%d: stack %s opens one verbs context, for one application on its server: want 1, "+
			"or stack %s", n, x.Kind, StackFlexiNS)
	}
	if c.Switch == nil || c.Switch.Host.Host == nil {
		return nil // the stack reports that the card has no cores
	}
	if cores := c.Switch.Host.Host.CPU.Cores; n > cores {
		return field.Errorf(path, "%d: the first socket of a server has %d cores, and each process takes one: want "+
			"%d at most", n, cores, cores)
	}
	return nil
}
