package cli

import (
	"cmp"
	"context"
	"crypto/sha256"
	"errors"
	"fmt"
	"io"
	"runtime"
	"slices"
	"strings"
	"time"

	"nictwin/rtlbridge/build"
	"nictwin/rtlbridge/emulation"

	"nictwin/models/sim/specfile"
	"nictwin/scenarios/bed/device"
	"nictwin/scenarios/observe/result"
	"nictwin/scenarios/run"
	"nictwin/scenarios/shell/files"
	"nictwin/scenarios/shell/pipeline"
	"nictwin/scenarios/shell/shard"
)

// NICBoth plays each case on the Go NIC and on RTL and compares the results.
const NICBoth = "both"

// Scenarios holds the settings of the run command, which plays scenario files.
type Scenarios struct {
	Common
	WaveFlag
	Files      []string
	NIC        string // model, rtl or both; empty: the NICs that each file names
	DUT        string
	Variant    string
	Seed       uint64   // seed of the workloads; 0: the files' seeds
	Only       []string // case names; none: all cases
	Out        string
	ArtifactMB int

	Jobs int // concurrent cases

	Stats string // none, summary or full

	Line string // command line without files, cases and artifacts
	Log  io.Writer
	// called with the number of ended cases, of all cases, and the share of the work done; a case counts once for each
	// NIC
	Progress func(ended, of int, share float64)

	cases  []*run.Case
	old    []string          // warnings about fields that the files give by old names
	texts  map[string][]byte // texts of the scenario files, by run.Case.File
	tokens map[string]string // by token file: token of a device of kind address
	builds device.Builds
	shell  *emulation.Link // --link
}

// maxJobs bounds the number of concurrent cases.
const maxJobs = 64

// NewScenarios returns the default settings.
func NewScenarios() *Scenarios {
	return &Scenarios{DUT: DefaultDUT, Variant: "speed", ArtifactMB: 16, Jobs: min(runtime.GOMAXPROCS(0), maxJobs),
		Stats:  string(run.StatsSummary),
		Common: Common{ShrinkS: DefaultShrinkS}}
}

// ScenariosEnded is the outcome of the run command.
type ScenariosEnded struct {
	Ended
	Played []*Run
	broken *run.Case     // case whose run broke off; nil: none
	wall   time.Duration // elapsed wall time of the command; cases may run in parallel
}

// Run is a case played on one kind of NIC.
type Run struct {
	*run.Played
	NIC string
}

// String formats the results as text.
func (e *ScenariosEnded) String() string {
	var b strings.Builder
	width := 0
	for _, r := range e.Played {
		width = max(width, len(r.title()))
	}
	for _, r := range e.Played {
		verdict := "ok"
		if !r.Pass() {
			verdict = "FAIL"
		}
		fmt.Fprintf(&b, "%-5s %-*s %s\n", verdict, width, r.title(), r.figures())
	}
	e.tables(&b)
	return b.String()
}

// maxTables bounds the cases whose statistics are printed: for more of them, tables would hide the verdicts.
const maxTables = 4

// tables prints the statistics of the cases.
func (e *ScenariosEnded) tables(b *strings.Builder) {
	measured := slices.DeleteFunc(slices.Clone(e.Played), func(r *Run) bool { return r.Stats == nil })
	if n := len(measured); n > maxTables {
		fmt.Fprintf(b, "statistics of %d cases: in JSON; a table for %d cases or fewer\n", n, maxTables)
		return
	}
	for _, r := range measured {
		fmt.Fprintf(b, "\nstatistics of %s\n%s\n", r.title(), r.Stats)
	}
}

// title returns the name of the case, with the NIC if cases are compared.
func (r *Run) title() string {
	if r.NIC == "" {
		return r.Case.Name
	}
	return r.Case.Name + " on " + r.NIC
}

// figures formats the figures of a run as text.
func (r *Run) figures() string {
	x := r.Result
	switch {
	case x == nil && r.Traffic > 0:
		return fmt.Sprintf("broke off after %v", time.Duration(r.Traffic/1000))
	case x == nil:
		return "did not begin"
	}
	checked, judged := uint64(0), 0
	for _, n := range r.NICs {
		if n.Digest != "" {
			checked, judged = checked+n.Checked, judged+1
		}
	}
	text := fmt.Sprintf("%6d messages, %9d B in %10v", x.Messages, x.Bytes, time.Duration(r.Traffic/1000))
	if x.Lost > 0 {
		text += fmt.Sprintf(", %d lost", x.Lost)
	}
	if judged > 0 {
		text += fmt.Sprintf(", %d checked at %d NICs", checked, judged)
	}
	return text + "  " + r.Digest[:12]
}

