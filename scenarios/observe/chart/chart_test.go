package chart

import (
	"encoding/xml"
	"errors"
	"flag"
	"fmt"
	"io"
	"math"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
	"gonum.org/v1/plot/vg/draw"
	"gonum.org/v1/plot/vg/vgsvg"
)

var update = flag.Bool("update", false, "write the pictures that the tests compare with")

// elements checks that a picture is well-formed XML, and counts its elements.
func elements(t *testing.T, svg []byte) map[string]int {
	t.Helper()
	n := map[string]int{}
	d := xml.NewDecoder(strings.NewReader(string(svg)))
	for {
		tok, err := d.Token()
		if errors.Is(err, io.EOF) {
			return n
		}
		require.NoError(t, err)
		if s, ok := tok.(xml.StartElement); ok {
			n[s.Name.Local]++
		}
	}
}

// examples has a chart of each kind.
func examples() map[string]*Chart {
	curve := func(name string, half float64, ys ...float64) Series {
		s := Series{Name: name}
		for i, y := range ys {
			s.Points = append(s.Points, Point{X: math.Pow(4, float64(i+3)), Y: y, Half: half})
		}
		return s
	}
	inf := math.Inf(1)
	return map[string]*Chart{
		"curves": {
			Title: "Fig. 4: a < b & c", X: Axis{Name: "payload", Unit: "B", Log: true},
			Y: Axis{Name: "latency", Unit: "us"},
			Series: []Series{
				curve("one", 0.05, 2, 2.1, 2.5), curve("two", 0, 2.4, 2.5, 2.9), curve("three", 0, 2.4, 2.5, 2.9),
			},
			Bands: []Band{
				{Name: "paper, two: 2.2 to 2.6", Series: "two", From: 64, To: 64, Values: []float64{2.2, 2.6},
					Low: 2.1, High: 2.8},
				{Name: "paper: at most 3", From: AllX, To: -AllX, Values: []float64{3}, Low: -inf, High: 3},
			},
		},
		"bars": {
			Title: "Parts", X: Axis{Name: "design"}, Y: Axis{Name: "throughput", Unit: "Gbps"},
			Names: []string{"complete", "without a part that has a long name", "no bar"},
			Series: []Series{
				{Name: "small", Points: []Point{{X: 0, Y: 40, Half: 2}, {X: 1, Y: 8}}},
				{Name: "large", Points: []Point{{X: 0, Y: 90}}},
			},
			Bands: []Band{{Name: "paper: −67%", Series: "small", From: 1, To: 1, Values: []float64{13}, Low: 10,
				High: 16}},
		},
		"powers": {
			Title: "Packets", X: Axis{Name: "payload", Unit: "MB", Log: true}, Y: Axis{Name: "packets", Log: true},
			Series: []Series{curve("some", 0, 1, 100, 10_000), curve("none", 0, 0, 0, 0)},
		},
	}
}

// TestPictures compares pictures with those in testdata, byte by byte. go test -update writes these.
func TestPictures(t *testing.T) {
	for name, c := range examples() {
		t.Run(name, func(t *testing.T) {
			svg := SVG(c)
			require.Equal(t, string(svg), string(SVG(c)))
			elements(t, svg)
			file := filepath.Join("testdata", name+".svg")
			if *update {
				require.NoError(t, os.WriteFile(file, svg, 0o644))
			}
			want, err := os.ReadFile(file)
			require.NoError(t, err)
			require.Equal(t, string(want), string(svg))
		})
	}
}

// TestTextsAreText checks that texts are escaped, have the width of their layout, and name fonts once.
func TestTextsAreText(t *testing.T) {
	svg := string(SVG(examples()["curves"]))
	require.Contains(t, svg, "<title>Fig. 4: a &lt; b &amp; c</title>")
	require.Equal(t, strings.Count(svg, "<text "), strings.Count(svg, "textLength="))
	require.Equal(t, 1, strings.Count(svg, "font-family"))
	require.NotContains(t, svg, "<?xml")
	require.NotContains(t, svg, "<!--")
}

