package coverage

import (
	"encoding/json"
	"fmt"
	"slices"

	"nictwin/scenarios/shell/files"
)

// ReadReport reads a report that a run wrote.
func ReadReport(path string) (*Report, error) {
	text, err := files.Read(path, maxCoverage)
	if err != nil {
		return nil, err
	}
	r := &Report{}
	if err := json.Unmarshal(text, r); err != nil || r.Hits == nil || len(r.Groups) == 0 {
		return nil, fmt.Errorf("%s: is no report of coverage: want the one that fuzz writes", path)
	}
	return r, nil
}

// Add adds a report of another run over the same bins: a bin is missing if both miss it.
func (r *Report) Add(o *Report) error {
	sum := *r
	c := New()
	c.Merge(&Coverage{r.Hits})
	c.Merge(&Coverage{o.Hits})
	sum.Hits = c.Hits
	sum.Missing, sum.Unreachable = common(r.Missing, o.Missing), common(r.Unreachable, o.Unreachable)
	sum.Unlisted = append(slices.Clone(r.Unlisted), without(o.Unlisted, r.Unlisted)...)
	sum.Groups, sum.Hit, sum.Bins, sum.Share = nil, 0, 0, 0
	if len(r.Groups) != len(o.Groups) {
		return fmt.Errorf("the runs count %d and %d groups of bins", len(r.Groups), len(o.Groups))
	}
	for i, g := range r.Groups {
		x := o.Groups[i]
		all, others := g.Bins+inGroup(r.Unreachable, g.Group), x.Bins+inGroup(o.Unreachable, x.Group)
		if g.Group != x.Group || all != others {
			return fmt.Errorf("the runs count different bins: %d of %q and %d of %q", all, g.Group, others, x.Group)
		}
		g.Bins = all - inGroup(sum.Unreachable, g.Group)
		g.Hit = g.Bins - inGroup(sum.Missing, g.Group)
		sum.Groups, sum.Hit, sum.Bins = append(sum.Groups, g), sum.Hit+g.Hit, sum.Bins+g.Bins
	}
	if sum.Bins > 0 {
		sum.Share = float64(sum.Hit) / float64(sum.Bins)
	}
	*r = sum
	return nil
}

// common returns the bins of `a` that are also in `b`.
func common(a, b []Bin) []Bin {
	return slices.DeleteFunc(slices.Clone(a), func(x Bin) bool { return !slices.Contains(b, x) })
}

// without returns the bins of `a` that are not in `b`.
func without(a, b []Bin) []Bin {
	return slices.DeleteFunc(slices.Clone(a), func(x Bin) bool { return slices.Contains(b, x) })
}

func inGroup(list []Bin, group string) (n int) {
	for _, b := range list {
		if b.Group == group {
			n++
		}
	}
	return n
}
