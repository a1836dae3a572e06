package chart

import (
	"math"
	"slices"

	"gonum.org/v1/plot"
	"gonum.org/v1/plot/vg"
	"gonum.org/v1/plot/vg/draw"
)

// curves draws the series and bands of a panel.
type curves struct {
	series []Series
	bands  []Band
	x, y   scale
	same   []int // by series: the first one that it coincides with, or itself
	apart  bool  // points are not joined
}

// crowded is the number of points at and above which a curve has neither markers nor dashes.
const crowded = 40

func newCurves(series []Series, bands []Band, x, y scale) *curves {
	k := &curves{series: series, bands: bands, x: x, y: y}
	for i := range series {
		first := i
		for j := range i {
			if k.same[j] == j && k.coincide(&series[i], &series[j]) {
				first = j
				break
			}
		}
		k.same = append(k.same, first)
	}
	return k
}

// Distances, as fractions of an axis, below which points are taken for one.
const (
	nearX = 0.008
	nearY = 0.012
)

// near reports whether two points lie so close to each other that a reader sees one.
func (k *curves) near(a, b Point) bool {
	return math.Abs(k.x.place(a.X)-k.x.place(b.X)) < nearX && math.Abs(k.y.place(a.Y)-k.y.place(b.Y)) < nearY
}

// coincide reports whether every point of a is near one of b.
func (k *curves) coincide(a, b *Series) bool {
	for _, p := range a.Points {
		found := false
		for _, q := range b.Points {
			found = found || k.near(p, q)
		}
		if !found {
			return false
		}
	}
	return len(a.Points) > 0 && len(a.Points) == len(b.Points)
}

// line returns the style of a series' line. Curves that coincide are striped in all of their colours.
func (k *curves) line(i int) draw.LineStyle {
	s := draw.LineStyle{Color: colourOf(&k.series[i]), Width: 1.5}
	if len(k.series[i].Points) < crowded {
		s.Dashes = dashes[i]
	}
	turn, of := 0, 0
	for j, first := range k.same {
		if first == k.same[i] {
			if j < i {
				turn++
			}
			of++
		}
	}
	if of > 1 {
		const stripe = 6
		s.Width = 2
		s.Dashes = []vg.Length{stripe, stripe * vg.Length(of-1)}
		s.DashOffs = -stripe * vg.Length(turn)
	}
	return s
}

func (k *curves) marker(i int) draw.GlyphStyle {
	return draw.GlyphStyle{Color: colourOf(&k.series[i]), Radius: 3, Shape: markers[i]}
}

// Plot draws the bands, over them the lines, and over these the points.
func (k *curves) Plot(c draw.Canvas, _ *plot.Plot) {
	for i, sty := range bandStyles(k.series, k.bands, false) {
		k.band(c, i, sty)
	}
	for i := range k.series {
		if k.apart {
			break
		}
		var line []vg.Point
		for _, p := range k.series[i].Points {
			line = append(line, k.at(&c, p))
		}
		c.StrokeLines(k.line(i), line)
	}
	for i := range k.series {
		for n, p := range k.series[i].Points {
			at := k.at(&c, p)
			at.X += k.aside(i, n)
			drawError(c, at.X, p, k.y, colourOf(&k.series[i]))
			if len(k.series[i].Points) < crowded {
				c.DrawGlyphNoClip(k.marker(i), at)
			}
		}
	}
}

func (k *curves) at(c *draw.Canvas, p Point) vg.Point {
	return vg.Point{X: c.X(k.x.place(p.X)), Y: c.Y(k.y.place(p.Y))}
}

// aside returns how far a point is moved to the right (negative: left), so that it does not hide points of earlier
// series in the same place.
func (k *curves) aside(i, n int) vg.Length {
	const step = 6
	before := 0
	for j := range i {
		near := func(q Point) bool { return k.near(k.series[i].Points[n], q) }
		if slices.ContainsFunc(k.series[j].Points, near) {
			before++
		}
	}
	if before%2 == 1 {
		return step * vg.Length(before+1) / 2
	}
	return -step * vg.Length(before) / 2
}

// band draws a band, by index. Bands of one place stand side by side.
func (k *curves) band(c draw.Canvas, i int, sty bandStyle) {
	b := &k.bands[i]
	turn, of := 0, 1
	if b.isPlace() {
		turn, of = lane(k.bands, i, func(other *Band) bool { return other.isPlace() && other.From == b.From })
	}
	half := 11 + 2*vg.Length(min(of, 3)-1) // half the width of the bands of one place, in points
	from, to := c.Min.X, c.Max.X
	if b.From > AllX {
		from = c.X(k.x.place(b.From)) - half
	}
	if b.To < -AllX {
		to = c.X(k.x.place(b.To)) + half
	}
	from, to = part(max(from, c.Min.X), min(to, c.Max.X), turn, of)
	drawBand(c, b, k.y, from, to, sty)
}

func (k *curves) legend() (l legend) {
	errors := false
	for i := range k.series {
		name := k.series[i].Name
		if k.same[i] != i {
			name += " (coincides with " + k.series[k.same[i]].Name + ")"
		}
		line, mark := k.line(i), k.marker(i)
		if len(k.series[i].Points) >= crowded {
			mark.Shape = nil
		}
		l.add(name, func(c draw.Canvas) {
			y := c.Center().Y
			if !k.apart {
				c.StrokeLine2(line, c.Min.X, y, c.Max.X, y)
			}
			c.DrawGlyphNoClip(mark, c.Center())
		})
		for _, p := range k.series[i].Points {
			errors = errors || p.Half > 0
		}
	}
	for i, sty := range bandStyles(k.series, k.bands, false) {
		l.addBand(&k.bands[i], sty)
	}
	if errors {
		l.addErrors()
	}
	return l
}
