package plot

import (
	"bytes"
	"fmt"
	"html"
	"math"
	"slices"

	"nictwin/scenarios/papers/study"
)

// Sizes of the plot area of a picture and of its margins, in SVG user units. The legend is as wide as its longest name
// and may be higher than the plot. Names of bars that do not fit side by side are slanted.
const (
	innerW, innerH = 480, 300
	left           = 70
	top, bottom    = 40, 60
	legendLine     = 16
	slantBottom    = 150
	ticksWanted    = 6
)

var colours = []string{"#1f77b4", "#d62728", "#2ca02c", "#9467bd", "#ff7f0e", "#8c564b", "#17becf", "#7f7f7f",
	"#bcbd22", "#e377c2"}

// Series draws a series.
func Series(s *study.Series) []byte {
	systems := systemsOf(s)
	c := newCanvas(s, systems)
	c.head(s.Title)
	if s.Bars {
		c.bars(s, systems)
	} else {
		c.lines(s, systems)
	}
	c.legend(systems)
	c.printf("</svg>\n")
	return c.Bytes()
}

func systemsOf(s *study.Series) (names []string) {
	for i := range s.Points {
		if n := s.Points[i].System; !slices.Contains(names, n) {
			names = append(names, n)
		}
	}
	return names
}

type canvas struct {
	bytes.Buffer
	width, height int
	slant         bool // names of bars are slanted
}

// newCanvas returns a canvas large enough for the data, the legend and the names.
func newCanvas(s *study.Series, systems []string) *canvas {
	legend := 0.0
	for _, n := range systems {
		legend = max(legend, textWidth(n))
	}
	c := &canvas{width: left + innerW + 40 + int(legend), height: top + innerH + bottom}
	if names := namesOf(s); len(names) > 0 {
		room := float64(innerW) / float64(len(names))
		c.slant = slices.ContainsFunc(names, func(n string) bool { return textWidth(n) > 2*room })
	}
	if c.slant {
		c.height = top + innerH + slantBottom
	}
	c.height = max(c.height, top+legendLine*(len(systems)+1))
	c.width = max(c.width, int(1.3*textWidth(s.Title))+20) // the title has font size 14
	return c
}

// namesOf returns the names on the axis of a bar chart.
func namesOf(s *study.Series) (names []string) {
	for i := range s.Points {
		if n := s.Points[i].Label; s.Bars && !slices.Contains(names, n) {
			names = append(names, n)
		}
	}
	return names
}

func (c *canvas) printf(format string, a ...any) { fmt.Fprintf(c, format, a...) }

func (c *canvas) head(title string) {
	c.printf(`<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 %d %d" width="%d" height="%d" `+
		`font-family="sans-serif" font-size="11">`+"\n", c.width, c.height, c.width, c.height)
	c.printf(`<rect width="%d" height="%d" fill="white"/>`+"\n", c.width, c.height)
	c.text(float64(c.width)/2, 20, "middle", 14, title)
}

func (c *canvas) text(x, y float64, anchor string, size int, s string) {
	c.printf(`<text x="%.1f" y="%.1f" text-anchor="%s" font-size="%d">%s</text>`+"\n", x, y, anchor, size,
		html.EscapeString(s))
}

func (c *canvas) line(x1, y1, x2, y2 float64, colour string) {
	c.printf(`<line x1="%.1f" y1="%.1f" x2="%.1f" y2="%.1f" stroke="%s"/>`+"\n", x1, y1, x2, y2, colour)
}

func (c *canvas) legend(systems []string) {
	for i, n := range systems {
		y := float64(top + 10 + legendLine*i)
		c.printf(`<rect x="%d" y="%.1f" width="10" height="10" fill="%s"/>`+"\n", left+innerW+12, y-9, colour(i))
		c.text(left+innerW+27, y, "start", 11, n)
	}
}

func colour(i int) string { return colours[i%len(colours)] }

// dashes returns a dash pattern that distinguishes lines of one colour.
func dashes(i int) string {
	if n := i / len(colours); n > 0 {
		return fmt.Sprintf(` stroke-dasharray="%d 3"`, 8/n)
	}
	return ""
}

// lines draws one line for each system.
func (c *canvas) lines(s *study.Series, systems []string) {
	xs, ys := []float64{}, []float64{}
	for i := range s.Points {
		xs, ys = append(xs, s.Points[i].At[0]), append(ys, s.Points[i].Value)
	}
	x, y := newScale(xs, s.Axes[0].Log, false), newScale(ys, s.LogY, true)
	c.axes(&x, &y, s)
	for i, n := range systems {
		var d bytes.Buffer
		for k := range s.Points {
			p := &s.Points[k]
			if p.System != n {
				continue
			}
			px, py := left+innerW*x.place(p.At[0]), top+innerH*(1-y.place(p.Value))
			fmt.Fprintf(&d, "%.1f,%.1f ", px, py)
			c.printf(`<circle cx="%.1f" cy="%.1f" r="2.5" fill="%s"><title>%s</title></circle>`+"\n", px, py, colour(i),
				html.EscapeString(fmt.Sprintf("%s: %.4g, %.4g", n, p.At[0], p.Value)))
		}
		c.printf(`<polyline points="%s" fill="none" stroke="%s"%s/>`+"\n", bytes.TrimSpace(d.Bytes()), colour(i),
			dashes(i))
	}
}

