package shrink

import (
	"reflect"
	"slices"

	"nictwin/models/sim/specfile"
	"nictwin/scenarios/delta"
	"nictwin/scenarios/run"
	"nictwin/scenarios/run/background"
	"nictwin/scenarios/run/load"
	"nictwin/scenarios/run/workload"
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
	cut(r, func(s *run.Spec) *[]workload.Spec { return &s.Workloads })
	for i, w := range r.best.AllWorkloads() {
		if message < 0 || message >= w.Count {
			continue
		}
		size := w.Sizes[message%len(w.Sizes)]
		if !r.change(each(i, func(w *workload.Spec) { w.Sizes, w.Count = []int{size}, 1 })) {
			r.change(each(i, func(w *workload.Spec) { w.Count = message + 1 }))
		}
	}
	for got := true; got && r.More(); {
		got = r.numbers(workloadNumbers(&r.best))
		got = r.simplify() || got
		got = r.lists() || got
		got = r.numbers(sizes(&r.best)) || got
	}
	return r.best
}

// each returns a change of workload i of a scenario, if there is one.
func each(i int, f func(*workload.Spec)) func(*run.Spec) {
	return func(s *run.Spec) {
		if all := s.AllWorkloads(); i < len(all) {
			f(all[i])
		}
	}
}

// change adopts a changed scenario if it is valid and fails, too.
func (r *reducer) change(by ...func(*run.Spec)) bool {
	s := *specfile.Clone(&r.best)
	for _, f := range by {
		f(&s)
	}
	if reflect.DeepEqual(s, r.best) || s.Validate() != nil || !r.Try(func() bool { return r.fails(&s) }) {
		return false
	}
	r.best = s
	return true
}

// number is a number in a scenario that can be lowered, down to `least`.
type number struct {
	of    func(*run.Spec) *int
	least int
}

// workloadNumbers returns the numbers that are lowered first; each message, flow and process takes time.
func workloadNumbers(s *run.Spec) (all []number) {
	for i := range s.AllWorkloads() {
		for _, of := range []func(*workload.Spec) *int{
			func(w *workload.Spec) *int { return &w.Count },
			func(w *workload.Spec) *int { return &w.QueuePairs },
			func(w *workload.Spec) *int { return &w.Processes },
			func(w *workload.Spec) *int { return &w.Depth },
		} {
			all = append(all, number{func(s *run.Spec) *int { return of(s.AllWorkloads()[i]) }, 1})
		}
	}
	return all
}

// numbers lowers numbers.
func (r *reducer) numbers(list []number) (got bool) {
	for _, x := range list {
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
		s := *specfile.Clone(&r.best)
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
	stack := node.DefaultSpec()
	var all []func(*run.Spec)
	for i := range s.AllWorkloads() {
		for _, f := range workloadSimplifications() {
			all = append(all, each(i, f))
		}
	}
	all = append(all, []func(*run.Spec){
		func(s *run.Spec) { s.Load = nil },
		func(s *run.Spec) { s.Background = nil },
		func(s *run.Spec) { s.Faults.Wire = nil },
		func(s *run.Spec) { s.Faults.PCIe = nil },
		func(s *run.Spec) { s.Faults.SlowMemory = nil },
		func(s *run.Spec) { s.Faults.Stall = 0 },
		func(s *run.Spec) { s.Stacks = s.Stacks[:1] },
	}...)
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

// workloadSimplifications returns the ways in which a workload could be simpler.
func workloadSimplifications() []func(*workload.Spec) {
	plain := apps.DefaultSpec()
	return []func(*workload.Spec){
		func(w *workload.Spec) { w.BothWays = false },
		func(w *workload.Spec) { w.Batch, w.SignalEvery = plain.Batch, plain.SignalEvery },
		func(w *workload.Spec) { w.CloseEvery = plain.CloseEvery },
		func(w *workload.Spec) { w.Pieces = plain.Pieces },
		func(w *workload.Spec) { w.Offset = plain.Offset },
		func(w *workload.Spec) { w.Inline, w.Immediate = false, false },
		func(w *workload.Spec) { w.Invalidate = false },
		func(w *workload.Spec) { w.Events, w.Payload = false, plain.Payload },
		func(w *workload.Spec) { w.Notice = plain.Notice },
		func(w *workload.Spec) { w.LowLatency, w.Notice = false, plain.Notice },
		func(w *workload.Spec) { w.By = plain.By },
		func(w *workload.Spec) { w.SharedReceiveBy = plain.SharedReceiveBy },
		func(w *workload.Spec) {
			w.SharedReceive, w.SharedReceiveBy = false, plain.SharedReceiveBy
			w.Receives, w.ReceiveBatch = 0, plain.ReceiveBatch
		},
		func(w *workload.Spec) { w.ReceiveBatch, w.ReceiveBytes = plain.ReceiveBatch, plain.ReceiveBytes },
		func(w *workload.Spec) { w.SharedCounter, w.AnyOrder = false, false },
		func(w *workload.Spec) { w.Ports, w.PSN = plain.Ports, nil },
		func(w *workload.Spec) { w.Ring = plain.Ring },
		func(w *workload.Spec) { w.Misuse = nil },
		func(w *workload.Spec) { w.Answer = nil },
		func(w *workload.Spec) { w.Head = plain.Head },
		func(w *workload.Spec) { w.Memory.Client = plain.Memory.Client },
		func(w *workload.Spec) { w.Memory.Server = plain.Memory.Server },
		func(w *workload.Spec) { w.Begin, w.End = 0, nil },
		func(w *workload.Spec) { w.From, w.To = w.From[:1], w.To[:1] },
	}
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

// lists removes elements from the scenario's lists of workloads, servers, sizes, hops, loads, captures and faults. It
// reports whether it removed any.
func (r *reducer) lists() bool {
	got := cut(r, func(s *run.Spec) *[]workload.Spec { return &s.Workloads })
	for i := range r.best.AllWorkloads() {
		for _, of := range []func(*workload.Spec) *[]int{
			func(w *workload.Spec) *[]int { return (*[]int)(&w.From) },
			func(w *workload.Spec) *[]int { return (*[]int)(&w.To) },
			func(w *workload.Spec) *[]int { return &w.Sizes },
			func(w *workload.Spec) *[]int { return &w.Hops },
		} {
			got = cut(r, func(s *run.Spec) *[]int { return of(s.AllWorkloads()[i]) }) || got
		}
	}
	got = cut(r, func(s *run.Spec) *[]load.Spec { return (*[]load.Spec)(&s.Load) }) || got
	got = cut(r, func(s *run.Spec) *[]background.Spec { return (*[]background.Spec)(&s.Background) }) || got
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

// sizes returns the sizes of messages. Answers come first: no request is shorter than its answer.
func sizes(s *run.Spec) (all []number) {
	for i, w := range s.AllWorkloads() {
		if w.Answer != nil {
			all = append(all, number{func(s *run.Spec) *int { return s.AllWorkloads()[i].Answer }, 1})
		}
		for k := range w.Sizes {
			all = append(all, number{func(s *run.Spec) *int { return &s.AllWorkloads()[i].Sizes[k] }, 0})
		}
	}
	return all
}
