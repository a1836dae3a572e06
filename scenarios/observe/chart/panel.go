package chart

import (
	"image/color"
	"math"
	"slices"

	"gonum.org/v1/plot"
	"gonum.org/v1/plot/plotter"
	"gonum.org/v1/plot/vg"
	"gonum.org/v1/plot/vg/draw"
)

// frame is a chart laid out: title, panels, sizes.
type frame struct {
	title         []string
	panels        []panel
	width, height vg.Length
}

// panel is a part of a chart with its own axes and legend.
type panel struct {
	plot   *plot.Plot
	legend legend
	height vg.Length
}

func newFrame(c *Chart) *frame {
	f := &frame{}
	if !c.strips() { // strips differ by their places
		c = c.numbered()
	}
	parts := c.panels()
	for i, part := range parts {
		of := c.Series
		if c.strips() {
			of = part
		}
		p := newPanel(c, part, c.yScale(of))
		p.height = max(plotH, p.legend.height())
		if c.strips() {
			p.height = max(stripH, p.legend.height())
			if i < len(parts)-1 {
				p.plot.X.Label.Text = ""
			}
		}
		f.panels = append(f.panels, p)
	}
	f.align()
	for i := range f.panels {
		f.width = max(f.width, plotW+legendGap+f.panels[i].legend.width()+2*edge)
		f.height += f.panels[i].height + gap
	}
	f.title = wrap(c.Title, style(titleSize), f.width-2*edge)
	f.height += 2*edge + vg.Length(len(f.title))*(titleSize+3)
	return f
}

// align pads the labels of Y axes so that the axes of all panels are below one another.
func (f *frame) align() {
	widths, widest := make([]vg.Length, len(f.panels)), vg.Length(0)
	for i := range f.panels {
		y := &f.panels[i].plot.Y
		for _, t := range y.Tick.Marker.Ticks(y.Min, y.Max) {
			widths[i] = max(widths[i], y.Tick.Label.Width(t.Label))
		}
		widest = max(widest, widths[i])
	}
	for i := range f.panels {
		f.panels[i].plot.Y.Label.Padding += widest - widths[i]
	}
}

// farthest is the part of the highest value or band by which an interval extends an axis at most. Longer intervals end
// in an arrow: they would leave little of the picture for the values.
const farthest = 0.25

// yScale returns the scale of the panels of some series.
func (c *Chart) yScale(of []Series) scale {
	var values, ends []float64
	for i := range of {
		for _, p := range of[i].Points {
			low, high := p.ends()
			if c.Y.Log && low == 0 {
				low = p.Y // the interval ends with the axis, which needs no 0 for it
			}
			values, ends = append(values, low, p.Y), append(ends, high)
		}
	}
	zero := c.Y.Zero || len(c.Names) > 0
	for _, b := range c.Bands {
		values = append(append(values, b.Values...), b.Low, b.High)
	}
	_, most, _ := extent(values)
	for _, high := range ends {
		values = append(values, min(high, most+farthest*math.Abs(most)))
	}
	return yScale(values, c.Y.Log, zero)
}

func newPanel(c *Chart, part []Series, y scale) panel {
	p := plot.New()
	bands := c.bandsOf(part)
	if y.ticks = ticksWanted; c.strips() {
		y.ticks = 3
	}
	p.Y.Min, p.Y.Max, p.Y.Scale, p.Y.Tick.Marker = y.low, y.high, y, y
	p.X.Label.Text, p.Y.Label.Text = c.X.Label(), c.Y.Label()
	for _, a := range []*plot.Axis{&p.X, &p.Y} {
		a.Padding = 0
		tick, label := style(tickSize), style(labelSize)
		a.Tick.Label.Font, a.Label.TextStyle.Font = tick.Font, label.Font
		a.Tick.Length, a.Label.Padding = 4, 3
	}
	grid := plotter.NewGrid()
	grid.Horizontal.Color, grid.Vertical.Color = grey, grey
	var l legend
	if len(c.Names) > 0 {
		grid.Vertical.Color = nil
		b := newBars(c.Names, part, bands, y)
		b.axis(p)
		p.Add(grid, b)
		l = b.legend()
	} else {
		x := xScale(c.positions(), c.X.Log)
		x.ticks = ticksWanted
		p.X.Min, p.X.Max, p.X.Scale = x.low, x.high, x
		at := places{scale: x, at: c.positions(), label: c.X.Tick, width: func(s string) float64 {
			return float64(style(tickSize).Width(s) / (plotW - 60))
		}}
		if c.X.sizes() {
			at.bytes = bytesOf[c.X.Unit]
		}
		p.X.Tick.Marker = at
		k := newCurves(part, bands, x, y)
		k.apart = c.Apart
		p.Add(grid, k)
		l = k.legend()
	}
	return panel{plot: p, legend: l}
}

// positions returns the positions of all points.
func (c *Chart) positions() (list []float64) {
	for i := range c.Series {
		for _, p := range c.Series[i].Points {
			list = append(list, p.X)
		}
	}
	return list
}

// draw draws a panel between two heights.
func (p *panel) draw(area draw.Canvas, low, high vg.Length) {
	at := draw.Canvas{Canvas: area.Canvas, Rectangle: vg.Rectangle{
		Min: vg.Point{X: edge, Y: low}, Max: vg.Point{X: edge + plotW, Y: high}}}
	p.plot.BackgroundColor = nil // the picture has one
	p.plot.Draw(at)
	at.Min.X, at.Max.X = edge+plotW+legendGap, area.Max.X
	p.legend.draw(at)
}

// drawBand draws a band between two places of the X axis.
func drawBand(c draw.Canvas, b *Band, y scale, from, to vg.Length, sty bandStyle) {
	colour := sty.colour
	if low, high := y.place(b.Low), y.place(b.High); high > low {
		c.SetColor(faded(colour, 0x30))
		c.Fill(rectangle(vg.Rectangle{Min: vg.Point{X: from, Y: c.Y(low)}, Max: vg.Point{X: to, Y: c.Y(high)}}))
	}
	if len(b.Values) > 1 {
		low, high := y.place(slices.Min(b.Values)), y.place(slices.Max(b.Values))
		c.SetColor(faded(colour, 0x40))
		c.Fill(rectangle(vg.Rectangle{Min: vg.Point{X: from, Y: c.Y(low)}, Max: vg.Point{X: to, Y: c.Y(high)}}))
	}
	for _, v := range b.Values {
		if at := y.Normalize(y.low, y.high, v); at >= 0 && at <= 1 {
			sty.stroke(c, from, to, c.Y(at))
		}
	}
}

// drawError draws an error bar at a place. One that goes on beyond the axis ends in an arrow.
func drawError(c draw.Canvas, x vg.Length, p Point, y scale, colour color.Color) {
	if p.Half <= 0 || math.IsNaN(p.Half) {
		return
	}
	const cap = 3
	from, end := p.ends()
	low, high := c.Y(y.place(from)), c.Y(y.place(end))
	sty := draw.LineStyle{Color: colour, Width: 1}
	c.StrokeLine2(sty, x, low, x, high)
	c.StrokeLine2(sty, x-cap, low, x+cap, low)
	if end > y.high {
		c.StrokeLines(sty, []vg.Point{{X: x - cap, Y: high - 2*cap}, {X: x, Y: high}, {X: x + cap, Y: high - 2*cap}})
		return
	}
	c.StrokeLine2(sty, x-cap, high, x+cap, high)
}
