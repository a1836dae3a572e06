package bench

import (
	"fmt"

	"nictwin/scenarios/run"
	"nictwin/stack/apps"
)

// stackStats measures what statistics cost a run of the stack, on Go NICs without a referee: runs with and without
// them take turns, and the fastest of each counts.
func stackStats(s *session) ([]Result, error) {
	const goal = 1.03
	n := s.frames(4*stackMessages) / 4
	text := stackCase("{kind: model}", 2, "", fmt.Sprintf(stackLoad, apps.Send, n))
	levels := [...]run.StatsLevel{run.StatsNone, run.StatsSummary, run.StatsFull}
	var best [len(levels)]float64
	for range s.Repeats {
		for i, level := range levels {
			r, err := s.playStack(text, run.Options{Unjudged: true, Stats: level})
			if err != nil {
				return nil, err
			}
			if t := r.cpu.Seconds(); best[i] == 0 || t < best[i] {
				best[i] = t
			}
		}
	}
	return []Result{limit("stack/stats_summary", ratio(best[1], best[0]), "ratio", goal,
		"processor time of SENDs of 4 KB with --stats summary, over that with none; with full, but without artifacts: "+
			"%.3f; best of %d runs of %d messages over FlexiNS on two cards of preset bf3-cores",
		ratio(best[2], best[0]), s.Repeats, 4*n)}, nil
}
