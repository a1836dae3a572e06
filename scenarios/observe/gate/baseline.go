// Package gate compares the artifacts of runs with a baseline that earlier runs left, and reports what got worse: new
// mismatches, lost coverage, missed scores (goals of command bench, claims), fewer comparisons, or more time per
// comparison.
//
// Shards of one run count as one run. What got better is not reported; to make it the new standard, write the baseline
// anew.
package gate

import (
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"unicode"

	"nictwin/scenarios/coverage"
	bins "nictwin/scenarios/fuzz/coverage"
	"nictwin/scenarios/observe/result"
	"nictwin/scenarios/shell/files"
)

// schema is the version of the baseline's format.
const schema = 1

// Baseline holds the facts about runs with which later runs are compared.
type Baseline struct {
	Schema   int    `json:"schema"`
	Revision string `json:"revision"` // of the program that wrote it
	Runs     []*Run `json:"runs"`     // in order of their names
}

// Run is one run, or the shards of one.
type Run struct {
	Name     string              `json:"name"` // command and device
	Checked  uint64              `json:"checked"`
	WallS    float64             `json:"wall_s"`
	Cases    []string            `json:"cases,omitempty"`    // scenarios, captures or blocks
	Findings []string            `json:"findings,omitempty"` // kinds of known mismatches
	Bins     map[string][]string `json:"bins,omitempty"`     // of the contract that were hit, by group
	RTL      *Hit                `json:"rtl,omitempty"`      // points of the RTL that were hit
	Scores   []string            `json:"scores,omitempty"`   // figures of bench within their goal, passed claims

	folders []string
	shards  []*result.Object // summaries, in the order of folders
	bins    *bins.Report
	found   map[string]*result.Finding // first finding of each kind
	errors  []string                   // an error for each shard without a verdict
}

// Hit counts the points of the RTL that were hit.
type Hit struct {
	Lines int `json:"lines"`
	Bits  int `json:"bits"`
}

// Read reads a baseline.
func Read(path string) (*Baseline, error) {
	const most = 64 << 20
	text, err := files.Read(path, most)
	if err != nil {
		return nil, err
	}
	b := &Baseline{}
	d := json.NewDecoder(strings.NewReader(string(text)))
	d.DisallowUnknownFields()
	if err := d.Decode(b); err != nil || b.Schema != schema || len(b.Runs) == 0 || d.More() {
		return nil, fmt.Errorf("%s: is no baseline of schema %d: want a file that nictwin gate --write made", path,
			schema)
	}
	for i, r := range b.Runs {
		what := ""
		switch {
		case r == nil || r.Name == "":
			what = "a run without a name"
		case slices.ContainsFunc(b.Runs[:i], func(o *Run) bool { return o.Name == r.Name }):
			what = fmt.Sprintf("the run %q twice", r.Name)
		case !(r.WallS >= 0):
			what = fmt.Sprintf("a run of %v s", r.WallS)
		case strings.ContainsFunc(r.Name, unicode.IsControl):
			what = fmt.Sprintf("a name with control characters, %q", r.Name)
		}
		if what != "" {
			return nil, fmt.Errorf("%s: has %s: want a file that nictwin gate --write made", path, what)
		}
	}
	return b, nil
}

// Write writes the baseline of runs, which must all have ended.
func (b *Baseline) Write(path string) error {
	for _, r := range b.Runs {
		if len(r.errors) > 0 {
			return fmt.Errorf("%s: %s: want runs that ended with a verdict", r.Name, r.errors[0])
		}
	}
	text, err := json.MarshalIndent(b, "", " ")
	if err != nil {
		return err
	}
	return files.Write(path, append(text, '\n'))
}

// Measure reads the folders of artifacts and of RTL coverage. Folders of one run are its shards.
func Measure(dirs []string) (*Baseline, error) {
	b := &Baseline{Schema: schema, Revision: result.ThisVersion().Revision}
	byName := map[string]*Run{}
	var counts, killed []string
	for _, dir := range dirs {
		o, err := result.ReadSummary(dir)
		switch {
		case errors.Is(err, result.ErrUnfinished):
			killed = append(killed, err.Error())
			continue
		case err != nil && coverage.Has(dir):
			counts = append(counts, dir)
			continue
		case err != nil:
			return nil, err
		}
		r := byName[nameOf(o)]
		if r == nil {
			r = &Run{Name: nameOf(o), found: map[string]*result.Finding{}}
			byName[r.Name] = r
		} else if err := result.SameRun(r.folders[0], r.shards[0], dir, o); err != nil {
			return nil, err
		}
		if err := r.add(dir, o); err != nil {
			return nil, err
		}
	}
	for _, name := range slices.Sorted(maps.Keys(byName)) {
		r := byName[name]
		// A shard may be missing because its run was killed. Killed runs are reported at the end of this function
		// instead.
		if err := result.Complete(r.folders, r.shards); err != nil && len(killed) == 0 {
			return nil, err
		}
	}
	if len(counts) > 0 {
		r, err := counted(counts)
		if err != nil {
			return nil, err
		}
		byName[r.Name] = r
	}
	if len(killed) > 0 {
		byName[unfinished] = &Run{Name: unfinished, errors: killed}
	}
	for _, name := range slices.Sorted(maps.Keys(byName)) {
		byName[name].finish()
		b.Runs = append(b.Runs, byName[name])
	}
	return b, nil
}

