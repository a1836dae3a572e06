package papers

import (
	"cmp"
	"fmt"
	"math"
	"slices"
	"strings"

	"nictwin/scenarios/observe/chart"
	"nictwin/scenarios/papers/claims"
	"nictwin/scenarios/papers/study"
)

// drawn is a number of a claim on its way into a picture.
type drawn struct {
	*study.Printed
	claim  *claims.Claim
	series *study.Series
	chart  *chart.Chart  // with its series and names, and the bands so far
	inputs []study.Input // of the experiment
}

func (d *drawn) bands() ([]chart.Band, error) {
	low, high, bounded := d.claim.Accepted(d.Number)
	if !bounded || d.Is == study.Limit {
		low, high = math.NaN(), math.NaN()
	}
	values := d.claim.Printed(d.Number)
	if len(values) == 0 && (!bounded || d.Is == study.Position) {
		return nil, fmt.Errorf("it has no number: want a claim with one")
	}
	if err := d.checkNames(); err != nil {
		return nil, err
	}
	values, low, high, err := d.convert(values, low, high)
	if err != nil {
		return nil, err
	}
	system := d.System
	if len(d.chart.Series) == 1 && d.Is != study.Position {
		system = d.chart.Series[0].Name
	}
	band := chart.Band{Name: d.name(values), Series: system, From: chart.AllX, To: -chart.AllX}
	switch d.Is {
	case study.Position:
		band.From, band.To, band.Low, band.High = values[0], values[0], math.Inf(-1), math.Inf(1)
		if d.claim.Low != nil {
			band.From = *d.claim.Low
		}
		if d.claim.High != nil {
			band.To = *d.claim.High
		}
		return []chart.Band{band}, nil
	case study.Value, study.Limit:
		band.Values, band.Low, band.High = values, low, high
		if len(d.At) > 0 {
			band.From, band.To = d.At[0], d.At[len(d.At)-1]
		}
		if n := slices.Index(d.chart.Names, d.Label); n >= 0 {
			band.From, band.To = float64(n), float64(n)
		}
		return []chart.Band{band}, nil
	}
	return d.relative(band, values, low, high), nil
}

// convert returns numbers as values of the series, by Printed.From if it is given.
func (d *drawn) convert(values []float64, low, high float64) (list []float64, l, h float64, err error) {
	if d.From == nil {
		return values, low, high, nil
	}
	input := func(name string) float64 {
		for i := range d.inputs {
			if d.inputs[i].Name == name {
				return d.inputs[i].Value
			}
		}
		err = fmt.Errorf("input %s is not one of the experiment", name)
		return 0
	}
	for _, v := range values {
		list = append(list, d.From(v, input))
	}
	l, h = d.From(low, input), d.From(high, input)
	return list, min(l, h), max(l, h), err
}

// checkNames reports systems and labels of bars, the number's own and those of its base, that the series lacks.
func (d *drawn) checkNames() error {
	for _, system := range []string{d.System, d.Of.System, d.Of.Or} {
		ours := func(p study.Point) bool { return p.System == system }
		if system != "" && !slices.ContainsFunc(d.series.Points, ours) {
			return fmt.Errorf("system %s is not in the series", system)
		}
	}
	for _, label := range []string{d.Label, d.Of.Label} {
		if label != "" && !slices.Contains(d.chart.Names, label) {
			return fmt.Errorf("label %s is not in the series: want one of %q", label, d.chart.Names)
		}
	}
	return nil
}

// relative returns a band for each point whose base was measured.
func (d *drawn) relative(band chart.Band, values []float64, low, high float64) (list []chart.Band) {
	for i := range d.series.Points {
		p := &d.series.Points[i]
		if !matches(p, d.System, d.Label, d.At) {
			continue
		}
		base, ok := d.base(p)
		if !ok {
			continue
		}
		b := band
		for _, v := range values {
			b.Values = append(b.Values, d.Is.Apply(v, base))
		}
		b.Low, b.High = d.Is.Apply(low, base), d.Is.Apply(high, base)
		if b.Low > b.High {
			b.Low, b.High = b.High, b.Low
		}
		if d.series.Bars {
			b.From = float64(slices.Index(d.chart.Names, p.Label))
		} else {
			b.From = p.At[0]
		}
		b.To, b.Series = b.From, p.System
		list = append(list, b)
	}
	return list
}

// base returns the value that the number is relative to, for a point.
func (d *drawn) base(p *study.Point) (float64, bool) {
	system, label, at := p.System, p.Label, p.At
	if d.Of.System != "" {
		system = d.Of.System
	}
	if d.Of.Label != "" {
		label = d.Of.Label
	}
	if len(d.Of.At) > 0 {
		at = d.Of.At
	}
	least, ok := math.Inf(1), false
	for i := range d.series.Points {
		q := &d.series.Points[i]
		ours := q.System == system || d.Of.Or != "" && q.System == d.Of.Or
		if ours && q.Label == label && slices.Equal(q.At, at) {
			least, ok = min(least, q.Value), true
		}
	}
	return least, ok
}

// matches reports whether a point is of a system, and at a label or between positions. An empty argument matches every
// point.
func matches(p *study.Point, system, label string, at []float64) bool {
	if system != "" && p.System != system || label != "" && p.Label != label {
		return false
	}
	return len(at) == 0 || len(p.At) > 0 && p.At[0] >= at[0] && p.At[0] <= at[len(at)-1]
}

