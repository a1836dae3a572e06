package bench

import (
	"fmt"

	"nictwin/scenarios/run"
	"nictwin/stack/apps"
)

// rnicCase is a scenario case of small SENDs over many queue pairs of two RDMA NICs, each of whose messages takes few
// events.
const rnicCase = `name: load
description: what statistics cost where messages are cheap
board: {preset: connectx6-cores-pair}
stacks: [{kind: rnic}]
workload: {kind: send, payload: reused, queue_pairs: 64, depth: 16, sizes: [64], count: %d}
limits: {traffic: 10s, quiet: 100ms, settle: 100ms}
`

// stackStats measures what statistics cost a run, on Go NICs without a referee: over the FlexiNS stack, and over RDMA
// NICs.
func stackStats(s *session) ([]Result, error) {
	n := s.frames(4*stackMessages) / 4
	small := max(s.frames(16*stackMessages)/64, 1)
	var all []Result
	for _, x := range []struct{ name, text, load string }{
		{"stack/stats_summary", stackCase("{kind: model}", 2, "", fmt.Sprintf(stackLoad, apps.Send, n)),
			fmt.Sprintf("%d SENDs of 4 KB over FlexiNS on two cards of preset bf3-cores", 4*n)},
		{"stack/stats_small", fmt.Sprintf(rnicCase, small),
			fmt.Sprintf("%d SENDs of 64 B over 64 queue pairs of two RDMA NICs", 64*small)},
	} {
		r, err := s.statsCost(x.name, x.text, x.load)
		if err != nil {
			return nil, err
		}
		all = append(all, r)
	}
	return all, nil
}

// statsCost compares runs of a case with and without statistics, which take turns: the fastest of each counts.
func (s *session) statsCost(name, text, load string) (Result, error) {
	const goal = 1.03
	levels := [...]run.StatsLevel{run.StatsNone, run.StatsSummary, run.StatsFull}
	var best [len(levels)]float64
	for range s.Repeats {
		for i, level := range levels {
			r, err := s.playStack(text, run.Options{Unjudged: true, Stats: level})
			if err != nil {
				return Result{}, err
			}
			if t := r.cpu.Seconds(); best[i] == 0 || t < best[i] {
				best[i] = t
			}
		}
	}
	return limit(name, ratio(best[1], best[0]), "ratio", goal,
		"processor time of a run with --stats summary, over that with none; with full, but without artifacts: %.3f; "+
			"best of %d runs of %s", ratio(best[2], best[0]), s.Repeats, load), nil
}
