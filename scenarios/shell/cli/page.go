package cli

import (
	"cmp"
	"errors"
	"fmt"
	"path/filepath"
	"slices"

	"nictwin/scenarios/observe/report"
	"nictwin/scenarios/observe/result"
	"nictwin/scenarios/shell/files"
)

// page writes the page of a run into its artifacts, if one is wanted.
func (c *Common) page(dir *result.Folder, o *result.Object) error {
	if !c.Report && !c.paged || dir.Dir == "" {
		return nil
	}
	shown := *o // the page adds coverage
	run := report.Of(&shown, dir.Dir)
	if c.counted != "" && o.RTLCoverage == nil {
		if err := run.AddCoverage(c.counted); err != nil {
			return fmt.Errorf("--report: %w", err)
		}
	}
	if err := report.New([]*report.Run{run}).WritePage(dir.Files); err != nil {
		return fmt.Errorf("--report: %w", err)
	}
	return nil
}

// Idle returns the play flags that have no effect with the other settings.
func (p *Play) Idle() Idle {
	i := Idle{}
	i.unless(!p.NoArtifacts, "--no-artifacts", "artifacts", "out", "overwrite", "report", "with-rtl")
	return i
}

// Report holds the settings of the report command.
type Report struct {
	Dirs      []string // folders of artifacts
	Out       string
	Against   string // folder of an earlier report, or of artifacts; empty: none
	Coverage  []string
	Merge     bool // the folders are shards of one run
	Overwrite bool
}

// Make reads the artifacts and writes the page and report.json.
func (r *Report) Make() (*report.Report, error) {
	var errs []error
	var runs []*report.Run
	var clean []string
	for _, d := range r.Dirs {
		clean = append(clean, filepath.Clean(d))
		run, err := report.Load(d)
		errs, runs = append(errs, err), append(runs, run)
	}
	errs = append(errs, Once("folder", clean))
	if r.Out == "" {
		errs = append(errs, errors.New("--out: is missing: want a folder for the report"))
	}
	if err := errors.Join(errs...); err != nil {
		return nil, &UsageError{err}
	}
	rep, err := r.compile(runs)
	if err != nil {
		return nil, &UsageError{err}
	}
	dir, err := r.open()
	if err != nil {
		return nil, &UsageError{fmt.Errorf("--out %s: %w", r.Out, err)}
	}
	err = errors.Join(rep.Write(dir), dir.Close())
	if _, bad := errors.AsType[*report.InputError](err); bad {
		err = &UsageError{err}
	}
	return rep, err
}

// compile makes the report of the runs: it merges them, adds RTL coverage and compares the report with an earlier one,
// as far as the flags ask for it.
func (r *Report) compile(runs []*report.Run) (*report.Report, error) {
	if r.Merge {
		one, err := report.Merge(runs)
		if err != nil {
			return nil, err
		}
		runs = []*report.Run{one}
	}
	if len(r.Coverage) > 0 {
		if err := runs[0].AddCoverage(r.Coverage...); err != nil {
			return nil, fmt.Errorf("--rtl-coverage: %w", err)
		}
	}
	rep := report.New(runs)
	if r.Against != "" {
		if err := rep.Compare(r.Against); err != nil {
			return nil, err
		}
	}
	return rep, nil
}

// open opens the folder of the report: a new or an empty one, a folder of artifacts, which stay there, or with
// --overwrite any.
func (r *Report) open() (*files.Folder, error) {
	dir, err := result.OpenBeside(r.Out, r.Overwrite)
	if err != nil {
		return nil, err
	}
	return dir, errors.Join(dir.Replaceable(result.PageFile), dir.Replaceable(result.ReportFile))
}

// Describe copies the report into the result object.
func (r *Report) Describe(o *result.Object, rep *report.Report) {
	o.Artifacts = r.Out
	for _, run := range rep.Runs {
		x := run.Object
		o.Checked, o.Mismatches = o.Checked+x.Checked, o.Mismatches+x.Mismatches
		o.Cycles, o.SimPs, o.WallS = o.Cycles+x.Cycles, o.SimPs+x.SimPs, o.WallS+x.WallS
		o.Build, o.Seed = cmp.Or(o.Build, x.Build), cmp.Or(o.Seed, x.Seed)
		o.Captures = append(o.Captures, slices.Clone(x.Captures)...)
		o.Warnings = append(o.Warnings, run.Doubts...)
	}
}
