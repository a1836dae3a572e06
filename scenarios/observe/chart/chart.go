package chart

import "slices"

// Chart is the content of a picture: curves or, if Names are given, bars.
type Chart struct {
	Title  string
	X, Y   Axis
	Names  []string // of the groups of bars, in order; empty: curves
	Series []Series
	Bands  []Band

	// Strips gives each curve a low panel of its own, with its own Y axis, unless there are too many.
	Strips bool

	// Apart leaves the points of curves unjoined, where nothing between them was measured.
	Apart bool
}

// Axis describes an axis. The range follows from the points and bands.
type Axis struct {
	Name string
	Unit string // B, KB, MB: a logarithmic axis has binary multiples of bytes
	Log  bool
	Zero bool // the axis begins at 0; that of bars always does
}

// Series is one curve, or the bars of one colour.
type Series struct {
	Name   string
	Group  string // successive series of one group stay in one panel, if they fit
	Points []Point

	// Repeated series are also drawn in the panels of the others, to compare these with, where there is room.
	Repeated bool

	look int // index in the chart, which selects the colour: it means the same in all panels
}

// Point is one point of a curve, or one bar.
type Point struct {
	X    float64 // of a bar: index of its name
	Y    float64
	Half float64 // half of the interval that is drawn as an error bar; 0: none
}

// ends returns the ends of the interval. That of a value which is not negative ends at 0, as what is measured (a rate,
// a time, a share) has no values below.
func (p Point) ends() (low, high float64) {
	low, high = p.Y-p.Half, p.Y+p.Half
	if p.Y >= 0 {
		low = max(low, 0)
	}
	return low, high
}

// Band is a value, or a range of values, to compare a series with.
type Band struct {
	Name     string  // in the legend; bands of one name have one entry
	Series   string  // the series that it belongs to; empty: every one
	From, To float64 // part of the X axis; of bars: indices of names. From = To: that place only
	Values   []float64
	Low      float64 // lower end of the shaded range; -Inf: the end of the axis
	High     float64 // upper end; +Inf: the end of the axis
}

// AllX is a Band's From, and negated its To, if the band is as wide as the chart.
const AllX = -1e300

// Limits of a chart: series in a panel, and strips.
const (
	maxSeries = 6
	maxStrips = 24
)

// strips reports whether each series has a strip.
func (c *Chart) strips() bool { return c.Strips && len(c.Series) > 1 && len(c.Series) <= maxStrips }

// panels divides series among as few panels as possible, whose largest is as small as possible.
func (c *Chart) panels() [][]Series {
	if c.strips() {
		return slices.Collect(slices.Chunk(c.Series, 1))
	}
	least := c.divide(maxSeries)
	for most := 1; most < maxSeries; most++ {
		if list := c.divide(most); len(list) == len(least) {
			least = list
			break
		}
	}
	for i := range least {
		least[i] = c.repeated(least[i])
	}
	return least
}

// repeated returns a panel's series behind those that every panel repeats, as far as there is room.
func (c *Chart) repeated(panel []Series) []Series {
	var list []Series
	for i := range c.Series {
		s := &c.Series[i]
		if s.Repeated && index(panel, s.Name) < 0 && len(list)+len(panel) < maxSeries {
			list = append(list, *s)
		}
	}
	return append(list, panel...)
}

// numbered returns the chart with its series numbered.
func (c *Chart) numbered() *Chart {
	n := *c
	n.Series = slices.Clone(c.Series)
	for i := range n.Series {
		n.Series[i].look = i
	}
	return &n
}

// divide fills panels with groups up to a number of series; a larger group has a panel of its own.
func (c *Chart) divide(most int) (list [][]Series) {
	var panel []Series
	for i := 0; i < len(c.Series); {
		size := c.groupAt(i)
		if len(panel) > 0 && len(panel)+size > most {
			list, panel = append(list, panel), nil
		}
		panel = append(panel, c.Series[i:i+size]...)
		i += size
	}
	return append(list, panel)
}

// groupAt returns the number of successive series of a group from the i-th on, at most maxSeries.
func (c *Chart) groupAt(i int) int {
	n := 1
	for i+n < len(c.Series) && n < maxSeries && c.Series[i].Group != "" && c.Series[i+n].Group == c.Series[i].Group {
		n++
	}
	return n
}

// bandsOf returns the bands of a panel's series, and those that belong to all series.
func (c *Chart) bandsOf(panel []Series) (list []Band) {
	for _, b := range c.Bands {
		if b.Series == "" || index(panel, b.Series) >= 0 {
			list = append(list, b)
		}
	}
	return list
}

func index(list []Series, name string) int {
	for i := range list {
		if list[i].Name == name {
			return i
		}
	}
	return -1
}
