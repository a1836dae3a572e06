package report

import (
	"encoding/json"
	"fmt"
	"path/filepath"

	"nictwin/scenarios/observe/result"
	"nictwin/scenarios/shell/files"
)

// Report is the content of a page.
type Report struct {
	Runs    []*Run
	Result  string
	Groups  []Group
	Figures []Figure
	Against *Against
	History []Past

	found []*found
}

// New returns the report of runs.
func New(runs []*Run) *Report {
	r := &Report{Runs: runs, Figures: figures(runs), Result: present(runs).Result, History: []Past{present(runs)}}
	r.found, r.Groups = findings(runs)
	return r
}

// Compare compares the report with the one in a folder, or with the artifacts there, and continues its history.
func (r *Report) Compare(dir string) error {
	old, err := earlier(dir)
	if err != nil {
		return fmt.Errorf("--against %s: %w", dir, err)
	}
	r.History = append(old.History, r.History...)
	r.History = r.History[max(0, len(r.History)-maxHistory):]
	r.Against = &Against{Folder: dir, Past: old.History[len(old.History)-1], New: absent(r.Groups, old.Groups),
		Gone: absent(old.Groups, r.Groups)}
	for i := range r.Figures {
		for k := range old.Figures {
			if old.Figures[k].Name == r.Figures[i].Name {
				r.Figures[i].Before = &old.Figures[k].Value
			}
		}
	}
	return nil
}

// json returns what report.json holds.
func (r *Report) json() *JSON {
	j := &JSON{Schema: Schema, Result: r.Result, Runs: played(r.Runs), Groups: r.Groups, Figures: r.Figures,
		Against: r.Against, History: r.History}
	if j.Groups == nil {
		j.Groups = []Group{}
	}
	if a := j.Against; a != nil {
		a.New, a.Gone = append([]Group{}, a.New...), append([]Group{}, a.Gone...)
	}
	return j
}

// Write writes the page and report.json into a folder; links on the page are relative to it.
func (r *Report) Write(dir *files.Folder) error {
	text, err := json.MarshalIndent(r.json(), "", "  ")
	if err != nil {
		return fmt.Errorf("report: %w", err)
	}
	if err := r.WritePage(dir); err != nil {
		return err
	}
	return dir.Write(result.ReportFile, append(text, '\n'))
}

// WritePage writes the page into a folder; its links are relative to it.
func (r *Report) WritePage(dir *files.Folder) error {
	text, err := r.Page(dir.Path("."))
	if err != nil {
		return err
	}
	return dir.Write(result.PageFile, text)
}

// link returns the address of a file relative to the page's folder, or an empty string.
func link(from, to string) string {
	a, errA := filepath.Abs(from)
	b, errB := filepath.Abs(to)
	if errA != nil || errB != nil {
		return ""
	}
	rel, err := filepath.Rel(a, b)
	if err != nil {
		return ""
	}
	if filepath.IsLocal(rel) { // without ./, a name such as a:b would be read as a URL of scheme a
		return "./" + filepath.ToSlash(rel)
	}
	return filepath.ToSlash(rel)
}
