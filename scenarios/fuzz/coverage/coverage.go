package coverage

import (
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"nictwin/models/sim/specfile"
	"nictwin/scenarios/fuzz/program"
	"nictwin/scenarios/shell/files"
)

// Coverage counts how often each bin was hit. A nil Coverage counts nothing. It is not safe for concurrent use.
type Coverage struct {
	Hits map[string]map[string]uint64 // by group and bin
}

// New returns a Coverage without hits.
func New() *Coverage { return &Coverage{Hits: map[string]map[string]uint64{}} }

func (c *Coverage) Hit(group string, words ...string) { c.add(group, join(words...), 1) }

func (c *Coverage) add(group, bin string, n uint64) {
	if c == nil {
		return
	}
	g := c.Hits[group]
	if g == nil {
		g = map[string]uint64{}
		c.Hits[group] = g
	}
	g[bin] += n
}

// Merge adds the counts of another Coverage.
func (c *Coverage) Merge(o *Coverage) {
	for group, bins := range o.Hits {
		for bin, n := range bins {
			c.add(group, bin, n)
		}
	}
}

// Bin is one bin of a report.
type Bin struct {
	Group string `json:"group"`
	Bin   string `json:"bin"`
	Why   string `json:"why,omitempty"` // why it cannot be hit
}

// GroupReport reports how much of a group was hit.
type GroupReport struct {
	Group string `json:"group"`
	Hit   int    `json:"hit"`
	Bins  int    `json:"bins"`
}

// Report reports how much of a build's universe was hit.
type Report struct {
	Hit         int                          `json:"hit"`
	Bins        int                          `json:"bins"` // excluding those that cannot be hit
	Share       float64                      `json:"share"`
	Groups      []GroupReport                `json:"groups"`
	Missing     []Bin                        `json:"missing"`
	Unreachable []Bin                        `json:"unreachable"`
	Unlisted    []Bin                        `json:"unlisted,omitempty"` // hit but not listed: the lists are wrong
	Hits        map[string]map[string]uint64 `json:"hits"`
}

// Report compares the hits with the bins of a build.
func (c *Coverage) Report(u *Universe) *Report {
	r := &Report{Hits: c.Hits, Missing: []Bin{}, Unreachable: []Bin{}}
	for _, g := range u.groups {
		gr := GroupReport{Group: g.name}
		for _, bin := range g.bins {
			why := u.unreachable(g.name, bin)
			hit := c.Hits[g.name][bin] > 0
			switch {
			case why != "" && !hit:
				r.Unreachable = append(r.Unreachable, Bin{g.name, bin, why})
				continue
			case hit:
				gr.Hit++
			default:
				r.Missing = append(r.Missing, Bin{Group: g.name, Bin: bin})
			}
			gr.Bins++
		}
		r.Hit, r.Bins = r.Hit+gr.Hit, r.Bins+gr.Bins
		r.Groups = append(r.Groups, gr)
	}
	if r.Bins > 0 {
		r.Share = float64(r.Hit) / float64(r.Bins)
	}
	r.Unlisted = c.unlisted(u)
	return r
}

func (c *Coverage) unlisted(u *Universe) []Bin {
	var all []Bin
	for group, bins := range c.Hits {
		for bin := range bins {
			if !u.has(group, bin) {
				all = append(all, Bin{Group: group, Bin: bin})
			}
		}
	}
	slices.SortFunc(all, func(a, b Bin) int { return strings.Compare(a.Group+a.Bin, b.Group+b.Bin) })
	return all
}

// FewMissing is the number of missed bins listed by a report that does not list all.
const FewMissing = 5

// Write writes the report as text: the share of each group that was hit, and the missed bins, all or the first few.
// whole is the text that says where the reader finds all of them.
func (r *Report) Write(w io.Writer, all bool, whole string) error {
	var b strings.Builder
	fmt.Fprintf(&b, "coverage: %d of %d bins, %.1f%%; %d more cannot be hit\n", r.Hit, r.Bins, 100*r.Share,
		len(r.Unreachable))
	next := 0 // index in Missing, which is ordered by group
	for _, g := range r.Groups {
		fmt.Fprintf(&b, "  %-26s %4d of %4d\n", g.Group, g.Hit, g.Bins)
		for ; next < len(r.Missing) && r.Missing[next].Group == g.Group; next++ {
			if all {
				fmt.Fprintf(&b, "      not hit: %s\n", r.Missing[next].Bin)
			}
		}
	}
	if !all {
		for _, m := range r.Missing[:min(FewMissing, len(r.Missing))] {
			fmt.Fprintf(&b, "  not hit: %s: %s\n", m.Group, m.Bin)
		}
		if more := len(r.Missing) - FewMissing; more > 0 {
			fmt.Fprintf(&b, "  not hit: %d more, see %s\n", more, whole)
		}
	}
	_, err := io.WriteString(w, b.String())
	return err
}

// coverageFile is the format of the file to which runs add their hits.
type coverageFile struct {
	Schema int                          `json:"schema"`
	Hits   map[string]map[string]uint64 `json:"hits"`
}

// maxCoverage bounds the file in bytes: larger than a file with every bin.
const maxCoverage = 16 << 20

// Load adds the hits in a file. A file that does not exist has none, but its folder must exist.
func (c *Coverage) Load(path string) error {
	if _, err := os.Stat(filepath.Dir(path)); err != nil {
		return err
	}
	text, err := files.Read(path, maxCoverage)
	if errors.Is(err, os.ErrNotExist) {
		return nil
	}
	if err != nil {
		return err
	}
	var f coverageFile
	if err := json.Unmarshal(text, &f); err != nil {
		what, _ := specfile.JSONSyntax(err, text)
		return fmt.Errorf("%s: is no coverage: %s", path, cmp.Or(what, "want an object with schema and hits"))
	}
	if f.Schema != program.Schema || f.Hits == nil {
		return fmt.Errorf("%s: is no coverage of schema %d", path, program.Schema)
	}
	c.Merge(&Coverage{f.Hits})
	return nil
}

// AddTo adds the hits to the file and then holds the sum itself. Concurrent runs update the file one after the other;
// `say` reports which run this one waits for. If another process keeps the file locked, or the context is canceled, the
// hits are saved in a file beside it, which `say` reports, too.
func (c *Coverage) AddTo(ctx context.Context, path string, say func(format string, a ...any)) error {
	err := files.WithLock(ctx, path, say, func() error {
		if err := c.Load(path); err != nil {
			return err
		}
		return c.save(path)
	})
	var locked *files.LockedError
	if !errors.As(err, &locked) {
		return err
	}
	f, e := os.CreateTemp(filepath.Dir(path), filepath.Base(path)+".apart-*")
	if e == nil {
		e = errors.Join(f.Close(), c.save(f.Name()))
	}
	if e == nil {
		say("the hits of this run are in %s, not in %s: --coverage goes on with either", f.Name(), path)
	}
	return errors.Join(err, e)
}

func (c *Coverage) save(path string) error {
	text, err := json.MarshalIndent(coverageFile{program.Schema, c.Hits}, "", " ")
	if err != nil {
		return err
	}
	return files.Write(path, append(text, '\n'))
}
