package claims

import "math"

// Printed returns the numbers that the claim prints for the i-th quantity: both ends if it is a range of one quantity.
func (c *Claim) Printed(i int) []float64 {
	all := c.Value.Numbers
	if len(all) < 2 || c.Bound == "range" && !c.Ends {
		return all
	}
	return all[min(i, len(all)-1):][:1]
}

// Accepted returns the values between which the i-th number measured must be. An end that does not exist is infinite;
// ok is false if the check compares no numbers.
func (c *Claim) Accepted(i int) (low, high float64, ok bool) {
	low, high = math.Inf(-1), math.Inf(1)
	n := len(c.Value.Numbers)
	if c.Check == InRange && !c.Ends {
		low, high = c.span()
		return low, high, true
	}
	if c.Check == UpperBound && c.High != nil {
		return low, *c.High, true
	}
	if c.Check == LowerBound && c.Low != nil {
		return *c.Low, high, true
	}
	if n == 0 {
		return low, high, false
	}
	want := c.Value.Numbers[min(i, n-1)]
	slack := math.Abs(want) * c.Tolerance
	switch c.Check {
	case Exact:
		half := math.Pow10(-c.Value.Digits) / 2
		if low = want - half; c.Bound != "atleast" {
			high = want + half
		}
	case Within, InRange:
		low, high = want-slack, want+slack
	case UpperBound:
		high = want + slack
	case LowerBound:
		low = want - slack
	default:
		return low, high, false
	}
	return low, high, true
}

// span returns the range that InRange accepts.
func (c *Claim) span() (low, high float64) {
	if c.Low != nil && c.High != nil {
		return *c.Low, *c.High
	}
	a, b := c.Value.Numbers[0], c.Value.Numbers[1]
	return a - math.Abs(a)*c.Tolerance, b + math.Abs(b)*c.Tolerance
}
