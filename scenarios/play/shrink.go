package play

import (
	"context"
	"slices"
	"strings"
	"time"

	"nictwin/models/ref"
)

// ShrinkRuns bounds the runs in a search for a shorter run.
const ShrinkRuns = 300

// ShrinkCycles bounds the cycles of all runs in a search for a shorter run: beyond it, no run begins.
const ShrinkCycles = 6_000_000

// longestCut is the length, in bytes, to which packets are first truncated.
const longestCut = 1024

// Shrink looks for a shorter run that also fails: it removes stalls and gaps, then transactions, in halves, quarters
// and so on, and finally truncates packets. It returns the shortest failing run found, and its result.
func (d *Device) Shrink(ctx context.Context, r Run, res *Result, limit time.Duration) (Run, *Result, error) {
	budget, stop := ctx, context.CancelFunc(func() {})
	if limit > 0 {
		budget, stop = context.WithTimeout(ctx, limit)
	}
	defer stop()
	s := shrinker{d: d, ctx: ctx, budget: budget, best: r, res: res}
	r.Keep = Spans(s.ids())
	s.try(r)
	for _, simpler := range []func(*Run){
		func(r *Run) { r.NoGap = true },
		func(r *Run) { r.Stall, r.Given.Stalls = 0, nil },
	} {
		x := s.best
		simpler(&x)
		if !same(&x, &s.best) {
			s.try(x)
		}
	}
	s.tail()
	for parts := 2; s.err == nil && s.left(); {
		if s.cut(parts) {
			parts = max(2, parts-1)
			continue
		}
		if n := len(s.ids()); parts >= n {
			break
		} else {
			parts = min(2*parts, n)
		}
	}
	s.shorter()
	return s.best, s.res, s.err
}

func same(a, b *Run) bool { return a.NoGap == b.NoGap && a.Stall == b.Stall }

// kind classifies a failure. A shorter run must fail on the same stream and in the same field (without its index), or
// by the same rule.
func kind(f *ref.Failure) string {
	what := strings.TrimRight(f.Field, "0123456789")
	if f.Field == fieldRule {
		what = f.Got
	}
	return f.Stream + "\x00" + what
}

// shrinker is a search in progress.
type shrinker struct {
	d      *Device
	ctx    context.Context
	budget context.Context // no run begins after its end
	best   Run
	res    *Result
	runs   int
	cycles uint64 // cycles of all runs played so far
	err    error
}

func (s *shrinker) left() bool {
	return s.runs < ShrinkRuns && s.cycles < ShrinkCycles && s.budget.Err() == nil
}

// ids returns the numbers of the transactions that the best run offered.
func (s *shrinker) ids() []int {
	list := slices.Clone(s.res.began)
	slices.Sort(list)
	return slices.Compact(list)
}

// try plays a run and adopts it as the best if it fails in the same way.
func (s *shrinker) try(r Run) bool {
	if s.err != nil || !s.left() {
		return false
	}
	s.runs++
	r.Trace = nil
	res, err := s.d.Play(s.ctx, r, nil)
	if err != nil {
		s.err = err
		return false
	}
	s.cycles += res.Cycles
	if res.Failure == nil || kind(res.Failure) != kind(s.res.Failure) {
		return false
	}
	s.best, s.res = r, res
	return true
}

// shorter halves the length of packets until the run no longer fails.
func (s *shrinker) shorter() {
	if !slices.ContainsFunc(s.d.streams, func(x *ref.Stream) bool { return x.In && x.Kind == ref.Packets }) {
		return
	}
	most := s.best.Cut / 2
	if s.best.Cut == 0 {
		most = longestCut
	}
	for ; most > 0; most /= 2 {
		r := s.best
		r.Cut = most
		if !s.try(r) {
			return
		}
	}
}

// tail leaves out transactions at the end: half of them, then ever fewer.
func (s *shrinker) tail() {
	for n := len(s.ids()) / 2; n > 0 && s.left() && s.err == nil; {
		ids := s.ids()
		if n >= len(ids) || !s.keep(ids[:len(ids)-n]) {
			n /= 2
		}
	}
}

func (s *shrinker) keep(ids []int) bool {
	r := s.best
	r.Keep = Spans(ids)
	return s.try(r)
}

// cut divides the transactions into parts and leaves out the first part without which the run still fails.
func (s *shrinker) cut(parts int) bool {
	ids := s.ids()
	if len(ids) < 2 {
		return false
	}
	size := (len(ids) + parts - 1) / parts
	for at := 0; at < len(ids); at += size {
		end := min(at+size, len(ids))
		if s.keep(slices.Concat(ids[:at], ids[end:])) {
			return true
		}
	}
	return false
}
