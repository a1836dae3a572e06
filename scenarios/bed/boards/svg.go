package boards

import (
	"fmt"
	"html"
	"strings"

	"nictwin/models/board"
)

// Sizes in SVG user units.
const (
	boxWidth, boxHeight = 150, 92
	gap, margin         = 26, 20
	lineHeight          = 15
	headHeight          = 26
)

// canvas is an SVG under construction.
type canvas struct {
	strings.Builder
	width int
}

// svgMark is the first line of every picture drawn by nictwin. IsSVG recognizes by it the files that may be
// overwritten.
const svgMark = "<!-- board drawn by nictwin: replaced by later runs -->\n"

// IsSVG reports whether a text is a picture drawn by function SVG.
func IsSVG(text []byte) bool { return strings.HasPrefix(string(text), svgMark) }

// SVG draws a board as an SVG picture.
func SVG(s *board.RackSpec) string {
	var c canvas
	y := margin + lineHeight
	c.text(margin, y, "name", title(s))
	y += margin
	for _, m := range machines(s) {
		y = c.machine(&m, y) + margin
	}
	return svgMark + fmt.Sprintf(`<svg xmlns="http://www.w3.org/2000/svg" width="%d" height="%d" `+
		`font-family="sans-serif" font-size="12">
<style>.name{font-weight:bold;font-size:14px}.title{font-weight:bold}.frame{fill:none;stroke:#888}`+
		`.box{fill:#eef3fa;stroke:#345}.way{stroke:#345;fill:none}</style>
`, c.width+margin, y) + c.String() + "</svg>\n"
}

// machine draws a server from y coordinate top on, and returns where it ends.
func (c *canvas) machine(m *machine, top int) int {
	y := top + headHeight
	right := 0
	for i := range m.cards {
		d := &m.cards[i]
		c.text(2*margin, y+lineHeight, "title", d.name)
		y += headHeight
		height := max(1, len(d.branches))*(boxHeight+gap) - gap
		middle := y + (height-boxHeight)/2
		x := c.row(&d.front, 2*margin, middle)
		from := x - gap
		right = max(right, x)
		for k := range d.branches {
			at := y + k*(boxHeight+gap)
			c.way(from, middle+boxHeight/2, x, at+boxHeight/2)
			c.text(x+4, at-4, "title", d.branches[k].name)
			right = max(right, c.row(&d.branches[k], x, at))
		}
		y += height + margin
	}
	c.width = max(c.width, right)
	c.text(margin+8, top+lineHeight+4, "name", m.name)
	fmt.Fprintf(c, "<rect class=\"frame\" x=\"%d\" y=\"%d\" width=\"%d\" height=\"%d\"/>\n", margin, top, right-margin,
		y-top)
	return y
}

// row draws boxes from left to right, and returns where the next one would begin.
func (c *canvas) row(r *row, x, y int) int {
	for i, b := range r.boxes {
		if i > 0 {
			c.way(x-gap, y+boxHeight/2, x, y+boxHeight/2)
		}
		fmt.Fprintf(c, "<rect class=\"box\" x=\"%d\" y=\"%d\" width=\"%d\" height=\"%d\"/>\n", x, y, boxWidth,
			boxHeight)
		c.text(x+8, y+lineHeight+2, "title", b.title)
		for k, line := range b.says {
			c.text(x+8, y+(k+2)*lineHeight+2, "", line)
		}
		x += boxWidth + gap
	}
	return x
}

func (c *canvas) way(x1, y1, x2, y2 int) {
	fmt.Fprintf(c, "<path class=\"way\" d=\"M%d %dL%d %d\"/>\n", x1, y1, x2, y2)
}

func (c *canvas) text(x, y int, class, text string) {
	fmt.Fprintf(c, "<text class=\"%s\" x=\"%d\" y=\"%d\">%s</text>\n", class, x, y, html.EscapeString(text))
}
