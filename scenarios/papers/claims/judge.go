package claims

import (
	"fmt"
	"math"
)

// Verdict is the result of judging a claim.
type Verdict string

// Results of judging a claim.
const (
	Pass Verdict = "pass"
	Miss Verdict = "miss"
	// NotConverged is the result of a claim that would pass, but stands on a run that is not known to 1%.
	NotConverged Verdict = "not_converged"
	Anchor       Verdict = "anchor"     // the claim calibrated an input, so it is not scored
	Arithmetic   Verdict = "arithmetic" // the claim follows from inputs alone, so it is not scored
	IsInput      Verdict = "input"
	NotScored    Verdict = "not scored"
)

// Verdicts lists all verdicts.
var Verdicts = []Verdict{Pass, Miss, NotConverged, Anchor, Arithmetic, IsInput, NotScored}

// Found holds the measurements that belong to a claim.
type Found struct {
	Values []float64 // the measured numbers, one for each number of the claim
	Holds  bool      // whether a claimed order, shape, direction or equation was found
	Broken string    // a further statement of the claim that did not hold; empty: none
}

// Judge compares a claim with its measurements. why is empty for a pass.
func (c *Claim) Judge(f Found) (v Verdict, why string) {
	switch {
	case c.Role == "input" && c.Check != Input, c.Check == Input:
		return IsInput, ""
	case !c.Scored():
		return NotScored, ""
	}
	if len(f.Values) == 0 {
		if numeric(c.Check) && len(c.Value.Numbers) > 0 {
			return Miss, "no number was measured"
		}
		if f.Holds {
			return Pass, ""
		}
		return Miss, "not found"
	}
	for i, got := range f.Values {
		if why := c.compare(i, got); why != "" {
			return Miss, why
		}
	}
	if f.Broken != "" {
		return Miss, f.Broken
	}
	return Pass, ""
}

func numeric(c Check) bool {
	return c == Exact || c == Within || c == InRange || c == UpperBound || c == LowerBound
}

// compare returns why the i-th number misses the claim; empty if it does not.
func (c *Claim) compare(i int, got float64) string {
	if math.IsNaN(got) || math.IsInf(got, 0) {
		return fmt.Sprintf("%g is no measurement", got)
	}
	low, high, ok := c.Accepted(i)
	switch {
	case !ok && c.Check == LowerBound:
		return "the claim has no number to be at least"
	case !ok:
		return fmt.Sprintf("a number, %.4g, for a check of kind %s", got, c.Check)
	case got >= low && got <= high:
		return ""
	}
	return fmt.Sprintf("%.4g is not in %.4g to %.4g", got, low, high)
}
