package papers

import (
	"cmp"
	"fmt"
	"maps"
	"slices"
	"strings"

	"nictwin/scenarios/observe/chart"
	"nictwin/scenarios/papers/claims"
	"nictwin/scenarios/papers/study"
)

// noFigure is Figures of an experiment that repeats none.
const noFigure = "–"

// draw returns the picture of a series, with the numbers that the paper prints about it.
func (x *Result) draw(s *study.Series, all []claims.Claim) (*chart.Chart, error) {
	p := x.Pictures[s.Name]
	figure, title := cmp.Or(p.Figure, x.Figures), s.Title
	if p.Note != "" {
		title += " (" + p.Note + ")"
	}
	c := chart.Chart{
		Title: strings.TrimPrefix(figure+": "+title, noFigure+": "),
		Apart: p.Apart,
		X:     chart.Axis{Name: s.Axes[0].Name, Unit: s.Axes[0].Unit, Log: s.Axes[0].Log},
		Y:     chart.Axis{Name: s.Metric, Unit: s.Unit, Log: s.LogY},
	}
	for i := range s.Points {
		addPoint(&c, s, &s.Points[i])
	}
	if err := repeat(&c, p.Repeated); err != nil {
		return nil, fmt.Errorf("series %s: %w", s.Name, err)
	}
	for i := range p.Printed {
		n := &p.Printed[i]
		claim := claims.Find(all, n.Claim)
		if claim == nil {
			return nil, fmt.Errorf("series %s: its picture has claim %s, which is in no file of claims", s.Name,
				n.Claim)
		}
		d := drawn{Printed: n, claim: claim, series: s, chart: &c, inputs: x.Inputs}
		bands, err := d.bands()
		if err != nil {
			return nil, fmt.Errorf("series %s: claim %s in its picture: %w", s.Name, n.Claim, err)
		}
		c.Bands = append(c.Bands, bands...)
	}
	return &c, nil
}

// repeat has the system be drawn in every panel; empty: none.
func repeat(c *chart.Chart, system string) error {
	if system == "" {
		return nil
	}
	for i := range c.Series {
		if c.Series[i].Name == system {
			c.Series[i].Repeated = true
			return nil
		}
	}
	return fmt.Errorf("its picture repeats system %s, which is not in the series", system)
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
