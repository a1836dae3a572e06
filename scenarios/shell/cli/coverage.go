package cli

import (
	"errors"
	"fmt"
	"path/filepath"

	"nictwin/scenarios/coverage"
	"nictwin/scenarios/observe/result"
)

// Coverage holds the settings of the command that reports RTL coverage.
type Coverage struct {
	Place
	Dirs     []string // folders written with --rtl-coverage
	Exclude  string   // reviewed list of exclusions; empty: none
	MinLines float64  // minimum percentage of line points that must be hit
	MinBits  float64  // minimum percentage of bits that must be hit
	Again    string   // the command line that repeats the report
}

// Report merges the folders and counts hits. It may return a report together with an error: the exclusions do not fit
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
	sites, err := coverage.Load(c.Dirs...)
	if err = errors.Join(err, Once("folder", dirs)); err != nil {
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