func TestLegendSaysWhatCoincides(t *testing.T) {
	svg := string(SVG(examples()["curves"]))
	require.Contains(t, svg, ">three (coincides with two)<")
	require.NotContains(t, svg, "two (coincides")
	require.Contains(t, svg, ">95% confidence interval<")
	require.Contains(t, svg, ">paper: at most 3<")
	k := newCurves(examples()["curves"].Series, nil, scale{low: 64, high: 1024, log: true}, scale{low: 2, high: 3})
	require.Equal(t, []int{0, 1, 1}, k.same)
	require.Equal(t, k.line(1).Dashes, k.line(2).Dashes, "stripes of one length")
	require.NotEqual(t, k.line(1).DashOffs, k.line(2).DashOffs, "which take turns")
	require.Zero(t, k.aside(1, 0))
	require.NotZero(t, k.aside(2, 0), "the second marker in one place is moved")
	require.NotEqual(t, k.line(0).Dashes, k.line(1).Dashes)
}

// TestNamesOfBarsAreClearOfTheAxis checks that an axis of names has room for a gap between its line and the names.
func TestNamesOfBarsAreClearOfTheAxis(t *testing.T) {
	p := newPanel(examples()["bars"], examples()["bars"].Series, scale{high: 1})
	require.GreaterOrEqual(t, p.plot.X.Tick.Length.Points(), 3.0)
	require.Positive(t, p.plot.X.Tick.Width, "gonum leaves no room for ticks that it does not draw")
	require.Equal(t, white, p.plot.X.Tick.Color)
}

// TestPanels checks that series are divided evenly, at most six to a panel, and groups are kept together.
func TestPanels(t *testing.T) {
	sizes := func(c *Chart) (n []int) {
		for _, p := range c.panels() {
			n = append(n, len(p))
		}
		return n
	}
	many := func(groups ...int) *Chart {
		c := &Chart{}
		for g, n := range groups {
			for range n {
				c.Series = append(c.Series, Series{Name: fmt.Sprint("series ", len(c.Series)), Group: fmt.Sprint(g),
					Points: []Point{{X: 1, Y: 1}, {X: 2, Y: 2}}})
			}
		}
		return c
	}
	require.Equal(t, []int{6}, sizes(many(1, 1, 1, 1, 1, 1)))
	require.Equal(t, []int{4, 3}, sizes(many(1, 1, 1, 1, 1, 1, 1)))
	require.Equal(t, []int{5, 6}, sizes(many(1, 1, 1, 1, 1, 3, 3)))
	require.Equal(t, []int{3, 5}, sizes(many(1, 1, 1, 3, 1, 1)))
	require.Equal(t, []int{6, 3}, sizes(many(9)), "a group that does not fit is divided")
	c := many(3, 3)
	c.Strips = true
	require.Equal(t, []int{1, 1, 1, 1, 1, 1}, sizes(c))
	svg := string(SVG(c))
	for i := range c.Series {
		require.Contains(t, svg, fmt.Sprintf(">series %d<", i))
	}
	c = many(maxStrips + 1)
	c.Strips = true
	require.Equal(t, []int{6, 6, 6, 6, 1}, sizes(c))
	require.Equal(t, []int{0}, sizes(&Chart{}))
	require.Equal(t, 1, elements(t, SVG(&Chart{Title: "empty"}))["svg"])
}

// TestAxesShowDifferences checks that, on an axis of curves, a difference of a fifth takes at least a fiftieth of the
// axis, whatever other values there are, and that noise does not fill the axis.
func TestAxesShowDifferences(t *testing.T) {
	for _, values := range [][]float64{{100, 120}, {190, 191, 228}, {1, 100, 1.2}, {5, 6, 5000}} {
		s := yScale(values, false, false)
		low, high, _ := extent(values)
		require.Greater(t, s.place(low*1.2)-s.place(low), 0.02, "%v", values)
		require.Positive(t, s.place(low))
		require.Less(t, s.place(high), 1.0)
	}
	s := yScale([]float64{194.86, 195.03}, false, false)
	require.Less(t, s.place(195.03)-s.place(194.86), 0.01)
	require.Zero(t, yScale([]float64{5, 6}, false, true).low, "an axis that begins at 0")
	require.Zero(t, yScale([]float64{0, 200}, false, false).low)
	require.Less(t, yScale([]float64{-5, 6}, false, true).low, -5.0)
	s = yScale([]float64{0, 1, 1000}, true, false)
	require.True(t, s.floor)
	require.Zero(t, s.place(0))
	require.Positive(t, s.place(1))
	s = yScale([]float64{math.NaN(), math.Inf(1), 5}, false, false)
	require.False(t, math.IsInf(s.high, 0) || math.IsNaN(s.low))
	require.Greater(t, yScale(nil, true, false).high, yScale(nil, true, false).low)
	require.Greater(t, xScale([]float64{3, 3}, true).high, 3.0)
}

