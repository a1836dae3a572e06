package gate

import (
	"fmt"
	"maps"
	"slices"
	"strconv"
	"strings"

	"nictwin/scenarios/observe/result"
	"nictwin/scenarios/shell/files"
)

// DefaultSlower is the default of --slower.
const DefaultSlower = "20%"

// ParseSlower converts the value of --slower, the additional time that a comparison may take, to a fraction: 20% to
// 0.2, and "any" to -1.
func ParseSlower(text string) (float64, error) {
	if text == "any" {
		return -1, nil
	}
	number, percent := strings.CutSuffix(text, "%")
	x, err := strconv.ParseFloat(number, 64)
	if err != nil || !percent || !(x >= 0 && x <= 1e6) {
		return 0, fmt.Errorf("--slower %q: want a percentage such as 20%%, or any", text)
	}
	return x / 100, nil
}

// shortest is the minimum wall time, in seconds, of a run in the baseline whose time is compared.
const shortest = 1

// Compare returns what got worse, in order of the runs' names, and the figures of each run.
func Compare(old, now *Baseline, slower float64) (worse []result.Finding, runs []result.GatedRun) {
	for _, r := range now.Runs {
		for _, e := range r.errors {
			worse = append(worse, finding(r, "verdict", "a verdict", e, e))
		}
	}
	for _, o := range old.Runs {
		i := slices.IndexFunc(now.Runs, func(r *Run) bool { return r.Name == o.Name })
		if i < 0 {
			worse = append(worse, finding(o, "checked", strconv.FormatUint(o.Checked, 10), "0", "was not played"))
			continue
		}
		worse = append(worse, o.worse(now.Runs[i], slower)...)
	}
	for _, r := range now.Runs {
		i := slices.IndexFunc(old.Runs, func(o *Run) bool { return o.Name == r.Name })
		before := &Run{}
		if i >= 0 {
			before = old.Runs[i]
		} else {
			worse = append(worse, before.mismatches(r)...)
		}
		if r.Name != unfinished {
			runs = append(runs, result.GatedRun{Name: r.Name, Folders: len(r.folders),
				Checked: r.Checked, CheckedBefore: before.Checked, WallS: r.WallS, WallSBefore: before.WallS})
		}
	}
	return worse, runs
}

// finding returns the finding that a field of a run got worse; text says how.
func finding(r *Run, field, before, now, text string) result.Finding {
	return result.Finding{Domain: result.Gate, Field: field, Expected: before, Got: now, Text: r.Name + ": " + text}
}

// worse returns what is worse in run r than in o, the baseline's run of the same name.
func (o *Run) worse(r *Run, slower float64) []result.Finding {
	list := o.mismatches(r)
	if r.Checked < o.Checked {
		list = append(list, finding(r, "checked", fmt.Sprintf("at least %d", o.Checked),
			strconv.FormatUint(r.Checked, 10),
			fmt.Sprintf("%d were compared, %d before", r.Checked, o.Checked)))
	}
	for _, c := range o.Cases {
		if !slices.Contains(r.Cases, c) {
			list = append(list, finding(r, "case", c, "", files.Shown(c)+" was not played"))
		}
	}
	list = append(list, o.lost(r)...)
	for _, name := range o.Scores {
		if !slices.Contains(r.Scores, name) {
			list = append(list, finding(r, "score", name, "missed", "score lost: "+files.Shown(name)))
		}
	}
	if slower >= 0 && o.WallS >= shortest && o.Checked > 0 && r.Checked > 0 {
		before, took := o.WallS/float64(o.Checked), r.WallS/float64(r.Checked)
		if took > before*(1+slower) {
			list = append(list, finding(r, "time", fmt.Sprintf("at most %.0f%% more", 100*slower),
				fmt.Sprintf("%.0f%% more", 100*(took/before-1)), fmt.Sprintf("a comparison took %.3g µs, %.3g before",
					1e6*took, 1e6*before)))
		}
	}
	return list
}

// mismatches returns the findings of run r whose kinds the baseline's run o does not list.
func (o *Run) mismatches(r *Run) (list []result.Finding) {
	for _, k := range r.Findings {
		if slices.Contains(o.Findings, k) {
			continue
		}
		f := *r.found[k]
		f.Text = r.Name + ": new mismatch: " + f.Text
		list = append(list, f)
	}
	return list
}

// lost returns the coverage that the baseline's run o has and run r lacks.
func (o *Run) lost(r *Run) (list []result.Finding) {
	for _, group := range slices.Sorted(maps.Keys(o.Bins)) {
		for _, bin := range o.Bins[group] {
			if !slices.Contains(r.Bins[group], bin) {
				name := files.Shown(group + ": " + bin)
				list = append(list, finding(r, "coverage", name, "not hit", "coverage lost: "+name))
			}
		}
	}
	if o.RTL == nil || r.RTL == nil {
		return list
	}
	for _, x := range []struct {
		what        string
		before, now int
	}{{"line points", o.RTL.Lines, r.RTL.Lines}, {"bits", o.RTL.Bits, r.RTL.Bits}} {
		if x.now < x.before {
			list = append(list, finding(r, "coverage", fmt.Sprintf("at least %d", x.before), strconv.Itoa(x.now),
				fmt.Sprintf("%d %s were hit, %d before", x.now, x.what, x.before)))
		}
	}
	return list
}
