package papers

import (
	"math"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"nictwin/scenarios/observe/chart"
	"nictwin/scenarios/papers/claims"
	"nictwin/scenarios/papers/study"
)

// printedClaims has a claim for each way in which a number is drawn.
func printedClaims() []claims.Claim {
	return []claims.Claim{
		{ID: "value", Check: claims.Within, Tolerance: 0.1, Value: claims.Value{Numbers: []float64{10}}},
		{ID: "range", Check: claims.InRange, Bound: "range", Tolerance: 0.5,
			Value: claims.Value{Numbers: []float64{0.1, 0.2}}},
		{ID: "most", Metric: "size", Check: claims.UpperBound, Value: claims.Value{Numbers: []float64{4}}},
		{ID: "two", Check: claims.Within, Tolerance: 0.1, Value: claims.Value{Numbers: []float64{400, 200}}},
		{ID: "shape", Check: claims.Shape},
		{ID: "direction", Check: claims.Direction, Tolerance: 0.5, Value: claims.Value{Numbers: []float64{3}}},
	}
}

func drawing(t *testing.T, p ...study.Printed) (*chart.Chart, error) {
	t.Helper()
	s := study.NewSeries("s", "Rates", "rate", "Gbps", study.Axis{Name: "payload", Unit: "B", Log: true})
	for _, n := range []float64{16, 64, 256} {
		s.Add("base", n, n)
		s.Add("base: part", n/2, n)
		s.Add("other", 2*n, n)
	}
	x := Result{Figures: "section 1", Pictures: map[string]study.Picture{"s": {Figure: "Fig. 4", Printed: p}}}
	return x.draw(s, printedClaims())
}

func TestNumbersOfClaimsAreDrawn(t *testing.T) {
	c, err := drawing(t,
		study.Printed{Claim: "value", System: "other", At: []float64{64}},
		study.Printed{Claim: "range", System: "other", At: []float64{16, 64}, Is: study.Loss,
			Of: study.Base{System: "base"}},
		study.Printed{Claim: "most", Is: study.Position},
		study.Printed{Claim: "two", Number: 1},
		study.Printed{Claim: "direction", System: "base", At: []float64{256}, Is: study.Factor,
			Of: study.Base{At: []float64{16}}},
	)
	require.NoError(t, err)
	require.Equal(t, "Fig. 4: Rates", c.Title)
	require.Equal(t, []string{"base", "base: part", "other"}, []string{c.Series[0].Name, c.Series[1].Name,
		c.Series[2].Name})
	require.Equal(t, "base", c.Series[1].Group, "the parts of a system stay with it")
	require.Len(t, c.Bands, 6)
	require.Equal(t, chart.Band{Name: "paper, other at 64 B: 10 Gbps (±10%)", Series: "other", From: 64, To: 64,
		Values: []float64{10}, Low: 9, High: 11}, c.Bands[0])
	for i, n := range []float64{16, 64} {
		b := c.Bands[1+i]
		require.Equal(t, "paper, other: −10% to −20% against base (±50%)", b.Name)
		require.Equal(t, []float64{n, n}, []float64{b.From, b.To})
		require.InDeltaSlice(t, []float64{0.9 * n, 0.8 * n, 0.7 * n, 0.95 * n}, append(b.Values, b.Low, b.High), 1e-9)
	}
	require.Equal(t, "paper, size: 4 B", c.Bands[3].Name)
	require.Equal(t, []float64{4, 4, math.Inf(-1), math.Inf(1)}, []float64{c.Bands[3].From, c.Bands[3].To,
		c.Bands[3].Low, c.Bands[3].High})
	require.Equal(t, []float64{200}, c.Bands[4].Values)
	require.Equal(t, []float64{chart.AllX, -chart.AllX}, []float64{c.Bands[4].From, c.Bands[4].To})
	require.Equal(t, "paper, base at 256 B: 3 × payload 16 B", c.Bands[5].Name, "no tolerance: nothing is accepted")
	require.Equal(t, []float64{48}, c.Bands[5].Values)
	require.True(t, math.IsNaN(c.Bands[5].Low))
	require.Contains(t, string(chart.SVG(c)), ">paper, other at 64 B: 10 Gbps (±10%)<")
}

func TestNumbersOfClaimsAreDrawnOnBars(t *testing.T) {
	s := study.NewSeries("s", "Parts", "rate", "Gbps", study.Axis{Name: "design"})
	s.Bar("small", "whole", 40)
	s.Bar("small", "part", 10)
	x := Result{Figures: "Table II", Pictures: map[string]study.Picture{"s": {Printed: []study.Printed{
		{Claim: "value", Label: "part"},
		{Claim: "range", System: "small", Label: "part", Is: study.Loss, Of: study.Base{Label: "whole"}},
	}}}}
	c, err := x.draw(s, printedClaims())
	require.NoError(t, err)
	require.Equal(t, "Table II: Parts", c.Title)
	require.Equal(t, []string{"whole", "part"}, c.Names)
	require.Equal(t, []float64{1, 1, 1, 1}, []float64{c.Bands[0].From, c.Bands[0].To, c.Bands[1].From, c.Bands[1].To})
	require.Equal(t, []float64{36, 32}, c.Bands[1].Values)
}