// Run plays the cases and judges them. Canceling the context interrupts it.
func (s *Scenarios) Run(ctx context.Context) *ScenariosEnded {
	ctx, stop := s.start(ctx)
	defer stop()
	e := &ScenariosEnded{Ended: Ended{Object: result.Object{Command: "run", Seed: s.Seed}}}
	e.do(ctx, &s.Common, work{
		jobs: min(s.Jobs, maxJobs),
		each: caseNeeds(minServers), // the others are checked when the files have been read
		prepare: func() (string, error) {
			out, err := s.prepare(ctx)
			if s.Seed == 0 && len(s.cases) > 0 {
				e.Object.Seed = s.cases[0].AllWorkloads()[0].Seed
			}
			return out, err
		},
		play: func() error {
			return errors.Join(s.play(ctx, e), s.excuse(ctx, &e.Object, s.wave(ctx, e)), s.shrink(ctx, e))
		},
		differs:  func(error) bool { return len(e.Object.Findings) > 0 },
		rtl:      func() string { return s.rtl(e) },
		bundle:   func(x *pipeline.Bundling) error { return s.bundle(x, e) },
		describe: func(o *result.Object) { s.describe(o, e) },
	})
	return e
}

// prepare completes the settings. It reports every wrong setting at once.
func (s *Scenarios) prepare(ctx context.Context) (string, error) {
	var errs []error
	switch s.NIC {
	case "", device.Model, device.RTL, NICBoth:
	default:
		errs = append(errs, fmt.Errorf("--nic %q: want %s, %s or %s", s.NIC, device.Model, device.RTL, NICBoth))
	}
	if !build.Variant(s.Variant).Plays() {
		errs = append(errs, fmt.Errorf("--variant %q: want speed, tuned or debug", s.Variant))
	}
	const most = 1_000_000
	if s.ArtifactMB < 0 || s.ArtifactMB > most {
		errs = append(errs, fmt.Errorf("--artifact-mb %d: want 0 (no limit) to %d", s.ArtifactMB, most))
	}
	level, err := run.ParseStatsLevel(s.Stats)
	if err != nil {
		errs = append(errs, fmt.Errorf("--stats %w", err))
	}
	s.paged = level == run.StatsFull
	if s.Jobs < 1 || s.Jobs > maxJobs {
		errs = append(errs, fmt.Errorf("--jobs %d: want 1 to %d", s.Jobs, maxJobs))
	}
	var errLink error
	s.shell, errLink = s.link()
	errs = append(errs, errLink, s.shrinks(), s.parse(!s.NoArtifacts, s.Report && s.NIC != device.Model),
		Once("file", s.Files), Once("case", s.Only), s.load())
	errs = append(errs, s.requireOneRun(len(s.cases) == 1, "one case, by --only"), s.linked())
	if err := errors.Join(errs...); err != nil {
		return "", &UsageError{err}
	}
	err = errors.Join(s.dut(), s.captures(ctx), s.Part.Check(len(s.cases), "cases"))
	s.cases = shard.Of(s.Part, s.cases)
	if err = errors.Join(err, s.remotes(ctx)); err != nil {
		return "", &UsageError{err}
	}
	return s.folder(s.Out, "run-"+cmp.Or(s.NIC, "files")), s.fits()
}

// minServers is the least number of servers of a case.
const minServers = 2

// fits checks the system's limits for the cases with the most servers.
func (s *Scenarios) fits() error {
	most := minServers
	for _, c := range s.cases {
		most = max(most, len(c.Board.All()))
	}
	return checkLimits(min(s.Jobs, len(s.cases)), caseNeeds(most))
}

// load reads the scenario files. It refuses cases of equal names, which nobody could tell apart.
func (s *Scenarios) load() error {
	s.texts = map[string][]byte{}
	var errs []error
	from := map[string]string{}
	for _, f := range s.Files {
		list, err := s.read(f)
		errs = append(errs, err)
		for _, c := range list {
			if other, twice := from[c.Spec.Name]; twice && other != f {
				errs = append(errs, fmt.Errorf("%s: name %q: %s has it, too: want a name of its own", f, c.Spec.Name,
					other))
				break
			}
			from[c.Spec.Name] = f
		}
		s.cases = append(s.cases, list...)
	}
	errs = append(errs, s.folders())
	if len(s.Only) == 0 || errors.Join(errs...) != nil {
		return errors.Join(errs...)
	}
	for _, want := range s.Only {
		if !slices.ContainsFunc(s.cases, func(c *run.Case) bool { return c.Name == want }) {
			errs = append(errs, fmt.Errorf("--only %s: no such case: want one of %s", want, names(s.cases)))
		}
	}
	s.cases = slices.DeleteFunc(s.cases, func(c *run.Case) bool { return !slices.Contains(s.Only, c.Name) })
	return errors.Join(errs...)
}

