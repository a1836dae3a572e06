package shrink

import (
	"reflect"
	"slices"

	"nictwin/scenarios/delta"
	"nictwin/scenarios/run"
	"nictwin/stack/apps"
	"nictwin/stack/flexins/node"
)

// reducer makes a scenario smaller as long as it fails in the same way.
type reducer struct {
	*delta.Search
	fails func(*run.Spec) bool
	best  run.Spec
}

// reduce returns the smallest scenario that it finds to fail. message is the message that the first finding names;
// negative: none.
func reduce(s *delta.Search, spec run.Spec, message int, fails func(*run.Spec) bool) run.Spec {
	r := &reducer{s, fails, spec}
	if w := &r.best.Workload; message >= 0 && message < w.Count {
		size := w.Sizes[message%len(w.Sizes)]
		if !r.change(func(s *run.Spec) { s.Workload.Sizes, s.Workload.Count = []int{size}, 1 }) {
			r.change(func(s *run.Spec) { s.Workload.Count = message + 1 })
		}
	}
	for got := true; got && r.More(); {
		got = r.numbers(&workloadNumbers)
		got = r.simplify() || got
		got = r.lists() || got
		got = r.sizes() || got
	}
	return r.best
}

// change adopts a changed scenario if it is valid and fails, too.
func (r *reducer) change(by ...func(*run.Spec)) bool {
	s := copyOf(&r.best)
	for _, f := range by {
		f(&s)
	}
	if reflect.DeepEqual(s, r.best) || s.Validate() != nil || !r.Try(func() bool { return r.fails(&s) }) {
		return false
	}
	r.best = s
	return true
}

// copyOf returns a copy with its own lists and faults, which a change may modify.
func copyOf(s *run.Spec) run.Spec {
	c := *s
	c.Workload.Sizes, c.Workload.Hops = slices.Clone(s.Workload.Sizes), slices.Clone(s.Workload.Hops)
	c.Stacks, c.Faults.PCIe = slices.Clone(s.Stacks), slices.Clone(s.Faults.PCIe)
	if w := s.Faults.Wire; w != nil {
		own := *w
		own.Rules = slices.Clone(w.Rules)
		c.Faults.Wire = &own
	}
	return c
}

// number is a number of a scenario that can be lowered to least.
type number struct {
	of    func(*run.Spec) *int
	least int
}

// workloadNumbers are lowered first; each message, flow and process takes time.
var workloadNumbers = []number{
	{func(s *run.Spec) *int { return &s.Workload.Count }, 1},
	{func(s *run.Spec) *int { return &s.Workload.QueuePairs }, 1},
	{func(s *run.Spec) *int { return &s.Workload.Processes }, 1},
	{func(s *run.Spec) *int { return &s.Workload.Depth }, 1},
}

// numbers lowers numbers.
func (r *reducer) numbers(list *[]number) (got bool) {
	for _, x := range *list {
		high := *x.of(&r.best)
		low := delta.Least(x.least, high, func(n int) bool {
			return n < high && r.change(func(s *run.Spec) { *x.of(s) = n })
		})
		got = low < high || got
	}
	return got
}

// simplify applies simplifications: all at once, then half of them at a time, and so on.
func (r *reducer) simplify() bool {
	left := slices.DeleteFunc(simplifications(&r.best), func(f func(*run.Spec)) bool {
		s := copyOf(&r.best)
		f(&s)
		return reflect.DeepEqual(s, r.best)
	})
	if len(left) == 0 {
		return false
	}
	if r.change(left...) {
		return true
	}
	return delta.Cut(func() int { return len(left) }, func(from, to int) bool {
		if !r.change(left[from:to]...) {
			return false
		}
		left = slices.Concat(left[:from], left[to:])
		return true
	})
}

