package papers

import (
	"fmt"
	"maps"
	"math"
	"slices"
	"strings"

	"nictwin/scenarios/observe/chart"
	"nictwin/scenarios/papers/claims"
	"nictwin/scenarios/papers/study"
)

// draw returns the picture of a series, with the numbers that the paper prints about it.
func (x *Result) draw(s *study.Series, all []claims.Claim) (*chart.Chart, error) {
	figure, printed := x.Figures, []study.Printed(nil)
	if p, ok := x.Pictures[s.Name]; ok {
		printed = p.Printed
		if p.Figure != "" {
			figure = p.Figure
		}
	}
	c := chart.Chart{
		Title: figure + ": " + s.Title,
		X:     chart.Axis{Name: s.Axes[0].Name, Unit: s.Axes[0].Unit, Log: s.Axes[0].Log},
		Y:     chart.Axis{Name: s.Metric, Unit: s.Unit, Log: s.LogY},
	}
	for i := range s.Points {
		addPoint(&c, s, &s.Points[i])
	}
	for i := range printed {
		p := &printed[i]
		claim := claims.Find(all, p.Claim)
		if claim == nil {
			return nil, fmt.Errorf("series %s: its picture has claim %s, which is in no file of claims", s.Name,
				p.Claim)
		}
		d := drawn{Printed: p, claim: claim, series: s, names: c.Names}
		bands, err := d.bands()
		if err != nil {
			return nil, fmt.Errorf("series %s: claim %s in its picture: %w", s.Name, p.Claim, err)
		}
		c.Bands = append(c.Bands, bands...)
	}
	return &c, nil
}

// checkPictures reports pictures of series that the experiment did not record.
func checkPictures(x *study.Experiment, o *study.Outcome) error {
	for _, name := range slices.Sorted(maps.Keys(x.Pictures)) {
		if !slices.ContainsFunc(o.Series, func(s study.Series) bool { return s.Name == name }) {
			return fmt.Errorf("experiment %s: it has a picture of series %s, which it did not record", x.Name, name)
		}
	}
	return nil
}

// addPoint adds a point to the curve, or the bar to the bars, of its system.
func addPoint(c *chart.Chart, s *study.Series, p *study.Point) {
	i := slices.IndexFunc(c.Series, func(x chart.Series) bool { return x.Name == p.System })
	if i < 0 {
		group, _, _ := strings.Cut(p.System, ": ")
		i, c.Series = len(c.Series), append(c.Series, chart.Series{Name: p.System, Group: group})
	}
	at := chart.Point{Y: p.Value, Half: p.Half}
	if s.Bars {
		n := slices.Index(c.Names, p.Label)
		if n < 0 {
			n, c.Names = len(c.Names), append(c.Names, p.Label)
		}
		at.X = float64(n)
	} else {
		at.X = p.At[0]
	}
	c.Series[i].Points = append(c.Series[i].Points, at)
}

// drawn is a number of a claim on its way into a picture.
type drawn struct {
	*study.Printed
	claim  *claims.Claim
	series *study.Series
	names  []string // labels of the groups of bars
}

func (d *drawn) bands() ([]chart.Band, error) {
	low, high, bounded := d.claim.Accepted(d.Number)
	if !bounded {
		low, high = math.NaN(), math.NaN()
	}
	values := d.claim.Printed(d.Number)
	if len(values) == 0 && (!bounded || d.Is == study.Position) {
		return nil, fmt.Errorf("it has no number: want a claim with one")
	}
	if err := d.checkNames(); err != nil {
		return nil, err
	}
	band := chart.Band{Name: d.name(values), Series: d.System, From: chart.AllX, To: -chart.AllX}
	switch d.Is {
	case study.Position:
		band.From, band.To, band.Low, band.High = values[0], values[0], math.Inf(-1), math.Inf(1)
		if d.claim.Low != nil && d.claim.High != nil {
			band.From, band.To = *d.claim.Low, *d.claim.High
		}
		return []chart.Band{band}, nil
	case study.Value:
		band.Values, band.Low, band.High = values, low, high
		if len(d.At) > 0 {
			band.From, band.To = d.At[0], d.At[len(d.At)-1]
		}
		if n := slices.Index(d.names, d.Label); n >= 0 {
			band.From, band.To = float64(n), float64(n)
		}
		return []chart.Band{band}, nil
	}
	return d.relative(band, values, low, high), nil
}

// checkNames reports systems and labels of bars, the number's own and those of its base, that the series lacks.
func (d *drawn) checkNames() error {
	for _, system := range []string{d.System, d.Of.System} {
		ours := func(p study.Point) bool { return p.System == system }
		if system != "" && !slices.ContainsFunc(d.series.Points, ours) {
			return fmt.Errorf("system %s is not in the series", system)
		}
	}
	for _, label := range []string{d.Label, d.Of.Label} {
		if label != "" && !slices.Contains(d.names, label) {
			return fmt.Errorf("label %s is not in the series: want one of %q", label, d.names)
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
			b.From = float64(slices.Index(d.names, p.Label))
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
	for i := range d.series.Points {
		if q := &d.series.Points[i]; q.System == system && q.Label == label && slices.Equal(q.At, at) {
			return q.Value, true
		}
	}
	return 0, false
}

// matches reports whether a point is of a system, and at a label or between positions. An empty argument matches every
// point.
func matches(p *study.Point, system, label string, at []float64) bool {
	if system != "" && p.System != system || label != "" && p.Label != label {
		return false
	}
	return len(at) == 0 || len(p.At) > 0 && p.At[0] >= at[0] && p.At[0] <= at[len(at)-1]
}

// name returns the text of the legend: what the paper prints, and what is accepted.
func (d *drawn) name(values []float64) string {
	var parts []string
	for _, v := range values {
		parts = append(parts, d.number(v))
	}
	text := strings.Join(parts, " to ")
	switch d.Is {
	case study.Position:
		text = strings.TrimSpace(text + " " + chart.Unit(d.series.Axes[0].Unit))
	case study.Value, study.Sum:
		text = strings.TrimSpace(text + " " + chart.Unit(d.series.Unit))
	}
	between := " against "
	if d.Is == study.Factor {
		between = " × "
	}
	switch base := d.Of.System + d.Of.Label; {
	case base != "":
		text += between + base
	case len(d.Of.At) > 0:
		text += fmt.Sprintf("%s%s %g", between, d.series.Axes[0].Name, d.Of.At[0])
	}
	switch {
	case d.Is == study.Position:
		text = d.claim.Metric + ": " + text
	case d.System != "":
		text = d.System + ": " + text
	case d.Label != "":
		text = d.Label + ": " + text
	}
	return "paper, " + strings.TrimSpace(text+" "+d.accepted())
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
	case d.Is == study.Position:
		return ""
	case c.Check == claims.UpperBound:
		return "(at most)"
	case c.Check == claims.LowerBound:
		return "(at least)"
	case c.Tolerance > 0:
		return fmt.Sprintf("(±%.0f%%)", 100*c.Tolerance)
	}
	return ""
}
