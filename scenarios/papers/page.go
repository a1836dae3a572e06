package papers

import (
	"bytes"
	_ "embed"
	"fmt"
	"html/template"
	"strings"

	"nictwin/scenarios/observe/chart"
	"nictwin/scenarios/papers/claims"
	"nictwin/scenarios/papers/study"
)

// pageFile returns the name of the page with all experiments of a group. Its pictures are also written as files of
// their own.
func pageFile(group string) string { return group + ".html" }

//go:embed page.html
var pageText string

var page = template.Must(template.New("page").Funcs(template.FuncMap{
	"found": func(v Verdict) string { return v.found() }, "marked": func(v Verdict) string { return v.marked() },
	"spread":    func(v Verdict) string { return v.spread() },
	"tolerance": func(v Verdict) string { return v.tolerance() },
	"value":     func(in study.Input) string { return inputValue(&in) },
	"join":      func(s []string) string { return strings.Join(s, ", ") },
	"numbers":   numbers, "precision": func(r Result) string { return r.precision() },
	"anchor": func(name string) string { return strings.ReplaceAll(name, "/", "-") },
	"points": func(s study.Series) table { return pointsOf(&s) },
	"ledger": func(r Result) table { return ledgerOf(r.Ledgers) },
}).Parse(pageText))

// groupPage holds the content of a group's page.
type groupPage struct {
	Group    string
	Glossary []term
	*Report
	Gaps     []gap
	Pictures map[string][]template.HTML // by experiment, one for each series
}

// File is a page or a picture, with its name.
type File struct {
	Name string
	Text []byte
}

// Files returns a page for each group that was run, and each picture as a file of its own.
func (r *Report) Files() ([]File, error) {
	all, err := claims.All()
	if err != nil {
		return nil, err
	}
	gaps, err := gapsOf(r.Missing)
	if err != nil {
		return nil, err
	}
	var pages, list []File
	pictures := map[string][]template.HTML{}
	for i := range r.Results {
		x := &r.Results[i]
		for k := range x.Series {
			s := &x.Series[k]
			c, err := x.draw(s, all)
			if err != nil {
				return nil, fmt.Errorf("%s: %w", x.Name, err)
			}
			svg := chart.SVG(c)
			list = append(list, File{pictureFile(x.Name, s.Name), svg})
			pictures[x.Name] = append(pictures[x.Name], template.HTML(svg)) // chart escapes texts
		}
	}
	for _, g := range Groups {
		part := Report{Summary: r.SummaryOf(g), Missing: r.Missing, Outputs: r.Outputs, Claims: r.Claims,
			Digest: r.Digest}
		for i := range r.Results {
			if r.Results[i].Group == g {
				part.Results = append(part.Results, r.Results[i])
			}
		}
		if len(part.Results) == 0 {
			continue
		}
		var b bytes.Buffer
		if err := page.Execute(&b, &groupPage{g, glossary(g), &part, gaps, pictures}); err != nil {
			return nil, fmt.Errorf("experiments: page: %w", err)
		}
		pages = append(pages, File{pageFile(g), b.Bytes()})
	}
	return append(pages, list...), nil
}

// pictureFile returns the name of the file with the picture of a series.
func pictureFile(experiment, series string) string {
	return strings.ReplaceAll(experiment, "/", "-") + "-" + strings.ReplaceAll(series, " ", "-") + ".svg"
}
