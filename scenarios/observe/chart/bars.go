package chart

import (
	"math"
	"slices"
	"strconv"

	"gonum.org/v1/plot"
	"gonum.org/v1/plot/text"
	"gonum.org/v1/plot/vg"
	"gonum.org/v1/plot/vg/draw"
)

// bars draws the series of a panel as groups of bars. Groups without one are left out.
type bars struct {
	names  []string
	series []Series
	bands  []Band
	y      scale
	places []int   // by index of a name: the place of its group, or -1
	groups [][]bar // by place: its bars
}

// bar is one bar of a group.
type bar struct {
	series int
	Point
}

// groupWidth is the part of a group's place that its bars fill.
const groupWidth = 0.8

func newBars(names []string, series []Series, bands []Band, y scale) *bars {
	b := &bars{series: series, bands: bands, y: y}
	for n, name := range names {
		var group []bar
		for i := range series {
			for _, p := range series[i].Points {
				if int(p.X) == n {
					group = append(group, bar{i, p})
				}
			}
		}
		if len(group) == 0 {
			b.places = append(b.places, -1)
			continue
		}
		b.places = append(b.places, len(b.groups))
		b.groups, b.names = append(b.groups, group), append(b.names, name)
	}
	return b
}

// axis writes the names of groups below the axis, on several lines if they are long.
func (b *bars) axis(p *plot.Plot) {
	var ticks plot.ConstantTicks
	room := vg.Length(plotW-60)/vg.Length(max(len(b.groups), 1)) - 4
	for i, name := range b.names {
		label := ""
		for n, line := range wrap(name, style(tickSize), room) {
			if n > 0 {
				label += "\n"
			}
			label += line
		}
		ticks = append(ticks, plot.Tick{Value: float64(i), Label: label})
	}
	p.X.Min, p.X.Max = -0.5, float64(max(len(b.groups), 1))-0.5
	p.X.Tick.Marker, p.X.Tick.Length, p.X.Tick.Color = ticks, 3, white // a gap between axis and names
}

// width returns the width of a group's bars in units of the axis. No bar is wider than a sixth of the chart.
func (b *bars) width(place int) float64 {
	return min(groupWidth/float64(len(b.groups[place])), float64(len(b.groups))/6)
}

// span returns the part of the axis that the n-th bar of a group takes.
func (b *bars) span(c *draw.Canvas, place, n int) (from, to vg.Length) {
	w := b.width(place)
	x := func(v float64) vg.Length { return c.X((v + 0.5) / float64(len(b.groups))) }
	left := float64(place) - w*float64(len(b.groups[place]))/2 + w*float64(n)
	return x(left), x(left + w)
}

// Plot draws the bars with their values, then the bands over them.
func (b *bars) Plot(c draw.Canvas, _ *plot.Plot) {
	for place := range b.groups {
		for n, x := range b.groups[place] {
			from, to := b.span(&c, place, n)
			c.SetColor(colourOf(&b.series[x.series]))
			c.Fill(rectangle(vg.Rectangle{Min: vg.Point{X: from + 0.5, Y: c.Y(b.y.place(0))},
				Max: vg.Point{X: to - 0.5, Y: c.Y(b.y.place(x.Y))}}))
		}
	}
	styles := bandStyles(b.series, b.bands, true)
	for i := range b.bands {
		b.band(c, i, styles[i])
	}
	for place := range b.groups {
		for n, x := range b.groups[place] {
			from, to := b.span(&c, place, n)
			drawError(c, (from+to)/2, x.Point, b.y, black)
			b.value(c, x.Point, from, to)
		}
	}
}

// value writes a bar's number at its foot if there is room, above it if it is low.
func (b *bars) value(c draw.Canvas, p Point, from, to vg.Length) {
	sty := style(8)
	s := Number(p.Y)
	if math.Abs(p.Y) < 1e3 {
		s = strconv.FormatFloat(p.Y, 'g', 3, 64)
	}
	if sty.Width(s) > to-from {
		return
	}
	sty.XAlign, sty.YAlign = text.XCenter, text.YBottom
	at := vg.Point{X: (from + to) / 2, Y: c.Y(b.y.place(0)) + 3}
	if top := c.Y(b.y.place(p.Y - p.Half)); top > at.Y+12 {
		sty.Color = white
	} else {
		at.Y = c.Y(b.y.place(p.Y+p.Half)) + 2
	}
	c.FillText(sty, at, s)
}

// band draws a band, by index, over the bars that it belongs to, a little wider than they are. Bands of one bar share
// its width.
func (b *bars) band(c draw.Canvas, i int, sty bandStyle) {
	const beyond = 3
	x := &b.bands[i]
	for n, place := range b.places {
		if place < 0 {
			continue
		}
		for k, one := range b.groups[place] {
			if !b.covers(x, n, one.series) {
				continue
			}
			turn, of := lane(b.bands, i, func(other *Band) bool { return b.covers(other, n, one.series) })
			from, to := b.span(&c, place, k)
			from, to = part(from-beyond, to+beyond, turn, of)
			drawBand(c, x, b.y, from, to, sty)
		}
	}
}

// covers reports whether a band belongs to the bar of a series at a name, by index.
func (b *bars) covers(x *Band, name, series int) bool {
	want := index(b.series, x.Series)
	return float64(name) >= x.From && float64(name) <= x.To && (want < 0 || series == want)
}

func (b *bars) legend() (l legend) {
	errors := false
	for i := range b.series {
		errors = errors || slices.ContainsFunc(b.series[i].Points, func(p Point) bool { return p.Half > 0 })
		if len(b.series) == 1 {
			break // there is nothing to tell apart
		}
		l.add(b.series[i].Name, func(c draw.Canvas) {
			c.SetColor(colourOf(&b.series[i]))
			c.Fill(rectangle(vg.Rectangle{Min: vg.Point{X: c.Center().X - 5, Y: c.Min.Y}, Max: vg.Point{
				X: c.Center().X + 5, Y: c.Max.Y}}))
		})
	}
	for i, sty := range bandStyles(b.series, b.bands, true) {
		l.addBand(&b.bands[i], sty)
	}
	if errors {
		l.addErrors()
	}
	return l
}
