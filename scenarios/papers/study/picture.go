package study

// Picture says what is drawn of the paper beside a series.
type Picture struct {
	Figure   string // figure of the paper; empty: Experiment.Figures
	Note     string // what a reader of the paper must know; it follows the title
	Repeated string // system that is drawn in every panel, if there are several; empty: none
	Apart    bool   // points are not joined: nothing between them was measured
	Printed  []Printed
}

// Printed is a number of a claim, with its place in the picture: where the series has the quantity that the number is
// about.
type Printed struct {
	Claim  string
	Number int       // index of the number, if the claim has one for each of several quantities
	System string    // system of the series that the number is about; empty: all
	Label  string    // label of the bars that the number is about; empty: all
	At     []float64 // first and last position on the first axis; one: that place only; none: all
	Is     Relation
	Of     Base // what the number is relative to

	// From returns the value of the series that a printed number stands for, with the inputs of the experiment, if the
	// paper gives the number for another quantity; nil: it is of this one.
	From func(number float64, input func(name string) float64) float64
}

// Relation says how a printed number and a value of the series are related.
type Relation string

// Relations of printed numbers to the values of a series.
const (
	Value    Relation = ""         // it is the value
	Factor   Relation = "factor"   // times the base
	Gain     Relation = "gain"     // more than the base, as a fraction of it
	Loss     Relation = "loss"     // less than the base, as a fraction of it
	Sum      Relation = "sum"      // more than the base, in the same unit
	Position Relation = "position" // on the first axis, not a value
	Limit    Relation = "limit"    // it bounds the value: the paper derives it, and measures something else
)

// Base is the point of a series that a relation refers to. Fields that are empty are those of the value itself.
type Base struct {
	System string
	Or     string // a second system: the lower of both counts; empty: none
	Label  string
	At     []float64
}

// Apply returns the value that a number stands for.
func (r Relation) Apply(number, base float64) float64 {
	switch r {
	case Factor:
		return base * number
	case Gain:
		return base * (1 + number)
	case Loss:
		return base * (1 - number)
	case Sum:
		return base + number
	}
	return number
}
