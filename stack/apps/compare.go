package apps

import (
	"fmt"
	"slices"

	"nictwin/stack/verbs"
)

// Compare is the degree to which two runs of one workload must agree.
type Compare string

// The degrees of agreement, strictest first.
const (
	// all completions of each queue in order (Solar: in any order), and the memory of all servers
	Exact Compare = "exact"
	// like Exact, without what timing decides: which receive request took a message, the order of
	// handlers' answers, and the contents of memory
	Messages Compare = "messages"
	Counts   Compare = "counts" // the number of completions of each kind on each server
)

// Valid reports whether how is a known degree of agreement.
func (how Compare) Valid() bool { return how == Exact || how == Messages || how == Counts }

// comparable returns the completion without the fields that may differ.
func (how Compare) comparable(c Completion) Completion {
	if how == Messages && c.Recv {
		c.ID = 0
	}
	return c
}

// list returns the completions of a stream, sorted by message where their order may differ.
func (how Compare) list(s *Stream) []Completion {
	if !s.Alone && (how != Messages || !s.Loose) {
		return s.List
	}
	list := slices.Clone(s.List)
	slices.SortStableFunc(list, func(a, b Completion) int { return a.Message - b.Message })
	return list
}

// Count is the number of completions of one kind.
type Count struct {
	Server string
	Client bool
	Recv   bool
	Status verbs.Status
	Opcode verbs.WCOpcode
	N      int
}

// Counts returns the number of completions of each kind, in a fixed order.
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

// Difference describes the first difference between two runs that the degree of agreement forbids; "" means none.
func (r *Result) Difference(o *Result, how Compare) string {
	if how == Counts {
		a, b := fmt.Sprintf("%+v", r.comparable().Counts()), fmt.Sprintf("%+v", o.comparable().Counts())
		if a != b {
			return fmt.Sprintf("completions: %s and %s", a, b)
		}
		return ""
	}
	for i := range r.Streams {
		if r.Streams[i].Timed {
			continue
		}
		if d := r.Streams[i].difference(&o.Streams[i], how); d != "" {
			return r.Streams[i].Name() + ": " + d
		}
	}
	for i := range r.Memory {
		if how == Exact && r.Memory[i] != o.Memory[i] {
			return fmt.Sprintf("the memory of server %s in the end: SHA-256 %s and %s", r.Memory[i].Server,
				r.Memory[i].SHA256, o.Memory[i].SHA256)
		}
	}
	return ""
}

// difference describes the first completion in which two streams differ; "" if they agree.
func (s *Stream) difference(o *Stream, how Compare) string {
	a, b := how.list(s), how.list(o)
	for k := range max(len(a), len(b)) {
		switch {
		case k >= len(a):
			return fmt.Sprintf("completion %d: none and %q", k, b[k])
		case k >= len(b):
			return fmt.Sprintf("completion %d: %q and none", k, a[k])
		case how.comparable(a[k]) != how.comparable(b[k]):
			return fmt.Sprintf("completion %d: %q and %q", k, a[k], b[k])
		}
	}
	return ""
}