// name returns the text of the legend: what the paper prints, where, and what is accepted.
func (d *drawn) name(values []float64) string {
	text := d.text(values) + d.baseText()
	if d.From != nil {
		text += fmt.Sprintf(", from %s: %s %s", d.claim.Metric, d.claim.Value, d.claim.Unit)
	}
	switch about := d.about(); {
	case d.Is == study.Position:
		text = d.claim.Metric + ": " + text
	case about != "":
		text = about + ": " + text
	}
	if d.Is == study.Limit {
		return "the paper's limit, " + text
	}
	text = strings.TrimSpace("paper, " + text + " " + d.accepted())
	if d.anchor() {
		text += " (anchor)"
	}
	return text
}

// text returns the printed numbers with their unit.
func (d *drawn) text(values []float64) string {
	var parts []string
	for _, v := range values {
		parts = append(parts, d.number(v))
	}
	text := strings.Join(parts, " to ")
	switch d.Is {
	case study.Position:
		text = d.place(values)
	case study.Value, study.Sum, study.Limit:
		text = strings.TrimSpace(text + " " + chart.Unit(d.series.Unit))
	}
	return d.bound() + text
}

// bound returns the words before a number that the paper qualifies.
func (d *drawn) bound() string {
	switch d.claim.Bound {
	case "upto":
		return "up to "
	case "gt":
		return d.side(true, "more than ", "less than ")
	case "lt":
		return d.side(false, "more than ", "less than ")
	case "atleast":
		return d.side(true, "at least ", "at most ")
	case "le":
		return d.side(false, "at least ", "at most ")
	}
	return ""
}

// side returns the words for a side of a number, above or below. A loss above a number is a value below it.
func (d *drawn) side(isAbove bool, above, below string) string {
	if isAbove == (d.Is != study.Loss) {
		return above
	}
	return below
}

// place returns positions on the first axis as text.
func (d *drawn) place(at []float64) string {
	x := &d.chart.X
	var parts []string
	for _, v := range at {
		parts = append(parts, x.Text(v))
	}
	text := strings.Join(parts, " to ")
	if x.Unit == "" {
		text += " " + x.Name
	}
	return text
}

// about returns what the number is about: the system, or the label where all bars are of one, and the place if it is
// one only.
func (d *drawn) about() string {
	text := cmp.Or(d.System, d.Label)
	if d.Label != "" && len(d.chart.Series) == 1 {
		text = d.Label
	}
	if len(d.At) == 1 {
		text = strings.TrimSpace(text + " at " + d.place(d.At))
	}
	return text
}

// baseText returns what the number is relative to.
func (d *drawn) baseText() string {
	between := " against "
	if d.Is == study.Factor {
		between = " × "
	}
	switch of := &d.Of; {
	case of.Or != "":
		return fmt.Sprintf("%sthe lower of %s and %s", between, of.System, of.Or)
	case of.System+of.Label != "":
		return between + of.System + of.Label
	case len(of.At) > 0:
		return between + d.chart.X.Name + " " + d.chart.X.Tick(of.At[0])
	}
	return ""
}

// anchor reports whether an input of the experiment, or a constant of the models, was chosen by the claim.
func (d *drawn) anchor() bool {
	return d.claim.Anchor != "" || slices.ContainsFunc(d.inputs, func(in study.Input) bool {
		return slices.Contains(in.Anchors, d.claim.ID)
	})
}

// number returns a printed number as it is related to its base.
func (d *drawn) number(v float64) string {
	switch d.Is {
	case study.Gain:
		return strings.Replace(fmt.Sprintf("%+.3g%%", 100*v), "-", "−", 1)
	case study.Loss:
		if v == 0 {
			return "0%"
		}
		return fmt.Sprintf("−%.3g%%", 100*v)
	case study.Sum:
		return "+" + chart.Number(v)
	}
	return chart.Number(v)
}

// accepted describes the tolerance of a claim.
func (d *drawn) accepted() string {
	c := d.claim
	_, _, bounded := c.Accepted(d.Number)
	switch {
	case !bounded:
		return ""
	case c.Low != nil && c.High != nil:
		return fmt.Sprintf("(accepted: %s to %s)", d.number(*c.Low), d.number(*c.High))
	case d.Is == study.Position && c.Low == nil && c.High == nil:
		return ""
	case c.Check == claims.UpperBound:
		return d.oneSided(false, c.High, c.Tolerance)
	case c.Check == claims.LowerBound:
		return d.oneSided(true, c.Low, -c.Tolerance)
	case c.Tolerance > 0:
		return fmt.Sprintf("(±%.0f%%)", 100*c.Tolerance)
	}
	return ""
}

// oneSided describes what is accepted above or below a claim's number: up to an end, or with a tolerance.
func (d *drawn) oneSided(isAbove bool, end *float64, tolerance float64) string {
	side := d.side(isAbove, "at least", "at most")
	switch {
	case end != nil:
		return fmt.Sprintf("(accepted: %s %s)", side, d.number(*end))
	case tolerance != 0:
		return fmt.Sprintf("(accepted: %s %s)", side, d.number(d.claim.Value.Number()*(1+tolerance)))
	case d.bound() != "":
		return "" // the number says it
	}
	return "(" + side + ")"
}
