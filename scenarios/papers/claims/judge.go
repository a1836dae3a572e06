package claims

import (
	"fmt"
	"math"
)

// Verdict is the result of judging a claim.
type Verdict string

// Results of judging a claim.
const (
	Pass      Verdict = "pass"
	Miss      Verdict = "miss"
	Anchor    Verdict = "anchor" // the claim calibrated an input, so it is not scored
	IsInput   Verdict = "input"
	NotScored Verdict = "not scored"
)

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
	want := math.NaN()
	if n := len(c.Value.Numbers); n > 0 {
		want = c.Value.Numbers[min(i, n-1)]
	}
	outside := func(low, high float64) string {
		if got >= low && got <= high {
			return ""
		}
		return fmt.Sprintf("%.4g is not in %.4g to %.4g", got, low, high)
	}
	t := c.Tolerance
	switch c.Check {
	case Exact:
		half := math.Pow10(-c.Value.Digits) / 2
		if c.Bound == "atleast" {
			return outside(want-half, math.Inf(1))
		}
		return outside(want-half, want+half)
	case Within:
		slack := math.Abs(want) * t
		return outside(want-slack, want+slack)
	case InRange:
		if c.Ends {
			slack := math.Abs(want) * t
			return outside(want-slack, want+slack)
		}
		low, high := c.span()
		return outside(low, high)
	case UpperBound:
		if c.High != nil {
			return outside(math.Inf(-1), *c.High)
		}
		return outside(math.Inf(-1), want+math.Abs(want)*t)
	case LowerBound:
		if math.IsNaN(want) {
			return "the claim has no number to be at least"
		}
		return outside(want-math.Abs(want)*t, math.Inf(1))
	}
	return fmt.Sprintf("a number, %.4g, for a check of kind %s", got, c.Check)
}

// span returns the range that InRange accepts.
func (c *Claim) span() (low, high float64) {
	if c.Low != nil && c.High != nil {
		return *c.Low, *c.High
	}
	a, b := c.Value.Numbers[0], c.Value.Numbers[1]
	return a - math.Abs(a)*c.Tolerance, b + math.Abs(b)*c.Tolerance
}