// read reads a file.
func (s *Scenarios) read(file string) ([]*run.Case, error) {
	text, err := files.Read(file, specfile.MaxBytes)
	if err != nil {
		return nil, err
	}
	name := s.Bundle.Shown(file)
	s.texts[name] = text
	list, err := run.Parse(name, text)
	if len(list) > 0 {
		s.old = append(s.old, list[0].OldNames()...)
	}
	if s.Bundle != nil && err == nil {
		for _, c := range list {
			err = errors.Join(err, c.Portable())
		}
	}
	return list, err
}

// folders refuses cases of different files whose artifacts would share a folder. Examples are a scenario named a-size_1
// beside a scenario a with size 1, and a scenario named a-on-rtl that has only RDMA NICs, whose folder bears no NIC's
// name, beside a scenario a played on RTL.
func (s *Scenarios) folders() error {
	var errs []error
	of := map[string]*run.Case{}
	for _, c := range s.cases {
		for _, nic := range s.nics(c) {
			folder := folderOf(c, nic)
			if first := of[folder]; first != nil && first.Spec.Name != c.Spec.Name {
				errs = append(errs, fmt.Errorf("%s: case %s and case %s of %s would share the folder %s: want "+
					"another name", c.File, c.Name, first.Name, first.File, folder))
				break
			}
			of[folder] = c
		}
	}
	return errors.Join(errs...)
}

// names lists the names of cases, only the first few of many.
func names(cases []*run.Case) string {
	const most = 12
	var all []string
	for _, c := range cases[:min(len(cases), most)] {
		all = append(all, c.Name)
	}
	if len(cases) > most {
		all = append(all, fmt.Sprintf("and %d more", len(cases)-most))
	}
	return strings.Join(all, ", ")
}

// nics returns the NICs on which to play a case, in order.
func (s *Scenarios) nics(c *run.Case) []string {
	if s.NIC != NICBoth {
		return []string{s.NIC}
	}
	if !c.Judged() {
		return []string{""}
	}
	return []string{device.Model, device.RTL}
}

// findings returns the findings of a run, each with the command line that reproduces it.
func (s *Scenarios) findings(r *Run) []result.Finding {
	for i := range r.Findings {
		f := &r.Findings[i]
		head := r.title() + ": "
		if !strings.HasPrefix(f.Text, head) {
			f.Text = head + f.Text
		}
		if s.Line != "" {
			f.Command = s.again(r)
		}
		if s.opened != nil {
			f.Folder = folderOf(r.Case, r.NIC)
		}
	}
	return r.Findings
}

// again returns the command line that repeats a case.
func (s *Scenarios) again(r *Run) string {
	return s.Line + " " + Quote([]string{"--only", r.Case.Name, r.Case.File})
}

// describe copies the results into the result object.
func (s *Scenarios) describe(o *result.Object, e *ScenariosEnded) {
	if e.Outcome != result.Usage {
		o.NIC = s.NIC
		e.Notices, o.Warnings = s.old, append(o.Warnings, s.old...)
	}
	o.WallS = e.wall.Seconds()
	digest := sha256.New()
	for _, r := range e.Played {
		x := result.ScenarioPlayed{
			File: r.Case.File, Name: r.Case.Name, NIC: r.NIC, Result: result.Pass.String(),
			Seed: r.Case.AllWorkloads()[0].Seed, Digest: r.Digest,
			Compare: string(r.Case.Expect.Compare), Traffic: int64(r.Traffic), SimPs: int64(r.Sim), NICs: r.NICs,
			Stats: r.Stats,
		}
		if !r.Pass() {
			x.Result = result.Mismatch.String()
		}
		if r.Result != nil {
			x.Messages, x.Bytes, x.Lost = r.Result.Messages, r.Result.Bytes, r.Result.Lost
		}
		for _, n := range r.NICs {
			o.Checked, o.Mismatches, o.Cycles = o.Checked+n.Checked, o.Mismatches+n.Mismatches, o.Cycles+n.Cycles
			o.Build = cmp.Or(o.Build, n.Build)
			_, _ = fmt.Fprintln(digest, n.Digest) // a hash never fails
		}
		_, _ = fmt.Fprintln(digest, x.Digest)
		o.SimPs += x.SimPs
		o.Scenarios = append(o.Scenarios, x)
		o.Cut = append(o.Cut, r.Cut...)
	}
	if len(e.Played) > 0 {
		o.Digest = fmt.Sprintf("%x", digest.Sum(nil))
	}
}

// Idle returns the run flags that have no effect with the other settings.
func (s *Scenarios) Idle() Idle {
	i := Idle{}
	i.unless(s.NIC != device.Model, "--nic model", "--nic rtl or both", "dut", "variant", "link", "wave",
		"with-rtl")
	i.unless(!s.NoArtifacts, "--no-artifacts", "artifacts", "out", "overwrite", "report", "artifact-mb", "shrink-s",
		"with-rtl")
	return i
}

// WithJobs adds --jobs to the flags that the command line to repeat a run leaves out: results do not depend on it.
func WithJobs(i Idle) Idle {
	i["jobs"] = "changes nothing"
	return i
}
