package chart

import (
	"image/color"
	"math"

	"gonum.org/v1/plot/vg"
	"gonum.org/v1/plot/vg/draw"
)

var (
	white = color.Gray{255}
	black = color.Gray{0}
	grey  = color.Gray{0xdd}
	paper = color.NRGBA{0x55, 0x55, 0x55, 0xff} // colour of bands that belong to no single series
)

// colours differ for the colour-blind, too (Okabe and Ito; in the second panel, Tol). They are in the order of the
// series of a chart.
var colours = [2 * maxSeries]color.NRGBA{
	{0x00, 0x72, 0xb2, 0xff}, {0xd5, 0x5e, 0x00, 0xff}, {0x00, 0x9e, 0x73, 0xff}, {0xcc, 0x79, 0xa7, 0xff},
	{0xb8, 0x86, 0x00, 0xff}, {0x33, 0x33, 0x33, 0xff},
	{0x88, 0x22, 0x55, 0xff}, {0x3f, 0xa0, 0xdb, 0xff}, {0x77, 0x88, 0x00, 0xff}, {0xee, 0x66, 0x77, 0xff},
	{0x33, 0x22, 0x88, 0xff}, {0x8c, 0x5a, 0x3c, 0xff},
}

// colourOf returns the colour of a series.
func colourOf(s *Series) color.NRGBA { return colours[s.look%len(colours)] }

// faded returns the colour with an opacity of alpha.
func faded(c color.NRGBA, alpha uint8) color.NRGBA {
	c.A = alpha
	return c
}

// dashes distinguish curves without colour, in the order of a panel's series.
var dashes = [maxSeries][]vg.Length{nil, {7, 3}, {2, 2.5}, {9, 3, 2, 3}, {4, 2}, {12, 4}}

// markers are the shapes of points, in the order of a panel's series.
var markers = [maxSeries]draw.GlyphDrawer{
	draw.CircleGlyph{}, polygon{4, math.Pi / 4}, polygon{3, math.Pi / 2}, polygon{4, 0}, polygon{3, -math.Pi / 2},
	polygon{5, math.Pi / 2},
}

// polygon is a filled regular polygon, with a corner in a direction.
type polygon struct {
	corners int
	turn    float64
}

// DrawGlyph draws the polygon around a point.
func (g polygon) DrawGlyph(c *draw.Canvas, sty draw.GlyphStyle, pt vg.Point) {
	var p vg.Path
	for i := range g.corners {
		sin, cos := math.Sincos(g.turn + 2*math.Pi*float64(i)/float64(g.corners))
		at := pt.Add(vg.Point{X: 1.3 * sty.Radius * vg.Length(cos), Y: 1.3 * sty.Radius * vg.Length(sin)})
		if i == 0 {
			p.Move(at)
		} else {
			p.Line(at)
		}
	}
	p.Close()
	c.Fill(p)
}
