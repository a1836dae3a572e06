package delta

import "context"

// Search counts trials and ends when there were enough.
type Search struct {
	ctx    context.Context
	most   int
	trials int
}

// New returns a search of at most that many trials. A deadline of the context is its budget of time.
func New(ctx context.Context, most int) *Search { return &Search{ctx: ctx, most: most} }

// More reports whether another trial may begin.
func (s *Search) More() bool { return s.trials < s.most && s.ctx.Err() == nil }

// Trials returns the number of trials so far.
func (s *Search) Trials() int { return s.trials }

// Try counts a trial and plays it, if another one may begin. It reports whether the trial failed as the original did.
func (s *Search) Try(fails func() bool) bool {
	if !s.More() {
		return false
	}
	s.trials++
	return fails()
}

// Cut leaves out runs of a list, whose length is length(): long runs first, single entries in the end, each time from
// the back. `without` tries the list without its entries [from, to), and reports whether that was adopted. Cut reports
// whether anything was left out.
func Cut(length func() int, without func(from, to int) bool) (cut bool) {
	for n := max(1, length()/2); n > 0; n /= 2 {
		for at := length() - n; at > -n; at -= n {
			from, to := max(at, 0), min(at+n, length())
			if from < to {
				cut = without(from, to) || cut
			}
		}
	}
	return cut
}

// Grow returns the first of the values low, low+1, low+3, low+7, ... below high that fails, or high: the smallest are
// tried first, since they are the quickest to play.
func Grow(low, high int, fails func(int) bool) int {
	for step := 1; low < high; step *= 2 {
		if fails(low) {
			return low
		}
		low += step
	}
	return high
}

// Least returns a value from low to high that fails, or high. It begins with the value that the function Grow returns
// and lowers it by bisection, as long as it finds smaller values that fail, too.
func Least(low, high int, fails func(int) bool) int {
	tried := low - 1 // the greatest value known not to fail
	best := Grow(low, high, func(n int) bool {
		if fails(n) {
			return true
		}
		tried = n
		return false
	})
	for tried+1 < best {
		middle := tried + (best-tried)/2
		if fails(middle) {
			best = middle
		} else {
			tried = middle
		}
	}
	return best
}

// patienceGrowth is the factor by which patience grows when a smaller input needs more to fail.
const patienceGrowth = 8

// Patiently repeats a search that tries inputs with little patience, since a hang takes all of it, until the smaller
// input fails with full patience, too. search reports whether it found one, confirm whether that fails. Patiently
// returns false if no smaller input could be confirmed before the context ended. A call of confirm is not cut short.
func Patiently(ctx context.Context, little, full int64, search func(patience int64) bool, confirm func() bool) bool {
	for patience := min(little, full); ; patience = min(patienceGrowth*patience, full) {
		if !search(patience) {
			return false
		}
		if patience == full {
			return true
		}
		if ctx.Err() != nil {
			return false
		}
		if confirm() {
			return true
		}
	}
}
