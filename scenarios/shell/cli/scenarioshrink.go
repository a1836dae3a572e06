package cli

import (
	"context"
	"fmt"
	"slices"
	"strings"

	"nictwin/scenarios/run/shrink"
)

// shrink reduces the first case that failed.
func (s *Scenarios) shrink(ctx context.Context, e *ScenariosEnded) error {
	i := slices.IndexFunc(e.Played, func(r *Run) bool { return !r.Pass() })
	if i < 0 || s.shrinkTime() == 0 {
		return nil
	}
	r := e.Played[i]
	small, err := shrink.Shrink(ctx, r.Played, s.options(r.NIC), s.shrinkTime())
	if err != nil || small == nil {
		return explainShrinking(err)
	}
	small.Settings = map[string]string{}
	if s.NIC == NICBoth {
		small.Settings["nic"] = r.NIC
	}
	idle := WithJobs((&Scenarios{NIC: r.NIC}).Idle())
	for _, f := range []string{"only", "seed"} {
		idle[f] = "in the file"
	}
	if text := unshrunk(e.Played[i:]); text != "" {
		e.Object.Warnings = append(e.Object.Warnings, text)
	}
	return e.keep(&s.Common, small, idle)
}

// unshrunk names the cases that fail beside the first one, which was shrunk; it is empty if there are none.
func unshrunk(list []*Run) string {
	const shown = 3
	var names []string
	for _, r := range list[1:] {
		if !r.Pass() {
			names = append(names, r.title())
		}
	}
	if len(names) == 0 {
		return ""
	}
	others := strings.Join(names[:min(shown, len(names))], ", ")
	if n := len(names) - shown; n > 0 {
		others += fmt.Sprintf(" and %d more", n)
	}
	return fmt.Sprintf("only the first case that fails is shrunk, %s; not shrunk: %s; --only and --nic play one of them",
		list[0].title(), others)
}
