package chart

import (
	"bytes"
	"fmt"
	"html"
	"regexp"
	"strconv"
	"strings"

	"gonum.org/v1/plot"
	"gonum.org/v1/plot/font"
	"gonum.org/v1/plot/text"
	"gonum.org/v1/plot/vg"
	"gonum.org/v1/plot/vg/draw"
	"gonum.org/v1/plot/vg/vgsvg"
)

// Sizes of a picture, in points.
const (
	plotW, plotH = 470, 285 // a panel with its axes
	stripH       = 95
	legendGap    = 12
	gap          = 14 // between panels
	edge         = 6
	lineHeight   = 13
)

// SVG draws a chart.
func SVG(c *Chart) []byte {
	f := newFrame(c)
	canvas := vgsvg.NewWith(vgsvg.UseWH(f.width, f.height))
	area := draw.New(canvas)
	area.SetColor(white)
	area.Fill(rectangle(area.Rectangle))
	y := f.height - edge
	for _, line := range f.title {
		y -= titleSize + 3
		area.FillText(style(titleSize), vg.Point{X: edge, Y: y}, line)
	}
	y -= edge
	for i := range f.panels {
		p := &f.panels[i]
		p.draw(area, y-p.height, y)
		y -= p.height + gap
	}
	var b bytes.Buffer
	_, _ = canvas.WriteTo(&b) // a buffer takes everything
	return tidy(b.Bytes(), c.Title)
}

// fonts lists fonts that a reader's machine may use. All that are named have the same widths.
const fonts = "Liberation Sans,Arimo,Arial,Helvetica,sans-serif"

var (
	family = regexp.MustCompile(`font-family:[^;"]*;font-variant:[^;"]*;font-weight:normal;font-style:normal;`)
	head   = regexp.MustCompile(`(?s)^.*?<svg ([^>]*)>`)
	space  = regexp.MustCompile(`\s+`)
	texts  = regexp.MustCompile(`style="font-size:(\d+)px([^"]*)">([^<]+)</text>`)
)

// tidy makes gonum's picture fit for embedding in HTML: it removes the prolog, names the font once and adds a title.
func tidy(svg []byte, title string) []byte {
	m := head.FindSubmatch(svg)
	attributes := strings.Replace(space.ReplaceAllString(string(m[1]), " "),
		` xmlns:xlink="http://www.w3.org/1999/xlink"`, "", 1)
	body := family.ReplaceAll(svg[len(m[0]):], nil)
	body = bytes.ReplaceAll(body, []byte("\n\tstyle="), []byte(" style="))
	body = texts.ReplaceAllFunc(body, fixWidth)
	return fmt.Appendf(nil, `<svg %s font-family="%s" role="img"><title>%s</title>%s`, attributes, fonts,
		html.EscapeString(title), body)
}

// fixWidth gives a text the width that it was laid out with, whatever font it is drawn in.
func fixWidth(element []byte) []byte {
	m := texts.FindSubmatch(element)
	points, _ := strconv.Atoi(string(m[1])) // digits
	width := style(float64(points)).Width(html.UnescapeString(string(m[3])))
	return fmt.Appendf(nil, `textLength="%.4g" lengthAdjust="spacingAndGlyphs" %s`, width.Points(), element)
}

// Sizes of texts, in points.
const (
	titleSize = 13
	labelSize = 11
	tickSize  = 10
)

// style returns the style of a text of a size.
func style(points float64) text.Style {
	f := font.From(plot.DefaultFont, vg.Length(points))
	f.Variant = "Sans"
	return text.Style{Color: black, Font: f, Handler: plot.DefaultTextHandler}
}

// wrap breaks a text into lines of at most a width, at spaces.
func wrap(s string, sty text.Style, width vg.Length) (lines []string) {
	line := ""
	for _, word := range strings.Fields(s) {
		next := strings.TrimSpace(line + " " + word)
		if line != "" && sty.Width(next) > width {
			lines, next = append(lines, line), word
		}
		line = next
	}
	return append(lines, line)
}

func rectangle(r vg.Rectangle) vg.Path {
	var p vg.Path
	p.Move(r.Min)
	p.Line(vg.Point{X: r.Max.X, Y: r.Min.Y})
	p.Line(r.Max)
	p.Line(vg.Point{X: r.Min.X, Y: r.Max.Y})
	p.Close()
	return p
}
