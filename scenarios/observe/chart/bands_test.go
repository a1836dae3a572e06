package chart

import (
	"fmt"
	"math"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
)

// TestIntervalsEndAt0 checks that the interval of a value which is not negative has no values below 0, on either kind
// of axis, and that of a negative one has.
func TestIntervalsEndAt0(t *testing.T) {
	low, high := Point{Y: 42, Half: 87}.ends()
	require.Equal(t, []float64{0, 129}, []float64{low, high})
	low, _ = Point{Y: -1, Half: 2}.ends()
	require.InDelta(t, -3, low, 0)
	c := Chart{Series: []Series{{Points: []Point{{X: 1, Y: 42, Half: 87}, {X: 2, Y: 5, Half: 1}}}}}
	require.Zero(t, c.yScale(c.Series).low)
	c.Y.Log = true
	require.False(t, c.yScale(c.Series).floor, "no place for 0 beside values that have a logarithm")
	require.Positive(t, c.yScale(c.Series).low)
}

// TestColoursHaveOneMeaning checks that no two series of a chart share a colour, that a repeated one keeps its own, and
// that bands have the colour of their series.
func TestColoursHaveOneMeaning(t *testing.T) {
	c := &Chart{}
	for i := range 9 {
		c.Series = append(c.Series, Series{Name: fmt.Sprint(i), Points: []Point{{X: 1, Y: 1}}, Repeated: i == 0})
	}
	c = c.numbered()
	seen := map[string]string{}
	panels := c.panels()
	require.Len(t, panels, 2)
	require.Equal(t, []string{"0", "5"}, []string{panels[1][0].Name, panels[1][1].Name})
	for _, panel := range panels {
		for i := range panel {
			colour := fmt.Sprint(colourOf(&panel[i]))
			if of, ok := seen[colour]; ok {
				require.Equal(t, of, panel[i].Name)
			}
			seen[colour] = panel[i].Name
		}
	}
	require.Len(t, seen, len(c.Series))
	bands := []Band{{Name: "a", Series: "7"}, {Name: "b", Series: "7"}, {Name: "b", Series: "7"}, {Name: "c"}}
	styles := bandStyles(panels[1], bands, false)
	require.Equal(t, colours[7], styles[0].colour)
	require.Equal(t, paper, styles[3].colour)
	require.NotEqual(t, styles[0].dashes, styles[1].dashes, "two bands of one series")
	require.Equal(t, styles[1].dashes, styles[2].dashes, "one of the legend")
	require.Equal(t, darker(colours[7]), bandStyles(panels[1], bands, true)[0].colour)
}

// TestStripsHaveOneColour checks that curves with a panel each have the first colour.
func TestStripsHaveOneColour(t *testing.T) {
	c := &Chart{Strips: true}
	for i := range 3 {
		c.Series = append(c.Series, Series{Name: fmt.Sprint(i), Points: []Point{{X: 1, Y: 1}, {X: 2, Y: 2}}})
	}
	second := fmt.Sprintf("#%02X%02X%02X", colours[1].R, colours[1].G, colours[1].B)
	require.NotContains(t, string(SVG(c)), second)
	c.Strips = false
	require.Contains(t, string(SVG(c)), second)
}

// TestRepeatedSeriesNeedRoom checks that a full panel repeats nothing.
func TestRepeatedSeriesNeedRoom(t *testing.T) {
	c := &Chart{Series: []Series{{Name: "one", Group: "a", Repeated: true}}}
	for i := range maxSeries {
		c.Series = append(c.Series, Series{Name: fmt.Sprint(i), Group: "b"})
	}
	require.Len(t, c.panels()[1], maxSeries)
}

// TestBandsStandSideBySide checks that bands of one place share its width where they overlap, only there.
func TestBandsStandSideBySide(t *testing.T) {
	nan := math.NaN()
	bands := []Band{
		{Values: []float64{10}, Low: 8, High: 12}, {Values: []float64{13}, Low: 11, High: 15},
		{Values: []float64{48}, Low: nan, High: nan}, {Low: 14, High: 20}, {From: 5, To: 5, Low: 8, High: 20},
	}
	at := func(x float64) func(*Band) bool { return func(b *Band) bool { return b.From == x } }
	for i, want := range [][2]int{{0, 3}, {1, 3}, {0, 1}, {2, 3}} {
		turn, of := lane(bands, i, at(0))
		require.Equal(t, want, [2]int{turn, of}, "band %d", i)
	}
	turn, of := lane(bands, 4, at(5))
	require.Equal(t, [2]int{0, 1}, [2]int{turn, of}, "another place")
	from, to := part(10, 40, 1, 3)
	require.InDeltaSlice(t, []float64{20, 30}, []float64{float64(from), float64(to)}, 1e-9)
	inf := math.Inf(1)
	require.False(t, (&Band{From: 5, To: 5, Low: -inf, High: inf}).isPlace(), "a position marks all values")
	require.False(t, bands[2].shaded(), "a value that nothing is accepted for")
}

// TestBarsOnALogarithmicAxis checks that a bar of a thousandth is seen.
func TestBarsOnALogarithmicAxis(t *testing.T) {
	c := Chart{Names: []string{"a", "b"}, Y: Axis{Log: true},
		Series: []Series{{Points: []Point{{X: 0, Y: 10}, {X: 1, Y: 0.01}}}}}
	s := c.yScale(c.Series)
	require.Greater(t, s.place(0.01), 0.03)
	require.Zero(t, s.place(0), "the foot of the bars")
	c.Y.Log = false
	require.Zero(t, c.yScale(c.Series).low)
}

// TestPointsApart checks that unjoined points have no line, in the plot and in the legend.
func TestPointsApart(t *testing.T) {
	c := Chart{Series: []Series{{Name: "one", Points: []Point{{X: 0, Y: 1}, {X: 9, Y: 2}}}}}
	colour := fmt.Sprintf("stroke:#%02X%02X%02X", colours[0].R, colours[0].G, colours[0].B)
	line := func() int { return strings.Count(string(SVG(&c)), colour) }
	joined := line()
	c.Apart = true
	require.Equal(t, joined-2, line())
}
