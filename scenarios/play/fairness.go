package play

import (
	"fmt"
	"maps"
	"slices"
	"strings"

	"nictwin/models/ref"
	"nictwin/rtlbridge/protocol"
)

// maxFair bounds play.fair, in cycles.
const maxFair = 1_000_000

// fieldFair is the field name of findings about play.fair.
const fieldFair = "fair"

// fairness finds inputs whose offered beat is not taken while other streams move (play.fair).
type fairness struct {
	limit   uint64             // most cycles that an input may wait, by its own clock; 0: it may starve
	window  uint64             // `limit` cycles of the slowest clock, converted to cycles of the first clock
	moves   [][]uint64         // by stream: those of the latest `window` cycles in which its transactions ended
	starved map[int]starvation // inputs that have waited as long as the limit
}

// starvation describes an input that has waited as long as the limit.
type starvation struct {
	n     uint64 // number of the waiting transaction
	since uint64 // first cycle of the wait
}

// newFairness tracks the streams of a run.
func newFairness(limit int, h *protocol.Hello, clocks []ClockSetting) fairness {
	f := fairness{limit: uint64(limit), moves: make([][]uint64, len(h.Streams)), starved: map[int]starvation{}}
	for i := range clocks {
		f.window = max(f.window, f.cycles(i, clocks))
	}
	return f
}

// cycles converts the limit from cycles of clock i to cycles of the first clock.
func (f *fairness) cycles(i int, clocks []ClockSetting) uint64 {
	return f.limit * uint64(clocks[i].PeriodPs) / uint64(clocks[0].PeriodPs)
}

// add records the end of a transaction of a stream.
func (f *fairness) add(stream int, cycle uint64) {
	if f.limit == 0 {
		return
	}
	list := f.moves[stream]
	if n, _ := slices.BinarySearch(list, cycle-min(cycle, f.window)); n > 1024 && n > len(list)/2 {
		list = append(list[:0], list[n:]...)
	}
	f.moves[stream] = append(list, cycle)
}

// recordStarved records that an input has waited as long as the limit.
func (p *played) recordStarved(e *protocol.Record) {
	i := int(e.Stream)
	wait := p.fair.cycles(p.hello.Streams[i].Clock, p.Settings.Clocks)
	p.fair.starved[i] = starvation{e.Ordinal, e.First - min(e.First, wait)}
	p.failUnfair(e.First)
}

// failUnfair fails the run if another stream has moved while an input starved.
func (p *played) failUnfair(cycle uint64) {
	for _, i := range slices.Sorted(maps.Keys(p.fair.starved)) {
		x := p.fair.starved[i]
		var moved []string
		for k, s := range p.streams {
			n, _ := slices.BinarySearch(p.fair.moves[k], x.since)
			if n = len(p.fair.moves[k]) - n; n > 0 && k != i {
				moved = append(moved, fmt.Sprintf("%d of %s", n, s.Name))
			}
		}
		if len(moved) == 0 {
			continue
		}
		p.judge.Fail(ref.Failure{
			Stream: p.streams[i].Name, N: x.n, Cycle: cycle, Cause: x.since, Field: fieldFair,
			Expected: fmt.Sprintf("the offered beat to be taken within %d cycles while other streams move (play.fair)",
				p.fair.limit),
			Got: fmt.Sprintf("not taken in %d cycles, in which these moved: %s", cycle-x.since,
				strings.Join(moved, ", ")),
		})
	}
}
