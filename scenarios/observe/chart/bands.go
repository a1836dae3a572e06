package chart

import (
	"image/color"
	"math"

	"gonum.org/v1/plot/vg"
	"gonum.org/v1/plot/vg/draw"
)

// bandStyle selects how a band is drawn.
type bandStyle struct {
	colour color.NRGBA
	dashes []vg.Length
	cased  bool // a white edge separates the line from a bar of a like colour
}

// bandDashes distinguish bands of one series.
var bandDashes = [...][]vg.Length{{5, 2}, {1.5, 1.5}, {9, 2, 1.5, 2}}

// stroke draws the line of a value.
func (s bandStyle) stroke(c draw.Canvas, from, to, y vg.Length) {
	if s.cased {
		c.StrokeLine2(draw.LineStyle{Color: white, Width: 2.8}, from, y, to, y)
	}
	c.StrokeLine2(draw.LineStyle{Color: s.colour, Width: 1.2, Dashes: s.dashes}, from, y, to, y)
}

// bandStyles returns the styles of a panel's bands: each has the colour of its series, on bars a darker one.
func bandStyles(series []Series, bands []Band, onBars bool) []bandStyle {
	list := make([]bandStyle, len(bands))
	for i := range bands {
		names := map[string]bool{}
		for j := range i {
			if b := &bands[j]; b.Series == bands[i].Series && b.Name != bands[i].Name {
				names[b.Name] = true
			}
		}
		list[i] = bandStyle{colour: paper, dashes: bandDashes[len(names)%len(bandDashes)], cased: onBars}
		if k := index(series, bands[i].Series); k >= 0 {
			list[i].colour = colourOf(&series[k])
		}
		if onBars {
			list[i].colour = darker(list[i].colour)
		}
	}
	return list
}

// darker returns a colour with half of its light.
func darker(c color.NRGBA) color.NRGBA {
	c.R, c.G, c.B = c.R/2, c.G/2, c.B/2
	return c
}

// isPlace reports whether the band is about one place of the X axis, and about values there.
func (b *Band) isPlace() bool { return b.From == b.To && !b.isPosition() }

// isPosition reports whether the band marks a part of the X axis, whatever the value.
func (b *Band) isPosition() bool {
	return math.IsInf(b.Low, -1) && math.IsInf(b.High, 1) && len(b.Values) == 0
}

// shaded reports whether the band has a range.
func (b *Band) shaded() bool { return b.High > b.Low || len(b.Values) > 1 }

// reach returns the range of a band and its values.
func (b *Band) reach() (low, high float64) {
	low, high = math.Inf(1), math.Inf(-1)
	for _, v := range append([]float64{b.Low, b.High}, b.Values...) {
		if !math.IsNaN(v) {
			low, high = min(low, v), max(high, v)
		}
	}
	return low, high
}

// overlap reports whether two bands would hide each other in one place.
func overlap(a, b *Band) bool {
	aLow, aHigh := a.reach()
	bLow, bHigh := b.reach()
	return aLow <= bHigh && bLow <= aHigh
}

// lane returns the turn of a band, by index, among those in its place that it overlaps with, directly or by way of
// others. They stand side by side there.
func lane(bands []Band, i int, there func(*Band) bool) (turn, of int) {
	group := map[int]bool{i: true}
	for before := 0; before < len(group); {
		before = len(group)
		for j := range bands {
			for k := range bands {
				if group[k] && there(&bands[j]) && overlap(&bands[j], &bands[k]) {
					group[j] = true
				}
			}
		}
	}
	for j := range i {
		if group[j] {
			turn++
		}
	}
	return turn, len(group)
}

// part returns one of several equal parts of a width.
func part(from, to vg.Length, turn, of int) (begin, end vg.Length) {
	w := (to - from) / vg.Length(of)
	return from + vg.Length(turn)*w, from + vg.Length(turn+1)*w
}