// TestLongIntervalsEndInArrows checks that an interval does not take the axis from the values.
func TestLongIntervalsEndInArrows(t *testing.T) {
	for half, segments := range map[float64]int{20: 3, 90: 4} { // an arrow has two, a line across has one
		p := Point{X: 1, Y: 40, Half: half}
		c := &Chart{Series: []Series{{Name: "s", Points: []Point{p, {X: 2, Y: 60}}}}}
		y := c.yScale(c.Series)
		require.Less(t, y.high, 60*(1+farthest)*1.1)
		require.Greater(t, y.high, 60.0)
		canvas := vgsvg.New(100, 100)
		drawError(draw.New(canvas), 50, p, y, black)
		var svg strings.Builder
		_, err := canvas.WriteTo(&svg)
		require.NoError(t, err)
		require.Equal(t, segments, strings.Count(svg.String(), "L"))
	}
}

func TestTicks(t *testing.T) {
	labels := func(s scale) (list []string) {
		for _, x := range s.Ticks(s.low, s.high) {
			if x.Label != "" {
				list = append(list, x.Label)
			}
		}
		return list
	}
	require.Equal(t, []string{"0", "50", "100", "150", "200"}, labels(scale{low: -1, high: 203, ticks: ticksWanted}))
	require.Equal(t, []string{"1", "2", "5", "10", "20", "50", "100"}, labels(scale{low: 1, high: 100, log: true}))
	require.Equal(t, []string{"1", "10", "100", "1000", "10,000"}, labels(scale{low: 1, high: 1e4, log: true}))
	require.Equal(t, []string{"2", "3", "4"}, labels(scale{low: 1.8, high: 4.4, log: true}))
	require.Equal(t, "0", labels(scale{low: 0.5, high: 100, log: true, floor: true})[0])
	for v, want := range map[float64]string{64: "64 B", 511: "511 B", 1024: "1 KB", 1536: "1.5 KB",
		9000: "9000 B", 3194880: "3.05 MB", 9 << 20: "9 MB", 1 << 31: "2 GB"} {
		require.Equal(t, want, size(v))
	}
	a := Axis{Name: "range", Unit: "KB", Log: true}
	require.Equal(t, "48 KB", a.Tick(48))
	require.Equal(t, "48 KB", a.Text(48))
	require.Equal(t, "range", a.Label(), "its unit is at the ticks")
	a = Axis{Name: "time", Unit: "us"}
	require.Equal(t, "5 µs", a.Text(5))
	require.Equal(t, "-138,020", Number(-138020))
	require.Equal(t, "0.0001235", Number(0.00012346))
	p := places{scale: scale{low: 0, high: 10}, at: []float64{1, 1.1, 5}, label: Number,
		width: func(string) float64 { return 0.1 }}
	require.Equal(t, []string{"1", "", "5"}, []string{p.Ticks(0, 10)[0].Label, p.Ticks(0, 10)[1].Label,
		p.Ticks(0, 10)[2].Label}, "no room for the second")
	p.scale, p.bytes, p.at = scale{low: 1, high: 4, log: true}, 1024, nil
	for v := range 20 {
		p.at = append(p.at, 1+float64(v)/7)
	}
	require.Len(t, p.Ticks(1, 4), 3, "1, 2 and 4 KB")
	p = places{scale: scale{low: 2, high: 90, log: true}, at: []float64{2.62144, 20, 83.88608}, label: Number,
		width: p.width}
	require.Equal(t, scale{low: 2, high: 90, log: true}.Ticks(2, 90), p.Ticks(2, 90), "round, as points are not")
}
