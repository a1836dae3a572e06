package runner

import (
	"fmt"

	"nictwin/models/field"
	"nictwin/models/rnic/rnicspec"
	"nictwin/stack/flexins/data"
)

// inlineLimits is what a request of each kind of stack takes along.
var inlineLimits = map[StackKind]int{StackFlexiNS: data.MaxInline, StackRNIC: rnicspec.MaxInline}

// validateInline holds the requests of a workload to the bytes that a stack's take along. Those of low-latency queue pairs have
// a limit of their own, and where a sweep has sizes or
// kinds of queue pair, its cases are held to it.
func (s *Spec) validateInline(x *StackSpec) error {
	w := &s.Workload
	if w.LowLatency || len(s.Sweep.Sizes)+len(s.Sweep.LowLatency) > 0 {
		return nil
	}
	for i, size := range w.Sizes {
		most := inlineLimits[x.Kind]
		if n := w.InlineBytes(i); n > most {
			return field.Errorf(field.Path(fmt.Sprintf("workload.sizes[%d]", i)), "%d: requests of stacks of kind %s take up to %d B along: want %d or less, or workload.inline false",
				size, x.Kind, most, most-(n-size))
		}
	}
	return nil
}
