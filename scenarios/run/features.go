package run

import (
	"nictwin/models/sim/field"
	"nictwin/stack/apps"
)

// validateLowLatency checks that a stack supports the workload's low-latency queue pairs.
func (s *Spec) validateLowLatency(at field.Path, x *StackSpec) error {
	w := &s.Workload
	if !w.LowLatency {
		return nil
	}
	if x.Kind != StackFlexiNS {
		return field.Errorf(at+".kind", "%s: it has no low-latency queue pairs: want %s, or %v false", x.Kind,
			StackFlexiNS, field.Path("workload.low_latency"))
	}
	pairs := w.Processes * w.QueuePairs
	if w.BothWays {
		pairs *= 2
	}
	if n := x.FlexiNS.LowLatency; n < pairs {
		return field.Errorf(at+".flexins.low_latency_qps", "%d: %v has %d queue pairs on each server: want that many "+
			"or more", n, field.Path("workload.low_latency"), pairs)
	}
	for _, n := range w.Sizes {
		if most := x.FlexiNS.Data.MaxLowLatency(); n > most {
			return field.Errorf(at+".flexins.data.pipe.log_lines",
				"%d: a pipe of so many lines takes low-latency messages of %d B at most, %v has %d: want more",
				x.FlexiNS.Data.Pipe.LogLines, most, field.Path("workload.sizes"), n)
		}
	}
	return nil
}

// validateSolar checks that a stack supports a workload of storage blocks over Solar.
func (s *Spec) validateSolar(at field.Path, x *StackSpec) error {
	if s.Workload.Transport != apps.Solar || x.Kind == StackFlexiNS {
		return nil
	}
	return field.Errorf(at+".kind", "%s: it has no transport %s: want %s, or another %v", x.Kind, apps.Solar,
		StackFlexiNS, field.Path("workload.transport"))
}
