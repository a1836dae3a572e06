package chart

import (
	"slices"

	"gonum.org/v1/plot/vg"
	"gonum.org/v1/plot/vg/draw"
)

// legend stands beside a panel: a sample and a name for each entry. Unlike gonum's, its names have several lines.
type legend struct {
	entries []entry
}

type entry struct {
	name   string
	lines  []string
	sample func(c draw.Canvas)
}

// Sizes of a legend.
const (
	sampleW    = 34
	nameW      = 190 // largest width of a name
	entryGap   = 4
	legendSize = 10
)

func (l *legend) add(name string, sample func(c draw.Canvas)) {
	l.entries = append(l.entries, entry{name, wrap(name, style(legendSize), nameW), sample})
}

// addBand adds a band unless one of its name is there.
func (l *legend) addBand(b *Band, sty bandStyle) {
	if slices.ContainsFunc(l.entries, func(e entry) bool { return e.name == b.Name }) {
		return
	}
	shaded, value := b.shaded(), len(b.Values) > 0
	l.add(b.Name, func(c draw.Canvas) {
		if shaded {
			c.SetColor(faded(sty.colour, 0x30))
			c.Fill(rectangle(c.Rectangle))
		}
		if value {
			sty.stroke(c, c.Min.X, c.Max.X, c.Center().Y)
		}
	})
}

// addErrors explains error bars.
func (l *legend) addErrors() {
	l.add("95% confidence interval", func(c draw.Canvas) {
		x := c.Center().X
		y := scale{low: 0, high: 1}
		drawError(c, x, Point{Y: 0.5, Half: 0.5}, y, black)
	})
}

func (l *legend) width() (most vg.Length) {
	for _, e := range l.entries {
		for _, line := range e.lines {
			most = max(most, sampleW+6+style(legendSize).Width(line))
		}
	}
	return most
}

func (l *legend) height() (sum vg.Length) {
	for _, e := range l.entries {
		sum += vg.Length(len(e.lines))*lineHeight + entryGap
	}
	return sum
}

func (l *legend) draw(c draw.Canvas) {
	y := c.Max.Y
	for _, e := range l.entries {
		sample := c
		sample.Min, sample.Max = vg.Point{X: c.Min.X, Y: y - lineHeight + 3}, vg.Point{X: c.Min.X + sampleW, Y: y - 1}
		e.sample(sample)
		for _, line := range e.lines {
			y -= lineHeight
			c.FillText(style(legendSize), vg.Point{X: c.Min.X + sampleW + 6, Y: y + 3}, line)
		}
		y -= entryGap
	}
}
