package run

import (
	"nictwin/models/sim/field"
	"nictwin/stack/apps"
)

// validateSolar checks that a stack supports a workload of storage blocks over Solar.
func (s *Spec) validateSolar(at field.Path, x *StackSpec) error {
	if s.Workload.Transport != apps.Solar || x.Kind == StackFlexiNS {
		return nil
	}
	return field.Errorf(at+".kind", "%s: it has no transport %s: want %s, or another %v", x.Kind, apps.Solar,
		StackFlexiNS, field.Path("workload.transport"))
}
