package run

import (
	"fmt"

	"nictwin/models/rnic/rnicspec"
	"nictwin/models/sim/field"
	"nictwin/stack/apps"
	"nictwin/stack/flexins/data"
)

// inlineLimits holds the maximum of inline bytes in a request, by kind of stack.
var inlineLimits = map[StackKind]int{StackFlexiNS: data.MaxInline, StackRNIC: rnicspec.MaxInline}

// validateInline checks the size of the workload's inline requests against the limit of a stack, or of its low-latency
// queue pairs. If a sweep sets a field on which the limit depends, the check is made for each of its cases instead.
func (s *Spec) validateInline(x *StackSpec) error {
	w := &s.Workload
	for _, path := range []field.Path{"sizes", "low_latency", "transport", "kind"} {
		if s.Sweep.axes.Sets("workload." + path) {
			return nil
		}
	}
	if !w.Inline || w.LowLatency {
		return nil
	}
	for i, size := range w.Sizes {
		n, most := w.RequestBytes(i), inlineLimits[x.Kind]
		if w.Kind.Served() {
			n, _ = offloaded{}.Lengths(w.Kind, size)
		}
		if n > most {
			want := "fewer, or "
			if w.Transport == apps.Raw && most < apps.MinFrame {
				want = "" // no frame has so few bytes
			}
			return field.Errorf(field.Path(fmt.Sprintf("workload.sizes[%d]", i)),
				"%d: its request has %d B, and a stack of kind %s carries up to %d inline: want %s%v false",
				size, n, x.Kind, most, want, field.Path("workload.inline"))
		}
	}
	return nil
}
