package run

import (
	"nictwin/models/sim/field"
	"nictwin/stack/apps"
	"nictwin/stack/verbs"
)

// rnicMTU is the largest MTU of a NIC with a hardware transport.
const rnicMTU = verbs.MTU4096

// validateMTU checks the workload's MTU against the maximum of a stack's ports.
func (s *Spec) validateMTU(at field.Path, x *StackSpec) error {
	n := s.Workload.MTU
	switch {
	case s.Workload.Transport == apps.Raw: // the application makes the frames
	case x.Kind == StackFlexiNS && n > int(x.FlexiNS.MTU):
		return field.Errorf(at+".flexins.mtu", "%d: %v is %d: want that or more", x.FlexiNS.MTU,
			field.Path("workload.mtu"), n)
	case x.Kind == StackRNIC && n > int(rnicMTU):
		return field.Against(field.Errorf("workload.mtu", "%d: ports of stacks of kind %s have %d: want that or less",
			n, x.Kind, rnicMTU), at+".kind")
	}
	return nil
}
