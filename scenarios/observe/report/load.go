package report

import (
	"cmp"
	"fmt"
	"path/filepath"
	"slices"
	"strings"

	"nictwin/scenarios/coverage"
	bins "nictwin/scenarios/fuzz/coverage"
	"nictwin/scenarios/observe/result"
)

// Run is one run, or the shards of one, with the folders of its artifacts.
type Run struct {
	Name    string
	Folders []string
	Object  *result.Object
	Doubts  []string // those of Object.Warnings that the report adds, about artifacts that are missing or broken

	folderOf []int // index in Folders of the folder that a finding is from, by finding
	latency  []latency
	lines    map[[2]string][]int // numbers of the lines that mention a field, by file and field
}

// maxSummary bounds a report.json in bytes.
const maxSummary = 256 << 20

// Load reads the summary of a folder of artifacts.
func Load(dir string) (*Run, error) {
	o, err := result.ReadSummary(dir)
	if err != nil {
		return nil, err
	}
	r := Of(o, dir)
	if text := missingBins(o, dir); text != "" {
		r.Doubts, o.Warnings = []string{text}, append(o.Warnings, text)
	}
	return r, nil
}

// missingBins returns a warning if the report of the bins that programs hit is missing, broken or of another run. The
// page then shows only the numbers in the summary.
func missingBins(o *result.Object, dir string) string {
	if o.Fuzz == nil || o.Fuzz.Runs == 0 {
		return ""
	}
	path, sum := filepath.Join(dir, result.CoverageFile), &o.Fuzz.Coverage
	r, err := bins.ReadReport(path)
	if err == nil && (r.Hit != sum.Hit || r.Bins != sum.Bins) {
		err = fmt.Errorf("%s: has %d of %d bins, %s has %d of %d", path, r.Hit, r.Bins, result.Summary, sum.Hit,
			sum.Bins)
	}
	if err == nil {
		return ""
	}
	return fmt.Sprintf("coverage: %v; the page has the numbers of %s", err, result.Summary)
}

// Of returns the run whose artifacts are in a folder.
func Of(o *result.Object, dir string) *Run {
	r := &Run{Name: nameOf(o), Folders: []string{dir}, Object: o, folderOf: make([]int, len(o.Findings))}
	r.latency = latenciesOf(r)
	return r
}

// nameOf names a run by its command and device.
func nameOf(o *result.Object) string {
	name := o.Command
	switch {
	case o.Played != nil:
		name += " " + o.Played.Device
	case o.NIC != "":
		name += " on " + o.NIC
	}
	return name
}

// AddCoverage sets the RTL coverage of a run from folders that --rtl-coverage filled.
func (r *Run) AddCoverage(dirs ...string) error {
	sites, err := coverage.Load(dirs...)
	if err != nil {
		return err
	}
	r.Object.RTLCoverage = coverage.NewReport(sites, nil)
	return nil
}

// Merge combines the shards of a run. It fails if they are not of one run ([result.SameRun]) or some are missing.
func Merge(runs []*Run) (*Run, error) {
	first := runs[0]
	for _, r := range runs[1:] {
		if err := result.SameRun(first.Folders[0], first.Object, r.Folders[0], r.Object); err != nil {
			return nil, fmt.Errorf("--merge: %w", err)
		}
	}
	var dirs []string
	var list []*result.Object
	for _, r := range runs {
		dirs, list = append(dirs, r.Folders[0]), append(list, r.Object)
	}
	if err := result.Complete(dirs, list); err != nil {
		return nil, fmt.Errorf("--merge: %w", err)
	}
	o := *first.Object
	m := &Run{Name: first.Name, Folders: slices.Clone(first.Folders), Object: &o, Doubts: first.Doubts,
		folderOf: slices.Clone(first.folderOf), latency: slices.Clone(first.latency)}
	o.Findings, o.Scenarios = slices.Clone(o.Findings), slices.Clone(o.Scenarios)
	for _, r := range runs[1:] {
		m.add(r)
	}
	return m, nil
}

