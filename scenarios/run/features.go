package run

import (
	"errors"
	"fmt"

	"nictwin/models/rnic/rnicspec"
	"nictwin/models/sim/field"
	"nictwin/scenarios/run/workload"
	"nictwin/stack/apps"
	"nictwin/stack/flexins/data"
	"nictwin/stack/verbs"
)

// validateFeatures checks that a stack supports the workloads of its servers. at is the field with the stack.
func (s *Spec) validateFeatures(at field.Path, x *StackSpec, servers int) error {
	var errs []error
	for i, w := range s.AllWorkloads() {
		pairs := 0
		for n := range servers {
			if x == s.stack(n) {
				pairs = max(pairs, w.QueuePairsOn(n))
			}
		}
		if pairs == 0 {
			continue
		}
		path := s.workloadPath(i)
		errs = append(errs, validateSolar(at, x, w, path), validateMTU(at, x, w, path), s.validateInline(x, w, path),
			validateLowLatency(at, x, w, path), validateNop(at, x, w, path), validateSharers(at, x, w, path))
	}
	return errors.Join(append(errs, s.validateLowLatencyPairs(at, x, servers), s.validateAccounts(at, x, servers),
		s.validateMarks(at, x))...)
}

// validateLowLatency checks that a stack has low-latency queue pairs that take the messages of a workload.
func validateLowLatency(at field.Path, x *StackSpec, w *workload.Spec, path field.Path) error {
	if !w.LowLatency {
		return nil
	}
	if x.Kind != StackFlexiNS {
		return field.Errorf(at+".kind", "%s: it has no low-latency queue pairs: want %s, or %v false", x.Kind,
			StackFlexiNS, path+".low_latency")
	}
	for _, n := range w.Sizes {
		if most := x.FlexiNS.Data.MaxLowLatency(); n > most {
			return field.Errorf(at+".flexins.data.pipe.log_lines",
				"%d: a pipe of so many lines takes low-latency messages of %d B at most, %v has %d: want more",
				x.FlexiNS.Data.Pipe.LogLines, most, path+".sizes", n)
		}
	}
	return nil
}

// validateLowLatencyPairs checks that a stack has as many low-latency queue pairs as its servers' workloads take.
func (s *Spec) validateLowLatencyPairs(at field.Path, x *StackSpec, servers int) error {
	for n := range servers {
		pairs, path := 0, field.Path("")
		for i, w := range s.AllWorkloads() {
			if w.LowLatency && w.QueuePairsOn(n) > 0 {
				pairs, path = pairs+w.QueuePairsOn(n), s.workloadPath(i)
			}
		}
		if has := x.FlexiNS.LowLatency; x == s.stack(n) && x.Kind == StackFlexiNS && pairs > has {
			return field.Errorf(at+".flexins.low_latency_qps", "%d: with %v, server %d has %d queue pairs: want that "+
				"many or more", has, path+".low_latency", n, pairs)
		}
	}
	return nil
}

// validateNotice rejects a reflector that detects messages by polling their bytes where packets may be lost or doubled:
// the reflector would send from buffers that the NIC may write again.
func (s *Spec) validateNotice() error {
	var errs []error
	for i, w := range s.AllWorkloads() {
		path := s.workloadPath(i)
		if w.Notice != apps.NoticeBytes || w.Kind != apps.Reflector || s.Faults.Wire == nil ||
			s.sweepsWorkload("kind") || s.sweepsWorkload("notice") {
			continue
		}
		errs = append(errs, field.Errorf(path+".notice", "%s: with %v a packet that its transport refuses may have "+
			"the bytes of a later message, and a reflector would send from a buffer that the NIC writes again: want "+
			"none, another %v, or %s", w.Notice, field.Path("faults.wire"), path+".kind", apps.NoticeCompletion))
	}
	return errors.Join(errs...)
}

// validateSolar checks that a stack supports a workload of storage blocks over Solar.
func validateSolar(at field.Path, x *StackSpec, w *workload.Spec, path field.Path) error {
	if w.Transport != apps.Solar || x.Kind == StackFlexiNS {
		return nil
	}
	return field.Errorf(at+".kind", "%s: it has no transport %s: want %s, or another %v", x.Kind, apps.Solar,
		StackFlexiNS, path+".transport")
}

// validateNop checks that a stack supports a workload of NOPs.
func validateNop(at field.Path, x *StackSpec, w *workload.Spec, path field.Path) error {
	if w.Kind != apps.Nop || x.Kind == StackFlexiNS {
		return nil
	}
	return field.Errorf(at+".kind", "%s: it has no work requests NOP: want %s, or another %v", x.Kind, StackFlexiNS,
		path+".kind")
}

// validateSharers checks that applications on a stack can share a receive queue if those of a workload do.
func validateSharers(at field.Path, x *StackSpec, w *workload.Spec, path field.Path) error {
	if w.SharedReceiveBy != apps.SharedByServer || x.Kind == StackRNIC {
		return nil
	}
	return field.Errorf(at+".kind", "%s: its applications share no receive queue with each other: want %s, or %v %s",
		x.Kind, StackRNIC, path+".shared_receive_by", apps.SharedByApplication)
}

// rnicMTU is the largest MTU of a NIC with a hardware transport.
const rnicMTU = verbs.MTU4096

// validateMTU checks a workload's MTU against the maximum of a stack's ports.
func validateMTU(at field.Path, x *StackSpec, w *workload.Spec, path field.Path) error {
	switch {
	case w.Transport == apps.Raw: // the application makes the frames
	case x.Kind == StackFlexiNS && w.MTU > int(x.FlexiNS.MTU):
		return field.Errorf(at+".flexins.mtu", "%d: %v is %d: want that or more", x.FlexiNS.MTU, path+".mtu", w.MTU)
	case x.Kind == StackRNIC && w.MTU > int(rnicMTU):
		return field.Against(field.Errorf(path+".mtu", "%d: ports of stacks of kind %s have %d: want that or less",
			w.MTU, x.Kind, rnicMTU), at+".kind")
	}
	return nil
}

// inlineLimits holds the maximum of inline bytes in a request, by kind of stack.
var inlineLimits = map[StackKind]int{StackFlexiNS: data.MaxInline, StackRNIC: rnicspec.MaxInline}

// validateInline checks the size of a workload's inline requests against the limit of a stack, or of its low-latency
// queue pairs. If a sweep sets a field on which the limit depends, the check is made for each of its cases instead.
func (s *Spec) validateInline(x *StackSpec, w *workload.Spec, path field.Path) error {
	for _, name := range []field.Path{"sizes", "low_latency", "transport", "kind"} {
		if s.sweepsWorkload(name) {
			return nil
		}
	}
	if !w.Inline || w.LowLatency {
		return nil
	}
	for i, size := range w.Sizes {
		n, most := w.RequestBytes(i), inlineLimits[x.Kind]
		if w.Served() {
			n, _ = offloaded{}.Lengths(w.Kind, size)
		}
		if n > most {
			want := "fewer, or "
			if w.Transport == apps.Raw && most < apps.MinFrame {
				want = "" // no frame has so few bytes
			}
			return field.Errorf(path+field.Path(fmt.Sprintf(".sizes[%d]", i)),
				"%d: its request has %d B, and a stack of kind %s carries up to %d inline: want %s%v false",
				size, n, x.Kind, most, want, path+".inline")
		}
	}
	return nil
}
