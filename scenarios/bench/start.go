package bench

import (
	"fmt"
	"os/exec"
	"time"
)

const (
	startName  = "cli/start"
	startTurns = 21
	startGoal  = 1.05
)

// startTime compares the time of `nictwin version` with that of an earlier build (Options.Against), or of `true`, which
// does nothing. It takes the medians of alternate runs.
func startTime(s *session) ([]Result, error) {
	other, what := s.Against, "nictwin version of "+s.Against
	if other == "" {
		other, what = "true", "a process that does nothing"
	}
	var own, theirs []float64
	for range max(1, startTurns*s.Percent/100) {
		for _, x := range []struct {
			program string
			took    *[]float64
		}{{s.Program, &own}, {other, &theirs}} {
			begin := time.Now()
			if out, err := exec.CommandContext(s.ctx, x.program, "version").CombinedOutput(); err != nil {
				return nil, fmt.Errorf("%s version: %w: %s", x.program, err, out)
			}
			*x.took = append(*x.took, time.Since(begin).Seconds())
		}
	}
	a, b := median(own), median(theirs)
	result, goal := limit, startGoal
	if s.Against == "" {
		result, goal = figure, 0
	}
	return []Result{result(startName, ratio(a, b), "ratio", goal, "%s (%.1f ms against %.1f ms), medians of %d turns",
		what, a*1e3, b*1e3, len(own))}, nil
}