// add adds a shard.
func (r *Run) add(s *Run) {
	o, x := r.Object, s.Object
	for _, i := range s.folderOf {
		r.folderOf = append(r.folderOf, len(r.Folders)+i)
	}
	r.Folders, r.Doubts = append(r.Folders, s.Folders...), append(slices.Clone(r.Doubts), s.Doubts...)
	o.Result = worse(o.Result, x.Result)
	if o.Error == "" {
		o.Error = x.Error
	}
	o.Reproduce, o.Failure = cmp.Or(o.Reproduce, x.Reproduce), cmp.Or(o.Failure, x.Failure)
	if o.Seed != x.Seed || o.Digest != x.Digest {
		o.Digest = ""
	}
	o.Checked, o.Mismatches = o.Checked+x.Checked, o.Mismatches+x.Mismatches
	o.Cycles, o.SimPs, o.WallS = o.Cycles+x.Cycles, o.SimPs+x.SimPs, o.WallS+x.WallS
	o.Findings, o.Scenarios = append(o.Findings, x.Findings...), append(o.Scenarios, x.Scenarios...)
	o.Waves, o.Cut = append(slices.Clone(o.Waves), x.Waves...), append(slices.Clone(o.Cut), x.Cut...)
	for _, list := range []struct {
		to   *[]string
		from []string
	}{{&o.Captures, x.Captures}, {&o.Warnings, x.Warnings}} {
		for _, name := range list.from {
			if !slices.Contains(*list.to, name) {
				*list.to = append(slices.Clone(*list.to), name)
			}
		}
	}
	addFrames(o, x)
	if f := x.Fuzz; f != nil && o.Fuzz != nil {
		sum := *o.Fuzz
		sum.Runs, sum.Debug = sum.Runs+f.Runs, sum.Debug+f.Debug
		sum.Failures = append(slices.Clone(sum.Failures), f.Failures...)
		if f.Coverage.Hit > sum.Coverage.Hit { // the summaries do not say which bins the shards share
			sum.Coverage = f.Coverage
		}
		o.Fuzz = &sum
	}
	if p := x.Played; p != nil && o.Played != nil {
		sum := *o.Played
		sum.Runs, sum.Taken, sum.Compared = sum.Runs+p.Runs, sum.Taken+p.Taken, sum.Compared+p.Compared
		o.Played = &sum
	}
	r.latency = addLatencies(r.latency, s.latency)
}

// addFrames adds the frame counts of a replay.
func addFrames(o, x *result.Object) {
	if o.Rx != nil && x.Rx != nil {
		sum := *o.Rx
		sum.In, sum.Delivered, sum.Bytes = sum.In+x.Rx.In, sum.Delivered+x.Rx.Delivered, sum.Bytes+x.Rx.Bytes
		sum.Drops = map[string]uint64{}
		for _, r := range []*result.Received{o.Rx, x.Rx} {
			for cause, n := range r.Drops {
				sum.Drops[cause] += n
			}
		}
		o.Rx = &sum
	}
	if o.Tx != nil && x.Tx != nil {
		o.Tx = &result.Transmitted{Posted: o.Tx.Posted + x.Tx.Posted, Out: o.Tx.Out + x.Tx.Out,
			Refused: o.Tx.Refused + x.Tx.Refused, Bytes: o.Tx.Bytes + x.Tx.Bytes}
	}
}

// severity orders results: a page has the verdict of its worst run.
var severity = []string{result.Pass.String(), result.Usage.String(), result.Interrupted.String(),
	result.Infrastructure.String(), result.Mismatch.String()}

// worse returns the worse of two results.
func worse(a, b string) string {
	if slices.Index(severity, b) > slices.Index(severity, a) {
		return b
	}
	return a
}

// path returns the path of a file about a finding: in the folder of artifacts that the finding is from or, if it is of
// a case, in the subfolder of that case.
func (r *Run) path(finding int, name string) string {
	f := &r.Object.Findings[finding]
	dir := r.Folders[r.folderOf[finding]]
	if f.Folder != "" && filepath.IsLocal(f.Folder) && !strings.ContainsRune(f.Folder, filepath.Separator) {
		dir = filepath.Join(dir, f.Folder)
	}
	return filepath.Join(dir, name)
}