// Names of the entries in a baseline that belong to no single run: one for all killed runs together, one for the RTL
// coverage of all folders.
const (
	unfinished = "unfinished runs"
	rtl        = "coverage of the RTL"
)

// nameOf returns the name of a run: its command, device and direction, which its shards share.
func nameOf(o *result.Object) string {
	name := o.Command
	for _, x := range []string{o.Device(), o.NIC, o.Dir} {
		if x != "" {
			name += " " + x
		}
	}
	return name
}

// counted measures the coverage of the RTL.
func counted(dirs []string) (*Run, error) {
	if _, err := coverage.Merge(dirs...); err != nil {
		return nil, err
	}
	sites, err := coverage.Load(dirs...)
	if err != nil {
		return nil, err
	}
	c := coverage.NewReport(sites, nil)
	return &Run{Name: rtl, folders: dirs, RTL: &Hit{c.Lines.Hit, c.Toggles.Hit}}, nil
}

// add adds a shard.
func (r *Run) add(dir string, o *result.Object) error {
	r.folders, r.shards = append(r.folders, dir), append(r.shards, o)
	r.Checked, r.WallS = r.Checked+o.Checked, r.WallS+o.WallS
	for i := range o.Findings {
		f := &o.Findings[i]
		if k := kind(f); r.found[k] == nil {
			r.found[k] = f
		}
	}
	if o.Result != result.Pass.String() && o.Result != result.Mismatch.String() {
		r.errors = append(r.errors, fmt.Sprintf("%s: %s: %s", dir, o.Result, o.Error))
	}
	for _, c := range o.Captures {
		r.Cases = append(r.Cases, filepath.Base(c))
	}
	for i := range o.Scenarios {
		r.Cases = append(r.Cases, strings.TrimSpace(o.Scenarios[i].Name+" "+o.Scenarios[i].NIC))
	}
	for i := range o.Blocks {
		r.Cases = append(r.Cases, o.Blocks[i].Name)
	}
	held, err := scores(o)
	if err != nil {
		return fmt.Errorf("%s: results: %w", dir, err)
	}
	r.Scores = append(r.Scores, held...)
	if o.Fuzz == nil || o.Fuzz.Runs == 0 {
		return nil
	}
	c, err := bins.ReadReport(filepath.Join(dir, result.CoverageFile))
	if err != nil {
		return err
	}
	if r.bins == nil {
		r.bins = c
		return nil
	}
	if err := r.bins.Add(c); err != nil {
		return fmt.Errorf("%s and %s: %w", r.folders[0], dir, err)
	}
	return nil
}

// scores returns the names of measured figures that reached their goal and of claims that passed.
func scores(o *result.Object) (names []string, err error) {
	if o.Results == nil {
		return nil, nil
	}
	text, err := json.Marshal(o.Results)
	if err != nil {
		return nil, err
	}
	var list []struct {
		Name    string  `json:"name"`
		OK      bool    `json:"ok"`
		Goal    float64 `json:"goal"`
		AtMost  bool    `json:"at_most"`
		Verdict string  `json:"verdict"`
	}
	if err := json.Unmarshal(text, &list); err != nil {
		return nil, err
	}
	for _, x := range list {
		if x.Verdict == "pass" || x.Verdict == "" && x.OK && (x.Goal != 0 || x.AtMost) {
			names = append(names, x.Name)
		}
	}
	return names, nil
}

// finish puts lists in order.
func (r *Run) finish() {
	slices.Sort(r.Scores)
	slices.Sort(r.Cases)
	r.Cases = slices.Compact(r.Cases)
	r.Findings = slices.Sorted(maps.Keys(r.found))
	if r.bins == nil {
		return
	}
	r.Bins = map[string][]string{}
	for group, hits := range r.bins.Hits {
		r.Bins[group] = slices.Sorted(maps.Keys(hits))
	}
}

var reNumber = regexp.MustCompile(`[0-9]+`)

// kind names what findings of one cause share: the rule, the field and the place, but no cycle, seed or value.
func kind(f *result.Finding) string {
	scenario, _, _ := strings.Cut(f.Scenario, ":")
	words := []string{string(f.Domain), f.Rule, f.Field, f.Stream, scenario}
	if f.Block != nil {
		words = append(words, f.Block.Name)
	}
	if f.Rule == "" && f.Field == "" {
		head, _, _ := strings.Cut(f.Text, "\n")
		words = append(words, reNumber.ReplaceAllString(head, "#"))
	}
	return strings.Join(slices.DeleteFunc(words, func(s string) bool { return s == "" }), ", ")
}
