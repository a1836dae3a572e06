package apps

import (
	"fmt"
	"slices"

	"nictwin/stack/verbs"
)

// Compare is how much two runs of one workload must have in common.
type Compare string

// What must be the same.
const (
	Exact    Compare = "exact"    // every completion of each queue, in order, and the memory of both servers
	Messages Compare = "messages" // the same, but not which receive request a message took, nor memory: timing decides that
	Counts   Compare = "counts"   // how many completions there were of each kind on each server
)

// Valid reports whether there is such a way.
func (how Compare) Valid() bool { return how == Exact || how == Messages || how == Counts }

// part is what counts of a completion.
func (how Compare) part(c Completion) Completion {
	if how == Messages && c.Recv {
		c.ID = 0
	}
	return c
}

// Count is how many completions of a kind there were.
type Count struct {
	Server string
	Client bool
	Recv   bool
	Status verbs.Status
	Opcode verbs.WCOpcode
	N      int
}

// Counts are the completions of each kind, in a fixed order.
func (r *Result) Counts() []Count {
	var all []Count
	for i := range r.Streams {
		s := &r.Streams[i]
		for _, c := range s.List {
			k := Count{Server: s.Server, Client: s.Client, Recv: s.Recv, Status: c.Status, Opcode: c.Opcode}
			at := slices.IndexFunc(all, func(o Count) bool { o.N = 0; return o == k })
			if at < 0 {
				at, all = len(all), append(all, k)
			}
			all[at].N++
		}
	}
	slices.SortFunc(all, func(a, b Count) int { return slices.Compare(a.key(), b.key()) })
	return all
}

func (c Count) key() []string {
	return []string{c.Server, fmt.Sprint(c.Client, c.Recv), fmt.Sprintf("%03d %03d", c.Status, c.Opcode)}
}

// Difference is the first thing in which two runs differ that they must have in common; empty: there is none.
func (r *Result) Difference(o *Result, how Compare) string {
	if how == Counts {
		a, b := fmt.Sprintf("%+v", r.Counts()), fmt.Sprintf("%+v", o.Counts())
		if a != b {
			return fmt.Sprintf("completions: %s and %s", a, b)
		}
		return ""
	}
	for i := range r.Streams {
		if d := r.Streams[i].difference(&o.Streams[i], how); d != "" {
			return r.Streams[i].Name() + ": " + d
		}
	}
	for i := range r.Memory {
		if how == Exact && r.Memory[i] != o.Memory[i] {
			return fmt.Sprintf("the memory of server %d in the end: SHA-256 %s and %s", i, r.Memory[i], o.Memory[i])
		}
	}
	return ""
}

func (s *Stream) difference(o *Stream, how Compare) string {
	for k := range max(len(s.List), len(o.List)) {
		switch {
		case k >= len(s.List):
			return fmt.Sprintf("completion %d: none and %q", k, o.List[k])
		case k >= len(o.List):
			return fmt.Sprintf("completion %d: %q and none", k, s.List[k])
		case how.part(s.List[k]) != how.part(o.List[k]):
			return fmt.Sprintf("completion %d: %q and %q", k, s.List[k], o.List[k])
		}
	}
	return ""
}
