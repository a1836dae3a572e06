package report

import (
	"bytes"
	"compress/gzip"
	"crypto/sha256"
	_ "embed"
	"encoding/base64"
	"encoding/json"
	"fmt"
	"html/template"
	"path/filepath"
	"slices"
	"strings"
	"sync"

	"nictwin/docs"
	"nictwin/scenarios/observe/result"
)

// inline is the number of findings that are plain HTML in the page, and so need no script.
const inline = 10

var (
	//go:embed page.html
	pageText string
	//go:embed page.css
	style string
	//go:embed page.js
	script string
)

// page returns the template, which is parsed when it is first used, so that other commands start no later.
var page = sync.OnceValue(func() *template.Template {
	return template.Must(template.New("page").Funcs(template.FuncMap{
		"clip": clip, "brief": brief, "comma": comma, "si": si, "join": strings.Join, "base": filepath.Base,
		"rule": docs.Rule, "percent": func(f float64) string { return fmt.Sprintf("%.1f", f) },
		"short": short, "place": place, "duration": duration, "bar": bar, "inc": func(i int) int { return i + 1 },
		"last":    func(list []Past) int { return len(list) - 1 },
		"comma64": func(n uint64) string { return comma(int64(n)) }, "int64": func(n int) int64 { return int64(n) },
		"deref": func(f *float64) float64 { return *f }, "bytes": size,
		"sources": func(f located) []Source { return f.sources() }, "numbers": lines,
	}).Parse(pageText))
})

// pageView holds the data for the template of the page.
type pageView struct {
	*Report
	Style  template.CSS
	Script template.JS
	Policy string // content security policy

	Found      []*item
	First      *item // nil: nothing was found
	Histograms []Histogram
	Statistics []Statistics
	MoreCases  int // number of cases whose statistics are left out
	Data       string
	Verdict    verdict
	Sections   []section
	Home       *result.Home

	dir string // folder of the page
}

// item is a finding on the page.
type item struct {
	*found
	Diff   *Diff
	Inline bool
	Body   template.HTML
}

// verdict is the head of the page.
type verdict struct {
	Class, Word, Title, Sentence string
}

// section is a link to a part of the page.
type section struct{ ID, Title string }

// data is the compressed part of the page.
type data struct {
	Bodies    []string        `json:"bodies"` // HTML of the findings after the first `inline` ones
	Ladders   map[int]*Ladder `json:"ladders"`
	Crossings [][]any         `json:"crossings"`
}

// Page returns the page for a folder; links are relative to it.
func (r *Report) Page(dir string) ([]byte, error) {
	v := &pageView{Report: r, Style: template.CSS(style), Script: template.JS(script), dir: dir,
		Histograms: histograms(r.Runs), Verdict: r.verdict()}
	v.Policy = fmt.Sprintf("default-src 'none'; style-src 'sha256-%s'; script-src 'sha256-%s'; img-src data:; "+
		"base-uri 'none'; form-action 'none'", digest(style), digest(script))
	log := &Log{}
	all, err := ladders(r.found, log)
	if err != nil {
		return nil, fmt.Errorf("report: %w", err)
	}
	d := data{Ladders: all, Bodies: []string{}, Crossings: log.rows()}
	for _, f := range r.found {
		x := &item{found: f, Inline: f.N < inline}
		var b bytes.Buffer
		if err := page().ExecuteTemplate(&b, "body", v.details(f, all[f.N] != nil)); err != nil {
			return nil, fmt.Errorf("report: %w", err)
		}
		if x.Inline {
			x.Body = template.HTML(b.String()) // the template has escaped it
		} else {
			d.Bodies = append(d.Bodies, b.String())
		}
		v.Found = append(v.Found, x)
	}
	if len(v.Found) > 0 {
		v.First = v.Found[0]
		v.First.Diff = diff(v.First.Expected, v.First.Got)
	}
	if v.Data, err = pack(&d); err != nil {
		return nil, err
	}
	for _, run := range r.Runs {
		if v.Home == nil {
			v.Home = run.Object.Home
		}
	}
	if v.Statistics, v.MoreCases, err = statistics(r.Runs); err != nil {
		return nil, fmt.Errorf("report: %w", err)
	}
	v.Sections = v.sections()
	var b bytes.Buffer
	if err := page().Execute(&b, v); err != nil {
		return nil, fmt.Errorf("report: %w", err)
	}
	return b.Bytes(), nil
}

