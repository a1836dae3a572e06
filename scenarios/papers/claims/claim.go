package claims

import (
	"fmt"
	"strings"
)

// Check selects how a claim is compared with the measurement.
type Check string

// Ways to compare a claim with the measurement.
const (
	Exact      Check = "exact"       // equal in all digits that the paper prints; or the claimed equation holds
	Within     Check = "within"      // within a relative tolerance
	InRange    Check = "in_range"    // between the ends of a range, each widened by the tolerance
	UpperBound Check = "upper_bound" // at most the value
	LowerBound Check = "lower_bound" // at least the value
	Ordering   Check = "ordering"    // values are in the claimed order
	Direction  Check = "direction"   // a quantity rises or falls as claimed
	Shape      Check = "shape"       // a curve has the claimed shape
	Input      Check = "input"       // given to the model: not scored
	None       Check = "none"        // cannot be checked by simulation: not scored
)

// Derivability names the basis from which a model should reproduce a claim.
type Derivability string

// Bases of claims.
const (
	Structural Derivability = "structural" // from counting bytes, packets and pointers
	Calibrated Derivability = "calibrated" // from a constant fitted to other claims
	Empirical  Derivability = "empirical"  // from behaviour that nobody documents
)

// Claim is one statement of a paper.
type Claim struct {
	ID        string  `yaml:"id"`
	Paper     string  `yaml:"paper"`
	Where     string  `yaml:"where"`
	Metric    string  `yaml:"metric"`
	Value     Value   `yaml:"value"`
	Bound     string  `yaml:"bound"`
	Unit      string  `yaml:"unit"`
	Check     Check   `yaml:"check"`
	Tolerance float64 `yaml:"tolerance"`
	// with High: the accepted range, in place of the printed one and its tolerance; for a lower bound: the smallest
	// value accepted, in place of Value
	Low  *float64 `yaml:"low"`
	High *float64 `yaml:"high"` // see Low; for an upper bound: the largest value accepted, in place of Value
	// the claim is a range, whose low end is compared with the first number measured and whose high end with the second
	Ends         bool         `yaml:"ends"`
	Kind         string       `yaml:"kind"`
	Role         string       `yaml:"role"`
	Derivability Derivability `yaml:"derivability"`
	Twin         string       `yaml:"twin"`   // id of the same claim in another paper, which is not counted again
	Anchor       string       `yaml:"anchor"` // constants of the models that the claim calibrated: it is never scored

	// Rule says how a measurement is judged, if check and tolerance do not say everything.
	Rule string `yaml:"rule"`

	Line int `yaml:"-"` // line in its file
}

// Value is the printed value: nothing, one number, several, or a text.
type Value struct {
	Numbers []float64
	Text    string
	Digits  int // number of digits after the decimal point of the first number, as printed
}

// String returns the value as printed.
func (v Value) String() string {
	if v.Text != "" {
		return v.Text
	}
	parts := make([]string, len(v.Numbers))
	for i, n := range v.Numbers {
		parts[i] = fmt.Sprintf("%g", n)
	}
	return strings.Join(parts, "..")
}

// Number returns the first number, or 0.
func (v Value) Number() float64 {
	if len(v.Numbers) == 0 {
		return 0
	}
	return v.Numbers[0]
}

// Scored reports whether the claim can pass or miss.
func (c *Claim) Scored() bool { return c.Role == "output" && c.Check != Input && c.Check != None }
