package plot

import (
	"encoding/xml"
	"errors"
	"fmt"
	"io"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"nictwin/scenarios/papers/study"
)

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

func TestEveryPointIsDrawn(t *testing.T) {
	x := study.NewSeries("x", "a < b & c", "rate", "M/s", study.Axis{Name: "size", Unit: "B", Log: true})
	for i := range 5 {
		x.Add("one", float64(i), float64(int(1)<<i))
		x.Add("two", 3, float64(int(1)<<i))
	}
	got := elements(t, Series(x))
	require.Equal(t, 10, got["circle"])
	require.Equal(t, 2, got["polyline"])
	require.Equal(t, string(Series(x)), string(Series(x)))

	b := study.NewSeries("b", "bars", "rate", "", study.Axis{Name: "kind"})
	b.Bar("one", "r", 1)
	b.Bar("two", "w", 0)
	require.Equal(t, 2+2+1, elements(t, Series(b))["rect"], "bars, legend and ground")
}

// TestCrowdedPictures checks that names that do not fit side by side are slanted, that the picture grows for a long
// legend, and that the eleventh line differs from the first.
func TestCrowdedPictures(t *testing.T) {
	b := study.NewSeries("b", "bars", "rate", "", study.Axis{Name: "kind"})
	for i := range 12 {
		b.Bar("a system with a name of some length", fmt.Sprintf("a design with a long name %d", i), 1)
	}
	require.Equal(t, 12, strings.Count(string(Series(b)), "rotate(-35)"))
	x := study.NewSeries("x", "lines", "rate", "", study.Axis{Name: "size"})
	for i := range 30 {
		x.Add(strings.Repeat("long ", 20)+fmt.Sprint(i), 1, 1)
	}
	c := newCanvas(x, systemsOf(x))
	require.Greater(t, c.height, 30*legendLine)
	require.Greater(t, c.width, left+innerW+100*6)
	require.Equal(t, 20, strings.Count(string(Series(x)), "stroke-dasharray"))
}

func TestLedgerTable(t *testing.T) {
	var list []study.Ledger
	for i := range 40 {
		l := study.NewLedger(fmt.Sprintf("design <%d>", i), 100)
		l.Add("DRAM", "reads", uint64(i))
		l.Add("DRAM", "writes", 0)
		l.Add("LLC", "fills", 200)
		list = append(list, *l)
	}
	list = append(list, *study.NewLedger("nothing moved", 0))
	svg := Ledgers("all", list)
	require.Equal(t, 1+40*2, elements(t, svg)["rect"], "ground, and two columns: one has nothing in any design")
	require.Contains(t, string(svg), "design &lt;39&gt;; LLC, fills: 2<")
	require.NotContains(t, string(svg), "nothing moved")
	require.Equal(t, string(svg), string(Ledgers("all", list)))
	require.Equal(t, 1, elements(t, Ledgers("none", nil))["svg"])
}

func TestScales(t *testing.T) {
	s := newScale([]float64{1, 1000}, true, false)
	require.InDelta(t, 0.5, s.place(31.622776), 1e-6)
	require.Equal(t, []float64{1, 2, 5, 10, 20, 50, 100, 200, 500, 1000}, s.ticks())
	s = newScale([]float64{0, 10}, false, false)
	require.Equal(t, []float64{0, 2, 4, 6, 8, 10}, s.ticks())
	s = newScale([]float64{3, 3}, false, false)
	require.InDelta(t, 0, s.place(3), 1e-9)
	require.NotEmpty(t, s.ticks())
	s = newScale(nil, true, false)
	require.NotEmpty(t, s.ticks())
}