// axes draws both axes of numbers.
func (c *canvas) axes(x, y *scale, s *study.Series) {
	for _, t := range x.ticks() {
		px := left + innerW*x.place(t)
		c.line(px, top+innerH, px, top+innerH+4, "black")
		c.text(px, top+innerH+16, "middle", 11, number(t))
	}
	c.yAxis(y, s)
	c.line(left, top+innerH, left+innerW, top+innerH, "black")
	c.text(left+innerW/2, top+innerH+bottom-15, "middle", 12, label(s.Axes[0].Name, s.Axes[0].Unit))
}

func (c *canvas) yAxis(y *scale, s *study.Series) {
	for _, t := range y.ticks() {
		py := top + innerH*(1-y.place(t))
		c.line(left, py, left+innerW, py, "#dddddd")
		c.text(left-6, py+4, "end", 11, number(t))
	}
	c.line(left, top, left, top+innerH, "black")
	c.printf(`<text transform="translate(16 %d) rotate(-90)" text-anchor="middle" font-size="12">%s</text>`+"\n",
		top+innerH/2,
		html.EscapeString(label(s.Metric, s.Unit)))
}

func label(name, unit string) string {
	if unit == "" {
		return name
	}
	return name + " (" + unit + ")"
}

// bars draws a group of bars for each name: one bar for each system that has a value.
func (c *canvas) bars(s *study.Series, systems []string) {
	names, ys := namesOf(s), []float64{0}
	for i := range s.Points {
		ys = append(ys, s.Points[i].Value)
	}
	y := newScale(ys, false, true)
	c.yAxis(&y, s)
	c.line(left, top+innerH, left+innerW, top+innerH, "black")
	group := float64(innerW) / float64(len(names))
	bar := group * 0.8 / float64(len(systems))
	for i := range s.Points {
		p := &s.Points[i]
		g, k := slices.Index(names, p.Label), slices.Index(systems, p.System)
		h := innerH * y.place(p.Value)
		c.printf(`<rect x="%.1f" y="%.1f" width="%.1f" height="%.1f" fill="%s"><title>%s</title></rect>`+"\n",
			left+group*(float64(g)+0.1)+bar*float64(k), top+innerH-h, bar, h, colour(k),
			html.EscapeString(fmt.Sprintf("%s, %s: %.4g", p.System, p.Label, p.Value)))
	}
	for g, n := range names {
		if c.slant {
			c.printf(`<text transform="translate(%.1f %d) rotate(-35)" text-anchor="end" font-size="10">%s</text>`+"\n",
				left+group*(float64(g)+0.6), top+innerH+14, html.EscapeString(n))
			continue
		}
		c.text(left+group*(float64(g)+0.5), float64(top+innerH+16+12*(g%2)), "middle", 10, n)
	}
}

// scale maps values to the interval from 0 to 1.
type scale struct {
	low, high float64
	log       bool
}

// newScale returns a scale that covers all values, and 0 if zero is set and the scale is linear.
func newScale(values []float64, log, zero bool) scale {
	s := scale{log: log, low: math.Inf(1), high: math.Inf(-1)}
	for _, v := range values {
		if log && v <= 0 {
			continue // without a logarithm: the value is drawn at the lower end of the scale
		}
		s.low, s.high = min(s.low, v), max(s.high, v)
	}
	if s.low > s.high {
		s.low, s.high = 1, 1
	}
	if zero && !log {
		s.low = min(s.low, 0)
		s.high *= 1.05
	}
	if s.low == s.high {
		s.high = s.low + 1
	}
	return s
}

func (s *scale) place(v float64) float64 {
	if !s.log {
		return (v - s.low) / (s.high - s.low)
	}
	if v <= s.low {
		return 0
	}
	return math.Log(v/s.low) / math.Log(s.high/s.low)
}

// ticks returns round numbers within the scale.
func (s *scale) ticks() (list []float64) {
	if s.log {
		return s.powers()
	}
	step := math.Pow10(int(math.Floor(math.Log10((s.high - s.low) / ticksWanted))))
	for _, m := range []float64{1, 2, 5, 10} {
		if (s.high-s.low)/(step*m) <= ticksWanted {
			step *= m
			break
		}
	}
	for i := math.Ceil(s.low / step); i*step <= s.high*(1+1e-9); i++ {
		list = append(list, i*step)
	}
	return list
}

// powers returns the ticks of a logarithmic scale: 1, 2 and 5 times powers of ten, or only the powers if there are
// many.
func (s *scale) powers() (list []float64) {
	steps := []float64{1, 2, 5}
	if s.high/s.low > 1e3 {
		steps = steps[:1]
	}
	for e := math.Floor(math.Log10(s.low)); e <= math.Ceil(math.Log10(s.high)); e++ {
		for _, m := range steps {
			if v := m * math.Pow(10, e); v >= s.low*(1-1e-9) && v <= s.high*(1+1e-9) {
				list = append(list, v)
			}
		}
	}
	return list
}

func number(v float64) string { return fmt.Sprintf("%.4g", v) }
