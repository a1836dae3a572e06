package cli

import (
	"context"
	"errors"
	"fmt"
	"io"
	"math"
	"path/filepath"
	"strings"

	"nictwin/models/nic/boundary"
	"nictwin/rtlbridge/build"

	"nictwin/scenarios/bed/device"
	"nictwin/scenarios/fuzz"
	"nictwin/scenarios/fuzz/program"
	"nictwin/scenarios/observe/result"
	"nictwin/scenarios/observe/waves"
	"nictwin/scenarios/replay"
	"nictwin/scenarios/run"
)

// WaveFlag holds the flag --wave of commands that play on NICs: which run is repeated on the build that dumps
// waveforms.
type WaveFlag struct {
	WaveText string // as given; empty: `fail` for a run with a report page, `never` for others
	policy   waves.Policy
	implied  bool // the flag was not given, but the page of a failing run links to a waveform
}

// parse parses the flag. artifacts says that the run has a folder for artifacts, such as waveforms; page says that the
// run writes a report page, and that its device has a build that dumps waveforms.
func (w *WaveFlag) parse(artifacts, page bool) (err error) {
	if w.WaveText == "" {
		w.WaveText = "never"
		if w.implied = page && artifacts; w.implied {
			w.WaveText = "fail"
		}
	}
	if w.policy, err = waves.Parse(w.WaveText); err != nil {
		return fmt.Errorf("--wave: %w", err)
	}
	if w.policy.Kind != waves.Never && !artifacts {
		return fmt.Errorf("--wave %s: waveforms are artifacts: want no --no-artifacts, or leave it out", w.WaveText)
	}
	return nil
}

// requireOneRun returns an error if the command plays several runs and --wave asks for a waveform even of runs that
// pass. The text `want` says how to play a single run.
func (w *WaveFlag) requireOneRun(one bool, want string) error {
	if w.policy.Kind == waves.Never || w.policy.Kind == waves.Fail || one {
		return nil
	}
	return fmt.Errorf("--wave %s: of one run: want %s, or --wave fail", w.WaveText, want)
}

// wants reports whether to repeat a run for its waveform; failed says whether the run had findings.
func (w *WaveFlag) wants(ctx context.Context, failed bool) bool {
	return ctx.Err() == nil && w.policy.Kind != waves.Never && (failed || w.policy.Kind != waves.Fail)
}

// wave returns the waveform to dump when the run is repeated, and the finding in the middle of its window. If no
// finding has a cycle, around which the window could be, it returns nil, and a warning in the object says so.
func (w *WaveFlag) wave(o *result.Object, dir string, findings []result.Finding) (wave *device.Wave,
	at *result.Finding) {
	for i := range findings {
		f := &findings[i]
		if f.Cycle != nil && (at == nil || f.NIC == at.NIC && *f.Cycle < *at.Cycle) {
			at = f
		}
	}
	if at == nil && w.policy.Kind == waves.Fail {
		o.Warnings = append(o.Warnings, "--wave fail: no waveform, for no finding has a cycle to show: --wave always "+
			"or --wave A:B of this run alone writes one")
		return nil, nil
	}
	wave = &device.Wave{Dir: dir, Policy: w.policy}
	if at != nil {
		wave.Failed, wave.At = true, uint64(max(0, *at.Cycle))
		wave.Marks = []waves.Mark{{Name: "difference", Cycle: wave.At}}
		wave.Module = moduleOf(at)
		if w.policy.Kind == waves.Fail {
			wave.Slot = at.NIC
		}
	}
	return wave, at
}

// moduleOf returns the RTL module that a finding names; empty: none.
func moduleOf(f *result.Finding) string {
	for _, file := range f.Files {
		if name, ok := strings.CutSuffix(filepath.Base(file), ".sv"); ok {
			return name
		}
	}
	return ""
}

// left adds the waveform that the repeated run wrote to the result object. Parameter `again` holds the findings of the
// repeated run; nil: unknown.
func (w *WaveFlag) left(ctx context.Context, o *result.Object, log io.Writer, wave *device.Wave, at *result.Finding,
	again []result.Finding) error {
	note := ""
	switch {
	case at == nil || again == nil:
	case len(again) == 0:
		note = "the run does not fail on the build that writes waveforms"
	case !sameFinding(at, again):
		note = "on the build that writes waveforms it fails so: " + again[0].Head()
	}
	for _, f := range wave.Left {
		x := result.Wave{FST: f.FST, SaveFile: f.SaveFile, From: f.From, To: -1, Note: note}
		if f.To <= math.MaxInt64 {
			x.To = int64(f.To)
		}
		o.Waves = append(o.Waves, x)
	}
	return wave.Save(ctx, log)
}

func sameFinding(f *result.Finding, list []result.Finding) bool {
	for i := range list {
		x := &list[i]
		if x.Cycle != nil && *x.Cycle == *f.Cycle && x.Field == f.Field && x.NIC == f.NIC {
			return true
		}
	}
	return false
}

// settling is the number of cycles that a repeated run continues after the window of its waveform, so that findings
// made late still appear.
const settling = 50_000

