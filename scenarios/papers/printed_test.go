package papers

import (
	"math"
	"testing"

	"github.com/stretchr/testify/require"

	"nictwin/scenarios/papers/claims"
	"nictwin/scenarios/papers/study"
)

// bars returns a result with a series of bars of the given systems, labels "whole" (40) and "part" (10), and its
// picture.
func bars(p study.Picture, systems ...string) (*Result, *study.Series) {
	s := study.NewSeries("s", "Parts", "rate", "Gbps", study.Axis{Name: "design"})
	for _, name := range systems {
		s.Bar(name, "whole", 40)
		s.Bar(name, "part", 10)
	}
	x := &Result{Figures: "Table II", Pictures: map[string]study.Picture{"s": p}}
	x.Inputs = []study.Input{{Name: "link", Value: 50, Anchors: []string{"value"}}}
	return x, s
}

// TestLimitsAreNoRanges checks that a limit that the paper derives is a line of its own name, without a tolerance.
func TestLimitsAreNoRanges(t *testing.T) {
	x, s := bars(study.Picture{Printed: []study.Printed{
		{Claim: "two", System: "large", Label: "whole", Is: study.Limit},
	}}, "small", "large")
	c, err := x.draw(s, printedClaims())
	require.NoError(t, err)
	require.Equal(t, "the paper's limit, large: 400 Gbps", c.Bands[0].Name)
	require.Equal(t, []float64{400}, c.Bands[0].Values)
	require.True(t, math.IsNaN(c.Bands[0].Low) && math.IsNaN(c.Bands[0].High), "nothing is accepted for it")
}

// TestNumbersOfOtherQuantities checks that a number is converted by inputs, its range with it.
func TestNumbersOfOtherQuantities(t *testing.T) {
	number := study.Printed{Claim: "value", Label: "part",
		From: func(v float64, input func(string) float64) float64 { return 2 * input("link") / v }}
	x, s := bars(study.Picture{Printed: []study.Printed{number}}, "only")
	all := printedClaims()
	claims.Find(all, "value").Metric, claims.Find(all, "value").Unit = "time", "ms"
	claims.Find(all, "value").Value.Numbers = []float64{10}
	c, err := x.draw(s, all)
	require.NoError(t, err)
	b := c.Bands[0]
	require.Equal(t, "paper, part: 10 Gbps, from time: 10 ms (±10%) (anchor)", b.Name, "an input was chosen by it")
	require.InDeltaSlice(t, []float64{10, 100. / 11, 100. / 9}, append(b.Values, b.Low, b.High), 1e-9)
	require.Equal(t, "only", b.Series, "whose colour it has")
	number.From = func(_ float64, input func(string) float64) float64 { return input("cable") }
	x.Pictures["s"] = study.Picture{Printed: []study.Printed{number}}
	_, err = x.draw(s, all)
	require.EqualError(t, err, "series s: claim value in its picture: input cable is not one of the experiment")
}

// TestTheLowerOfTwo checks that a number may be relative to the lower of two systems.
func TestTheLowerOfTwo(t *testing.T) {
	all := printedClaims()
	claims.Find(all, "value").Bound = "upto"
	for _, of := range []study.Base{{System: "base", Or: "other"}, {System: "other", Or: "base"}} {
		s := study.NewSeries("s", "Rates", "rate", "Gbps", study.Axis{Name: "machines"})
		s.Add("base", 5, 1)
		s.Add("other", 4, 1)
		s.Add("both", 7, 1)
		x := Result{Pictures: map[string]study.Picture{"s": {Printed: []study.Printed{
			{Claim: "value", System: "both", At: []float64{1}, Is: study.Factor, Of: of},
		}}}}
		c, err := x.draw(s, all)
		require.NoError(t, err)
		require.Equal(t, []float64{40}, c.Bands[0].Values)
		require.Equal(t, "paper, both at 1 machines: up to 10 × the lower of "+of.System+" and "+of.Or+" (±10%)",
			c.Bands[0].Name)
		of.Or = "third"
		x.Pictures["s"].Printed[0].Of = of
		_, err = x.draw(s, all)
		require.ErrorContains(t, err, "system third is not in the series")
	}
}

// TestPicturesSayWhatTheyShow checks notes, unjoined points and systems that every panel repeats.
func TestPicturesSayWhatTheyShow(t *testing.T) {
	x, s := bars(study.Picture{Figure: "Fig. 4", Note: "of two", Apart: true, Repeated: "large"}, "small", "large")
	c, err := x.draw(s, printedClaims())
	require.NoError(t, err)
	require.Equal(t, "Fig. 4: Parts (of two)", c.Title)
	require.True(t, c.Apart)
	require.Equal(t, []bool{false, true}, []bool{c.Series[0].Repeated, c.Series[1].Repeated})
	x.Figures, x.Pictures["s"] = noFigure, study.Picture{}
	c, err = x.draw(s, printedClaims())
	require.NoError(t, err)
	require.Equal(t, "Parts", c.Title)
	x.Pictures["s"] = study.Picture{Repeated: "third"}
	_, err = x.draw(s, printedClaims())
	require.EqualError(t, err, "series s: its picture repeats system third, which is not in the series")
}

// TestLegendSaysWhichSideIsAccepted checks the texts of numbers that a paper qualifies, and of values accepted on one
// side of them. A loss of at most 3% is a change of at least −3%.
func TestLegendSaysWhichSideIsAccepted(t *testing.T) {
	for _, c := range []struct {
		bound     string
		check     claims.Check
		tolerance float64
		high      *float64
		is        study.Relation
		want      string
	}{
		{"lt", claims.UpperBound, 0, nil, study.Value, "paper, part: less than 10 Gbps"},
		{"eq", claims.UpperBound, 0, nil, study.Value, "paper, part: 10 Gbps (at most)"},
		{"lt", claims.UpperBound, 0.15, nil, study.Value, "paper, part: less than 10 Gbps (accepted: at most 11.5)"},
		{"gt", claims.LowerBound, 0.1, nil, study.Value, "paper, part: more than 10 Gbps (accepted: at least 9)"},
		{"atleast", claims.LowerBound, 0, nil, study.Value, "paper, part: at least 10 Gbps"},
		{"le", claims.UpperBound, 0, nil, study.Value, "paper, part: at most 10 Gbps"},
		{"gt", claims.Within, 0.1, nil, study.Value, "paper, part: more than 10 Gbps (±10%)"},
		{"eq", claims.UpperBound, 0, new(20.0), study.Position, "paper, part: 10 design (accepted: at most 20)"},
		{"lt", claims.UpperBound, 0, new(0.25), study.Loss,
			"paper, part: more than −22% against whole (accepted: at least −25%)"},
	} {
		n := study.Printed{Claim: "value", Label: "part", Is: c.is}
		number := 10.0
		if c.is == study.Loss {
			n.Of.Label, number = "whole", 0.22
		}
		x, s := bars(study.Picture{Printed: []study.Printed{n}}, "only")
		x.Inputs = nil
		all := printedClaims()
		v := claims.Find(all, "value")
		v.Metric, v.Bound, v.Check, v.Tolerance, v.High = "part", c.bound, c.check, c.tolerance, c.high
		v.Value.Numbers = []float64{number}
		chart, err := x.draw(s, all)
		require.NoError(t, err)
		require.Equal(t, c.want, chart.Bands[0].Name)
		if c.is == study.Position {
			require.Equal(t, []float64{10, 20}, []float64{chart.Bands[0].From, chart.Bands[0].To})
		}
	}
}
