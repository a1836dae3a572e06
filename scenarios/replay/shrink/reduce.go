package shrink

import (
	"slices"

	"nictwin/scenarios/delta"
	"nictwin/scenarios/replay"
	"nictwin/scenarios/traffic"
)

// Directions of a replay.
const (
	dirRx   = "rx"
	dirTx   = "tx"
	dirBoth = "both"
)

// input holds the packets and settings of a replay of one pass.
type input struct {
	packets []traffic.PortFrame
	dir     string
	speed   string
	stall   int
	fix     replay.Recompute
}

// reducer makes an input smaller as long as it fails in the same way.
type reducer struct {
	*delta.Search
	fails func(*input) bool
	best  input
}

// try adopts an input if it fails, too.
func (r *reducer) try(in input) bool {
	if !r.Try(func() bool { return r.fails(&in) }) {
		return false
	}
	r.best = in
	return true
}

// reduce returns the smallest failing input that it finds; ok is false if it finds none. It begins with the last
// packets of a list, which are the most likely to matter: those of the first list in `tails` that fail. It tries to
// keep only direction `first` (rx or tx), then only the other one.
func reduce(s *delta.Search, tails [][]traffic.PortFrame, whole input, first string, fails func(*input) bool) (
	_ input, ok bool) {
	r := &reducer{s, fails, whole}
	if !slices.ContainsFunc(tails, r.tail) {
		return whole, false
	}
	for cut := true; cut && s.More(); {
		cut = r.direction(first)
		cut = r.cut() || cut
		cut = r.settings() || cut
	}
	return r.best, true
}

// tail adopts the last packets of a list: the lowest of the numbers of packets it tries with which the run still fails.
// It reports whether it found one.
func (r *reducer) tail(packets []traffic.PortFrame) bool {
	adopted := false
	last := func(n int) bool {
		in := r.best
		in.packets = packets[len(packets)-n:]
		adopted = r.try(in)
		return adopted
	}
	if n := delta.Grow(1, len(packets), last); !adopted && n > 0 {
		return last(n)
	}
	return adopted
}

// cut leaves out packets.
func (r *reducer) cut() bool {
	return delta.Cut(func() int { return len(r.best.packets) }, func(from, to int) bool {
		in := r.best
		if to-from == len(in.packets) {
			return false
		}
		in.packets = slices.Concat(in.packets[:from], in.packets[to:])
		return r.try(in)
	})
}

// direction tries to keep a single direction: `first`, then the other one.
func (r *reducer) direction(first string) bool {
	if r.best.dir != dirBoth {
		return false
	}
	second := map[string]string{dirRx: dirTx, dirTx: dirRx}[first]
	return slices.ContainsFunc([]string{first, second}, func(dir string) bool {
		in := r.best
		in.dir = dir
		return r.try(in)
	})
}

// settings sets stalls, pace and checksums back to the defaults.
func (r *reducer) settings() (got bool) {
	plain := replay.DefaultOptions()
	for _, simpler := range []func(*input){
		func(in *input) { in.stall = plain.Stall },
		func(in *input) { in.speed = plain.Speed },
		func(in *input) { in.fix = plain.Fix },
	} {
		in := r.best
		if simpler(&in); in.stall != r.best.stall || in.speed != r.best.speed || in.fix != r.best.fix {
			got = r.try(in) || got
		}
	}
	return got
}
