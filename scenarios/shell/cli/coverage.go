package cli

import (
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"maps"
	"os"
	"path/filepath"
	"slices"

	"nictwin/rtlbridge/build"
	"nictwin/scenarios/coverage"
	bins "nictwin/scenarios/fuzz/coverage"
	"nictwin/scenarios/observe/result"
	"nictwin/scenarios/shell/files"
)

// Coverage holds the settings of the command that reports RTL coverage.
type Coverage struct {
	Place
	Dirs     []string // folders written with --rtl-coverage
	Exclude  string   // reviewed list of exclusions; empty: none
	MinLines float64  // minimum percentage of line points that must be hit
	MinBits  float64  // minimum percentage of bits that must be hit
	Again    string   // the command line that repeats the report
	Merge    string   // folder for the merged coverage of shards; empty: it is only shown

	Bins   *bins.Report // hit bins of all runs together; nil: no run counted bins
	counts []string     // folders with counts of the RTL
}

// Report merges the folders and counts hits; without counts of the RTL, it returns no report. It may return a report
// together with an error: the exclusions do not fit
// the RTL. short lists figures below their minimum.
func (c *Coverage) Report() (r *coverage.Report, short []result.Finding, err error) {
	for _, m := range []struct {
		flag string
		v    float64
	}{{"--min-lines", c.MinLines}, {"--min-bits", c.MinBits}} {
		if !(m.v >= 0 && m.v <= 100) {
			return nil, nil, Usagef("%s %v: want 0 to 100 percent", m.flag, m.v)
		}
	}
	var dirs []string
	for _, d := range c.Dirs {
		dirs = append(dirs, filepath.Clean(d))
	}
	c.counts = c.Dirs
	if err = Once("folder", dirs); err == nil && c.Merge != "" {
		err = c.merge()
	}
	if err == nil && len(c.counts) == 0 {
		return nil, nil, nil
	}
	var sites []*coverage.Site
	if err == nil {
		sites, err = coverage.Load(c.counts...)
	}
	if err != nil {
		return nil, nil, &UsageError{err}
	}
	var list []*coverage.Exclusion
	var wrong error
	if c.Exclude != "" {
		h, err := c.find()
		if err == nil {
			list, err = coverage.ReadExclusions(c.Exclude)
		}
		if err != nil {
			return nil, nil, &UsageError{fmt.Errorf("--exclude: %w", err)}
		}
		if wrong = coverage.Exclude(sites, list, h.RTL()); wrong != nil {
			wrong = &UsageError{wrong}
		}
	}
	r = coverage.NewReport(sites, list)
	for _, m := range []struct {
		what  string
		share coverage.Share
		least float64
	}{{"line points", r.Lines, c.MinLines}, {"bits", r.Toggles, c.MinBits}} {
		if p := m.share.Percent(); p < m.least {
			short = append(short, result.Finding{
				Domain: result.Coverage, Field: m.what, Expected: fmt.Sprintf("at least %v%%", m.least),
				Got:  fmt.Sprintf("%.1f%%", p),
				Text: fmt.Sprintf("%s: %.1f%% were hit, expected at least %v%%", m.what, p, m.least), Command: c.Again,
			})
		}
	}
	return r, short, errors.Join(wrong)
}

// merge writes the coverage of all folders into one: bins of the contract and counts of the RTL.
func (c *Coverage) merge() error {
	c.counts = nil
	var of []string
	for _, dir := range c.Dirs {
		if coverage.Has(dir) {
			c.counts = append(c.counts, dir)
			continue
		}
		of = append(of, dir)
	}
	merged, err := coverage.Merge(c.counts...)
	if err == nil {
		c.Bins, err = MergeBins(of)
	}
	if err == nil && c.Bins != nil {
		text, err := json.MarshalIndent(c.Bins, "", " ")
		if err != nil {
			return fmt.Errorf("--merge: %w", err)
		}
		merged[result.CoverageFile] = append(text, '\n')
	}
	if err != nil {
		return fmt.Errorf("--merge: %w", err)
	}
	if err := writeMerged(c.Merge, merged); err != nil {
		return fmt.Errorf("--merge %s: %w", c.Merge, err)
	}
	return nil
}

// MergeBins merges the bins of runs, given by their folders of artifacts; nil if there are none. The runs must be
// all the shards of one campaign.
func MergeBins(dirs []string) (all *bins.Report, err error) {
	var first *result.Object
	var list []*result.Object
	for _, dir := range dirs {
		o, err := result.ReadSummary(dir)
		if err != nil {
			return nil, err
		}
		list = append(list, o)
		r, err := bins.ReadReport(filepath.Join(dir, result.CoverageFile))
		if err != nil {
			return nil, err
		}
		if first == nil {
			first, all = o, r
			continue
		}
		if err := result.SameRun(dirs[0], first, dir, o); err != nil {
			return nil, err
		}
		if err := all.Add(r); err != nil {
			return nil, fmt.Errorf("%s and %s: %w", dirs[0], dir, err)
		}
	}
	if len(list) == 0 {
		return all, nil
	}
	return all, result.Complete(dirs, list)
}

// writeMerged writes the files of merged coverage. The folder may have files of an earlier merge of the same builds.
func writeMerged(dir string, merged map[string][]byte) error {
	if _, err := files.Make(dir); err != nil {
		return err
	}
	if _, err := os.Stat(filepath.Join(dir, result.Summary)); err == nil && merged[result.CoverageFile] != nil {
		return fmt.Errorf("has artifacts of a run, whose %s would be lost: want a folder of its own",
			result.CoverageFile)
	}
	old, err := fs.Glob(os.DirFS(dir), "*"+build.HitsExt)
	if err != nil {
		return err
	}
	for _, name := range old {
		if merged[name] == nil {
			return fmt.Errorf("has counts of another build, %s: want a new folder", name)
		}
	}
	f, err := files.OpenFolder(dir)
	if err != nil {
		return err
	}
	for _, name := range slices.Sorted(maps.Keys(merged)) {
		if err = f.Write(name, merged[name]); err != nil {
			break
		}
	}
	return errors.Join(err, f.Close())
}