func TestPicturesOfWhatIsNotThere(t *testing.T) {
	_, err := drawing(t, study.Printed{Claim: "nothing"})
	require.EqualError(t, err, "series s: its picture has claim nothing, which is in no file of claims")
	_, err = drawing(t, study.Printed{Claim: "shape"})
	require.EqualError(t, err, "series s: claim shape in its picture: it has no number: want a claim with one")
	_, err = drawing(t, study.Printed{Claim: "value", System: "third"})
	require.EqualError(t, err, "series s: claim value in its picture: system third is not in the series")
	_, err = drawing(t, study.Printed{Claim: "value", Is: study.Gain, Of: study.Base{System: "third"}})
	require.EqualError(t, err, "series s: claim value in its picture: system third is not in the series")
	bars := study.NewSeries("s", "Parts", "rate", "Gbps", study.Axis{Name: "design"})
	bars.Bar("small", "whole", 40)
	for _, p := range []study.Printed{{Claim: "value", Label: "part"},
		{Claim: "value", Is: study.Loss, Of: study.Base{Label: "part"}}} {
		r := Result{Pictures: map[string]study.Picture{"s": {Printed: []study.Printed{p}}}}
		_, err = r.draw(bars, printedClaims())
		require.EqualError(t, err,
			`series s: claim value in its picture: label part is not in the series: want one of ["whole"]`)
	}
	x := &study.Experiment{Name: "x", Pictures: map[string]study.Picture{"s": {}}}
	require.EqualError(t, checkPictures(x, &study.Outcome{}),
		"experiment x: it has a picture of series s, which it did not record")
	require.NoError(t, checkPictures(x, &study.Outcome{Series: []study.Series{{Name: "s"}}}))
}

// TestPicturesFitTheClaims checks that every claim that a picture names exists, and has the number that the picture
// selects by its index.
func TestPicturesFitTheClaims(t *testing.T) {
	all, err := claims.All()
	require.NoError(t, err)
	found := 0
	for _, x := range List {
		for name, p := range x.Pictures {
			for _, d := range p.Printed {
				c := claims.Find(all, d.Claim)
				require.NotNil(t, c, "%s, series %s: %s", x.Name, name, d.Claim)
				require.Greater(t, len(c.Value.Numbers), d.Number, "%s, series %s: %s", x.Name, name, d.Claim)
				found++
			}
		}
	}
	require.Greater(t, found, 30)
}

func TestTables(t *testing.T) {
	s := study.NewSeries("s", "Rates", "rate", "Gbps", study.Axis{Name: "payload", Unit: "B"})
	s.Add("a", 1.23456, 16)
	s.Add("b", 2, 64)
	s.Points[1].Half = 0.04
	require.Equal(t, table{Corner: "payload (B)", Columns: []string{"a", "b"}, Rows: []row{
		{"16", []cell{{Text: "1.235"}}}, {"64", []cell{{}, {Text: "2 ± 0.04"}}},
	}}, pointsOf(s))

	s = study.NewSeries("s", "Rates", "rate", "Gbps", study.Axis{Name: "payload", Unit: "MB", Log: true})
	s.Add("a", 12345, 1)
	s.Add("a", 1, 9)
	s.Add("a", 2, 9.001)
	require.Equal(t, table{Corner: "payload", Columns: []string{"a"}, Rows: []row{
		{"1 MB", []cell{{Text: "12,345"}}}, {"9 MB", []cell{{Text: "1"}}}, {"9 MB (9.001)", []cell{{Text: "2"}}},
	}}, pointsOf(s), "no row hides another")

	l, empty := study.NewLedger("design", 100), study.NewLedger("nothing moved", 0)
	l.Add("DRAM", "reads", 50)
	l.Add("DRAM", "writes", 0)
	l.Add("LLC", "fills", 200)
	require.Equal(t, table{Corner: "design", Columns: []string{"DRAM, reads", "LLC, fills"}, Rows: []row{
		{"design", []cell{{"0.50", 2}, {"2.00", 9}}},
	}}, ledgerOf([]study.Ledger{*l, *empty}))
}

// TestPage checks that a page leads to its experiments, explains its terms, folds tables away and draws inline.
func TestPage(t *testing.T) {
	s := study.NewSeries("s", "a < b", "rate", "Gbps", study.Axis{Name: "payload", Unit: "B"})
	s.Add("one", 1, 16)
	l := study.NewLedger("design", 100)
	l.Add("DRAM", "reads", 50)
	r := Report{Claims: 348, Outputs: 251, Missing: []string{"ceio.lazy.nccl_example"}, Results: []Result{{
		Name: "path/x", Group: "path",
		Title: "X", Figures: "Fig. 1",
		Outcome: study.Outcome{Series: []study.Series{*s}, Ledgers: []study.Ledger{*l}}}}}
	files, err := r.Files()
	require.NoError(t, err)
	require.Equal(t, []string{"path.html", "path-x-s.svg"}, []string{files[0].Name, files[1].Name})
	page := string(files[0].Text)
	for _, want := range []string{`<li><a href="#path-x">path/x: X</a>`, `<h2 id="path-x">`, "<dt>S2H, H2S</dt>",
		"Outputs without an experiment: 1 of 251 outputs among the 348 claims", "<dt>beside</dt>",
		"<details><summary>Points of s</summary>",
		"Fig. 1: a &lt; b",
		"<tr><td>NCCL is not modelled</td><td>ceio.lazy.nccl_example</td></tr>",
		"<p>Fig. 1; counts only", string(files[1].Text)} {
		require.Contains(t, page, want)
	}
	for _, outside := range []string{"<script", "<link", "<img", `src="`, "url("} {
		require.NotContains(t, page, outside, "a page contains all that it shows")
	}
	require.Equal(t, strings.Count(page, "<details>"), strings.Count(page, "</details>"))
	r.Results[0].Pictures = map[string]study.Picture{"s": {Printed: []study.Printed{{Claim: "none"}}}}
	_, err = r.Files()
	require.ErrorContains(t, err, "path/x: series s: its picture has claim none")
}