// digest returns the hash by which a content security policy allows a text.
func digest(text string) string {
	sum := sha256.Sum256([]byte(text))
	return base64.StdEncoding.EncodeToString(sum[:])
}

// pack compresses the findings and crossings that the script draws when they are opened.
func pack(d *data) (string, error) {
	text, err := json.Marshal(d)
	if err != nil {
		return "", fmt.Errorf("report: %w", err)
	}
	var b bytes.Buffer
	z, err := gzip.NewWriterLevel(&b, gzip.BestCompression)
	if err == nil {
		_, err = z.Write(text)
	}
	if err == nil {
		err = z.Close()
	}
	if err != nil {
		return "", fmt.Errorf("report: %w", err)
	}
	return base64.RawURLEncoding.EncodeToString(b.Bytes()), nil
}

// rows returns the crossings in short: kind, NIC, port, ordinal, cycles, bytes, queue and text.
func (l *Log) rows() [][]any {
	list := make([][]any, 0, len(l.Crossings))
	for i := range l.Crossings {
		c := &l.Crossings[i]
		queue := -1
		if c.Queue != nil {
			queue = *c.Queue
		}
		list = append(list, []any{c.Kind, c.NIC, c.Port, c.N, c.First, c.Last, c.Bytes, queue, c.Text})
	}
	return list
}

// verdict returns the words at the head of the page.
func (r *Report) verdict() verdict {
	v := verdict{Class: "fail", Word: "FAIL", Title: r.Runs[0].Name}
	if n := len(r.Runs); n > 1 {
		v.Title = fmt.Sprintf("%d runs", n)
	}
	p := present(r.Runs)
	switch r.Result {
	case result.Pass.String():
		v.Class, v.Word = "pass", "PASS"
		v.Sentence = fmt.Sprintf("%s outputs and counters were compared, and nothing differs.", comma(int64(p.Checked)))
	case result.Mismatch.String():
		v.Sentence = fmt.Sprintf("%s of %s.", count(p.Findings, "finding"), count(len(r.Groups), "kind"))
		if p.Mismatches > 0 {
			v.Sentence = fmt.Sprintf("The device differs in %s. Listed here: %s",
				count(int(p.Mismatches), "comparison"), v.Sentence)
		}
	default:
		v.Class, v.Word = "broken", strings.ToUpper(r.Result)
		v.Sentence = "There is no verdict on the device: the run did not get that far."
	}
	return v
}

// count returns a number with its noun: 1 frame, 1,200 frames.
func count(n int, what string) string {
	if n == 1 {
		return "1 " + what
	}
	return comma(int64(n)) + " " + what + "s"
}

// sections lists the parts of the page.
func (v *pageView) sections() []section {
	list := []section{}
	add := func(ok bool, id, title string) {
		if ok {
			list = append(list, section{id, title})
		}
	}
	has := func(holds func(o *result.Object) bool) bool {
		return slices.ContainsFunc(v.Runs, func(r *Run) bool { return holds(r.Object) })
	}
	add(len(v.Found) > 0, "findings", "Findings")
	add(true, "compared", "What was compared")
	add(true, "figures", "Figures")
	add(len(v.Statistics) > 0, "statistics", "Statistics")
	add(len(v.Histograms) > 0, "latency", "Latency")
	add(has(func(o *result.Object) bool { return o.RTLCoverage != nil || o.Fuzz != nil }), "coverage", "Coverage")
	add(true, "files", "Files")
	return list
}

// Has reports whether the page has a section.
func (v *pageView) Has(id string) bool {
	return slices.ContainsFunc(v.Sections, func(s section) bool { return s.ID == id })
}

// NameOf names a run.
func (v *pageView) NameOf(o *result.Object) string { return nameOf(o) }

// IsNew reports whether the earlier report does not have a group.
func (v *pageView) IsNew(g Group) bool {
	return v.Against != nil && slices.ContainsFunc(v.Against.New, func(x Group) bool { return x.key() == g.key() })
}

// OneNIC reports whether all latencies are those of one device.
func (v *pageView) OneNIC() bool {
	return !slices.ContainsFunc(v.Histograms, func(h Histogram) bool { return len(h.Series) > 1 })
}

// Revision returns the revision of the program that ran.
func (v *pageView) Revision() string { return v.Runs[0].Object.Revision }