// simplifications returns the ways in which a scenario could be simpler.
func simplifications(s *run.Spec) []func(*run.Spec) {
	plain, stack := apps.DefaultSpec(), node.DefaultSpec()
	all := []func(*run.Spec){
		func(s *run.Spec) { s.Workload.BothWays = false },
		func(s *run.Spec) { s.Workload.Batch, s.Workload.SignalEvery = plain.Batch, plain.SignalEvery },
		func(s *run.Spec) { s.Workload.Pieces = plain.Pieces },
		func(s *run.Spec) { s.Workload.Offset = plain.Offset },
		func(s *run.Spec) { s.Workload.Inline, s.Workload.Immediate = false, false },
		func(s *run.Spec) { s.Workload.Invalidate = false },
		func(s *run.Spec) { s.Workload.Events, s.Workload.Payload = false, plain.Payload },
		func(s *run.Spec) { s.Workload.LowLatency = false },
		func(s *run.Spec) { s.Workload.SharedReceive, s.Workload.Receives = false, 0 },
		func(s *run.Spec) { s.Workload.SharedCounter, s.Workload.AnyOrder = false, false },
		func(s *run.Spec) { s.Workload.Ports, s.Workload.PSN = plain.Ports, nil },
		func(s *run.Spec) { s.Workload.Ring = plain.Ring },
		func(s *run.Spec) { s.Workload.Misuse = nil },
		func(s *run.Spec) { s.Faults.Wire = nil },
		func(s *run.Spec) { s.Faults.PCIe = nil },
		func(s *run.Spec) { s.Faults.SlowMemory = nil },
		func(s *run.Spec) { s.Faults.Stall = 0 },
		func(s *run.Spec) { s.Stacks = s.Stacks[:1] },
	}
	for _, plain := range []func(*node.Spec){
		func(n *node.Spec) { n.DataCores = 1 },
		func(n *node.Spec) { n.Data = stack.Data },
		func(n *node.Spec) { n.Control, n.Library, n.Offload = stack.Control, stack.Library, stack.Offload },
		func(n *node.Spec) { n.Notify, n.LowLatency = stack.Notify, stack.LowLatency },
	} {
		all = append(all, func(s *run.Spec) {
			for i := range s.Stacks {
				if s.Stacks[i].Kind == run.StackFlexiNS {
					plain(&s.Stacks[i].FlexiNS)
				}
			}
		})
	}
	if s.Faults.Wire != nil {
		all = append(all, chances()...)
	}
	return all
}

// chances returns a change of the scenario for each kind of cable fault: it sets the chance of the fault to 0.
func chances() (all []func(*run.Spec)) {
	for _, of := range []func(*run.Spec) *float64{
		func(s *run.Spec) *float64 { return &s.Faults.Wire.Chances.Loss },
		func(s *run.Spec) *float64 { return &s.Faults.Wire.Chances.Duplication },
		func(s *run.Spec) *float64 { return &s.Faults.Wire.Chances.Disorder },
		func(s *run.Spec) *float64 { return &s.Faults.Wire.Chances.Corruption },
		func(s *run.Spec) *float64 { return &s.Faults.Wire.Chances.Headers },
		func(s *run.Spec) *float64 { return &s.Faults.Wire.Chances.ECN },
	} {
		all = append(all, func(s *run.Spec) {
			if s.Faults.Wire != nil { // nil if another simplification has removed it
				*of(s) = 0
			}
		})
	}
	return all
}

// lists leaves out sizes, hops, and faults.
func (r *reducer) lists() bool {
	got := cut(r, func(s *run.Spec) *[]int { return &s.Workload.Sizes })
	got = cut(r, func(s *run.Spec) *[]int { return &s.Workload.Hops }) || got
	got = cut(r, func(s *run.Spec) *[]run.PCIeFault { return &s.Faults.PCIe }) || got
	if r.best.Faults.Wire == nil {
		return got
	}
	return delta.Cut(func() int { return len(r.best.Faults.Wire.Rules) }, func(from, to int) bool {
		return r.change(func(s *run.Spec) { s.Faults.Wire.Rules = slices.Delete(s.Faults.Wire.Rules, from, to) })
	}) || got
}

// cut leaves out entries of a list.
func cut[T any](r *reducer, of func(*run.Spec) *[]T) bool {
	return delta.Cut(func() int { return len(*of(&r.best)) }, func(from, to int) bool {
		return r.change(func(s *run.Spec) { *of(s) = slices.Delete(*of(s), from, to) })
	})
}

// sizes lowers the sizes of messages.
func (r *reducer) sizes() bool {
	var all []number
	for i := range r.best.Workload.Sizes {
		all = append(all, number{func(s *run.Spec) *int { return &s.Workload.Sizes[i] }, 0})
	}
	return r.numbers(&all)
}
