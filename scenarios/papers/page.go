package papers

import (
	"bytes"
	_ "embed"
	"fmt"
	"html/template"
	"strings"

	"nictwin/scenarios/papers/plot"
	"nictwin/scenarios/papers/study"
)

// pageFile returns the name of the page with all experiments of a group. Its pictures are also written as files of
// their own.
func pageFile(group string) string { return group + ".html" }

//go:embed page.html
var pageText string

var page = template.Must(template.New("page").Funcs(template.FuncMap{
	"found": func(v Verdict) string { return v.found() }, "tolerance": func(v Verdict) string { return v.tolerance() },
	"value":   func(in study.Input) string { return inputValue(&in) },
	"join":    func(s []string) string { return strings.Join(s, ", ") },
	"numbers": numbers, "precision": func(r Result) string { return r.precision() },
	"picture": func(s study.Series) template.HTML { return template.HTML(plot.Series(&s)) }, // plot escapes texts
	"ledgers": func(r Result) template.HTML { return template.HTML(ledgerTable(&r)) },
	"has":     func(r Result) bool { return len(r.Ledgers) > 0 },
}).Parse(pageText))

// File is a page or a picture, with its name.
type File struct {
	Name string
	Text []byte
}

// Files returns a page for each group that was run, and each picture as a file of its own.
func (r *Report) Files() ([]File, error) {
	var list []File
	for _, g := range Groups {
		part := Report{Summary: r.SummaryOf(g), Missing: r.Missing, Digest: r.Digest}
		for i := range r.Results {
			if r.Results[i].Group == g {
				part.Results = append(part.Results, r.Results[i])
			}
		}
		if len(part.Results) == 0 {
			continue
		}
		var b bytes.Buffer
		if err := page.Execute(&b, &part); err != nil {
			return nil, fmt.Errorf("experiments: page: %w", err)
		}
		list = append(list, File{pageFile(g), b.Bytes()})
	}
	for i := range r.Results {
		x := &r.Results[i]
		name := strings.ReplaceAll(x.Name, "/", "-")
		for k := range x.Series {
			s := &x.Series[k]
			list = append(list, File{name + "-" + strings.ReplaceAll(s.Name, " ", "-") + ".svg", plot.Series(s)})
		}
		if len(x.Ledgers) > 0 {
			list = append(list, File{name + "-ledger.svg", ledgerTable(x)})
		}
	}
	return list, nil
}

// ledgerTable draws the ledgers of an experiment.
func ledgerTable(x *Result) []byte {
	return plot.Ledgers(x.Name+": bytes per byte of payload", x.Ledgers)
}