// wave repeats a replay, up to some cycles after the window. stop is the error that ended it, or nil. If it hung
// without a mismatch, the window is around its latest progress.
func (r *Replay) wave(ctx context.Context, e *ReplayEnded, stop error) error {
	if e.Result == nil || r.Out == "" {
		return nil
	}
	found, failed := e.Result.Findings, differs(e.Result, stop)
	hang, hangs := errors.AsType[*replay.StuckError](stop)
	if hangs = hangs && !failed; hangs {
		found, failed = []result.Finding{{Cycle: new(hang.Since())}}, true
	} else if stop != nil && !failed { // broken off without a mismatch: the device or nictwin failed
		return nil
	}
	if !r.wants(ctx, failed) {
		return nil
	}
	w, at := r.WaveFlag.wave(&e.Object, r.Out, found)
	if w == nil {
		return nil
	}
	if hangs {
		w.Marks[0].Name, at = "latest_progress", nil
	}
	res, cut, err := r.repeat(ctx, w)
	again, still := errors.AsType[*replay.StuckError](err)
	var same []result.Finding // of the repeated run; nil: unknown, because it was stopped before it had any
	switch otherwise := err != nil && !cut && !(hangs && still && again.Key() == hang.Key()); {
	case len(w.Left) == 0 && err != nil:
		return waveError(err)
	case otherwise && !differs(res, err): // ended by another error, such as an assertion that waveform builds check
		same = []result.Finding{result.OfError(err)}
	case res != nil && !(cut && len(res.Findings) == 0):
		same = append([]result.Finding{}, res.Findings...)
	}
	return r.left(ctx, &e.Object, r.Log, w, at, same)
}

// repeat repeats a replay for its waveform w. cut reports that the repeated run was
// stopped soon after the window, before its end.
func (r *Replay) repeat(ctx context.Context, w *device.Wave) (res *replay.Result, cut bool, err error) {
	o := r.Options
	o.Out, o.Files, o.Events, o.Record, o.Digest, o.RTLCoverage = "", nil, false, nil, false, ""
	o.Progress, o.Beat = nil, nil
	o.Wave = w
	ctx, stop := context.WithCancel(ctx)
	defer stop()
	o.Observe = func(c boundary.Crossing) {
		if len(w.Left) > 0 && uint64(c.Last) > w.Left[0].To && uint64(c.Last)-w.Left[0].To > settling && !cut {
			cut = true
			stop()
		}
	}
	run, err := replay.New(ctx, o)
	if err != nil {
		return nil, false, err
	}
	res, err = run.Play()
	return res, cut, errors.Join(err, run.Close())
}

// wave repeats the first failed program in its shrunk form, or the only program.
func (f *Fuzz) wave(ctx context.Context, e *FuzzEnded) error {
	r := e.Result
	if r == nil || r.Runs == 0 || f.Out == "" || !f.wants(ctx, len(r.Failures) > 0) {
		return nil
	}
	var found []result.Finding
	o := f.Options
	if len(r.Failures) > 0 {
		x := &r.Failures[0]
		found = []result.Finding{x.Finding}
		p, err := program.Load(x.Program)
		if err != nil {
			return waveError(err)
		}
		o.Program = p
	}
	w, at := f.WaveFlag.wave(&e.Object, f.Out, found)
	if w == nil {
		return nil
	}
	o.Out, o.Files, o.Progress, o.Beat, o.RTLCoverage, o.Shrink, o.Jobs, o.Wave = "", nil, nil, nil, "", false, 1, w
	again, err := fuzz.Run(ctx, o)
	if err != nil {
		return waveError(err)
	}
	found = []result.Finding{}
	for i := range again.Failures {
		found = append(found, again.Failures[i].Finding)
	}
	return f.left(ctx, &e.Object, f.Log, w, at, found)
}

// wave repeats the first case that failed on RTL, or else the first case on RTL.
func (s *Scenarios) wave(ctx context.Context, e *ScenariosEnded) error {
	var r *Run
	for _, x := range e.Played {
		o := run.Options{NIC: x.NIC}
		if x.Case.NeedsRTL(&o) && len(x.Case.Remotes(&o)) == 0 && (r == nil || r.Pass() && !x.Pass()) {
			r = x
		}
	}
	if r == nil || s.opened == nil || !s.wants(ctx, !r.Pass()) {
		return nil
	}
	w, at := s.WaveFlag.wave(&e.Object, s.opened.Path(folderOf(r.Case, r.NIC)), r.Findings)
	if w == nil {
		return nil
	}
	o := s.options(r.NIC)
	o.Wave, o.Progress, o.Beat = w, nil, nil
	p, err := r.Case.Play(ctx, o)
	if p == nil || err != nil && p.Pass() {
		return waveError(err)
	}
	again := p.Findings
	if again == nil {
		again = []result.Finding{}
	}
	return s.left(ctx, &e.Object, s.Log, w, at, again)
}

// excuse turns the error of a waveform that nobody asked for into a warning: it does not change how the run ends.
func (w *WaveFlag) excuse(ctx context.Context, o *result.Object, err error) error {
	if err == nil || !w.implied || ctx.Err() != nil {
		return err
	}
	o.Warnings = append(o.Warnings, err.Error())
	return nil
}

// waveError says that an error occurred in the run for the waveform.
func waveError(err error) error {
	if err == nil {
		return nil
	}
	return fmt.Errorf("--wave: the run on build %s: %w", build.VariantWaves, err)
}
