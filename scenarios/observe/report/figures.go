package report

import (
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"

	"nictwin/scenarios/observe/result"
	"nictwin/scenarios/shell/files"
)

// Figure is a number of a report, with that of the earlier one if there is one.
type Figure struct {
	Name   string   `json:"name"`
	Unit   string   `json:"unit"`
	Value  float64  `json:"value"`
	Before *float64 `json:"before,omitempty"`

	better int // 1: more is better; -1: less is better; 0: neither
}

// Change returns the relative change since the earlier report, in percent; without an earlier value, ok is false.
func (f *Figure) Change() (percent float64, ok bool) {
	if f.Before == nil || *f.Before == f.Value || *f.Before == 0 {
		return 0, false
	}
	return 100 * (f.Value/(*f.Before) - 1), true
}

// Worse reports whether the figure is worse than before.
func (f *Figure) Worse() bool { return f.Before != nil && (f.Value-*f.Before)*float64(f.better) < 0 }

// Past is one report of a history.
type Past struct {
	Revision   string  `json:"revision"`
	Build      string  `json:"build"`
	Result     string  `json:"result"`
	Checked    uint64  `json:"checked"`
	Mismatches uint64  `json:"mismatches"`
	Findings   int     `json:"findings"`
	Cycles     int64   `json:"cycles"`
	WallS      float64 `json:"wall_s"`
	Lines      float64 `json:"lines,omitempty"` // percent of RTL line points hit; 0: not measured
	Bits       float64 `json:"bits,omitempty"`  // percent of RTL bits toggled
}

// maxHistory bounds the reports that a history keeps.
const maxHistory = 100

// Schema is the version of JSON; it changes when a field changes its meaning or is removed.
const Schema = 1

// JSON is the content of report.json.
type JSON struct {
	Schema  int      `json:"schema"`
	Result  string   `json:"result"` // the worst of the runs
	Runs    []Played `json:"runs"`
	Groups  []Group  `json:"groups"` // of findings
	Figures []Figure `json:"figures"`
	Against *Against `json:"against,omitempty"`
	History []Past   `json:"history"` // oldest first; the last is this report
}

// Played is a run in report.json.
type Played struct {
	Name       string   `json:"name"`
	Folders    []string `json:"folders"`
	Command    string   `json:"command"`
	Result     string   `json:"result"`
	Seed       uint64   `json:"seed"`
	Digest     string   `json:"digest"`
	Build      string   `json:"build"`
	Revision   string   `json:"revision"`
	Checked    uint64   `json:"checked"`
	Mismatches uint64   `json:"mismatches"`
	Findings   int      `json:"findings"`
	Cycles     int64    `json:"cycles"`
	SimPs      int64    `json:"sim_ps"`
	WallS      float64  `json:"wall_s"`
	Error      string   `json:"error,omitempty"`
	Reproduce  string   `json:"reproduce,omitempty"`
}

// Against compares a report with an earlier one.
type Against struct {
	Folder string  `json:"folder"`
	Past   Past    `json:"past"`
	New    []Group `json:"new"`  // groups of findings that the earlier report does not have
	Gone   []Group `json:"gone"` // groups that only the earlier report has
}

// played describes the runs.
func played(runs []*Run) (list []Played) {
	for _, r := range runs {
		o := r.Object
		list = append(list, Played{Name: r.Name, Folders: r.Folders, Command: o.Command, Result: o.Result, Seed: o.Seed,
			Digest: o.Digest, Build: o.Build, Revision: o.Revision, Checked: o.Checked, Mismatches: o.Mismatches,
			Findings: len(o.Findings), Cycles: o.Cycles, SimPs: o.SimPs, WallS: o.WallS, Error: o.Error,
			Reproduce: o.Reproduce})
	}
	return list
}

// present sums up the runs for a history.
func present(runs []*Run) Past {
	p := Past{Result: result.Pass.String()}
	for _, r := range runs {
		o := r.Object
		if p.Build == "" {
			p.Build = o.Build
		}
		p.Revision, p.Result = o.Revision, worse(p.Result, o.Result)
		p.Checked, p.Mismatches, p.Findings = p.Checked+o.Checked, p.Mismatches+o.Mismatches, p.Findings+len(o.Findings)
		p.Cycles, p.WallS = p.Cycles+o.Cycles, p.WallS+o.WallS
		if c := o.RTLCoverage; c != nil {
			p.Lines, p.Bits = c.Lines.Percent(), c.Toggles.Percent()
		}
	}
	return p
}

// figures lists what was measured in all runs together: outputs compared, mismatches, cycles and more.
func figures(runs []*Run) []Figure {
	p := present(runs)
	list := []Figure{
		{Name: "outputs and counters compared", Value: float64(p.Checked), better: 1},
		{Name: "mismatches", Value: float64(p.Mismatches), better: -1},
		{Name: "device cycles", Value: float64(p.Cycles)},
	}
	add := func(name, unit string, value float64, better int) {
		if i := slices.IndexFunc(list, func(f Figure) bool { return f.Name == name }); i >= 0 {
			list[i].Value += value
			return
		}
		list = append(list, Figure{Name: name, Unit: unit, Value: value, better: better})
	}
	for _, r := range runs {
		o := r.Object
		if x := o.Rx; x != nil {
			add("frames received", "", float64(x.In), 0)
			add("frames delivered", "", float64(x.Delivered), 0)
		}
		if x := o.Tx; x != nil {
			add("frames sent", "", float64(x.Out), 0)
		}
		if len(o.Scenarios) > 0 {
			add("cases", "", float64(len(o.Scenarios)), 1)
		}
		if f := o.Fuzz; f != nil {
			add("programs", "", float64(f.Runs), 1)
			add("contract bins hit", "", float64(f.Coverage.Hit), 1)
		}
		if d := o.Played; d != nil {
			add("transactions compared", "", float64(d.Compared), 1)
		}
	}
	if p.Lines > 0 || p.Bits > 0 {
		add("RTL line points hit", "%", p.Lines, 1)
		add("RTL bits toggled", "%", p.Bits, 1)
	}
	add("wall time", "s", p.WallS, 0)
	if p.WallS > 0 {
		add("cycles per second", "1/s", float64(p.Cycles)/p.WallS, 1)
	}
	return list
}

// earlier reads the report in a folder. A folder without a report needs artifacts, from which it makes one.
func earlier(dir string) (*JSON, error) {
	path := filepath.Join(dir, result.ReportFile)
	text, err := files.Read(path, maxSummary)
	if errors.Is(err, os.ErrNotExist) {
		r, err := Load(dir)
		if err != nil {
			return nil, fmt.Errorf("neither %s nor artifacts: %w", result.ReportFile, err)
		}
		return New([]*Run{r}).json(), nil
	}
	if err != nil {
		return nil, err
	}
	j := &JSON{}
	if err := json.Unmarshal(text, j); err != nil {
		return nil, fmt.Errorf("%s: %w", path, err)
	}
	if j.Schema != Schema {
		return nil, fmt.Errorf("%s: schema %d: want %d, which this version of nictwin reads", path, j.Schema, Schema)
	}
	if len(j.History) == 0 {
		return nil, fmt.Errorf("%s: history: is empty: want at least the report itself", path)
	}
	return j, nil
}
