package cli

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"sync"
	"time"

	"nictwin/scenarios/bed/device"
	"nictwin/scenarios/bed/judge"
	"nictwin/scenarios/observe/bundle"
	"nictwin/scenarios/observe/result"
	"nictwin/scenarios/observe/wiretap"
	"nictwin/scenarios/run"
	"nictwin/scenarios/run/probe/output"
	"nictwin/scenarios/run/shrink"
	"nictwin/scenarios/shell/files"
	"nictwin/scenarios/shell/inorder"
	"nictwin/scenarios/shell/pipeline"
)

// turn is a case to be played on one kind of NIC.
type turn struct {
	c     *run.Case
	nic   string
	other *turn // the same case on the NIC to compare with, or nil
	first bool  // this turn, not `other`, comes first in the comparison

	run   *Run // nil: the turn has not ended, or did not begin
	err   error
	ended bool
	taken bool           // the turn's results are among those of the command
	dir   *files.Folder  // folder for its artifacts; nil: none
	done  float64        // share of the case that has been played
	cost  int64          // estimated duration, in any unit
	out   result.Outcome // outcome for err
}

// turns holds all turns of a command (type turn: a case on a kind of NIC), which several goroutines play.
type turns struct {
	s    *Scenarios
	list []*turn

	mu     sync.Mutex
	ended  int
	worked float64 // cost of all that has been played
	total  float64
}

// turns lists what a command plays: each case on each of its NICs, in the order in which results are reported.
func (s *Scenarios) turns() *turns {
	t := &turns{s: s}
	for _, c := range s.cases {
		var before *turn
		for _, nic := range s.nics(c) {
			x := &turn{c: c, nic: nic, other: before, first: before == nil, cost: c.Cost(&run.Options{NIC: nic})}
			if before != nil {
				before.other = x
			}
			before = x
			t.list = append(t.list, x)
			t.total += float64(x.cost)
		}
	}
	return t
}

// play plays all cases, several at a time, and takes their results in order, as if they were played one after the
// other. A mismatch does not stop the other cases.
func (s *Scenarios) play(ctx context.Context, e *ScenariosEnded) error {
	begin := time.Now()
	t := s.turns()
	var failed, wrong error
	list := inorder.List[*turn]{
		Count: len(t.list), Most: s.Jobs,
		Cost: t.cost,
		Do: func(ctx context.Context, i int) *turn {
			t.play(ctx, t.list[i])
			return t.list[i]
		},
		Ends: func(x *turn) bool { return x.out != result.Pass && x.out != result.Mismatch },
		Take: func(_ int, x *turn) {
			x.taken = true
			if x.run != nil {
				e.Played = append(e.Played, x.run)
				e.Object.Findings = append(e.Object.Findings, s.findings(x.run)...)
			}
			if x.out != result.Pass && x.out != result.Mismatch {
				failed, e.broken = x.err, x.c
				return
			}
			wrong = errors.Join(wrong, x.err)
		},
	}
	err := list.Run(ctx)
	e.wall = time.Since(begin)
	if err = errors.Join(err, t.discard()); failed != nil {
		return errors.Join(failed, err)
	}
	return errors.Join(wrong, err)
}

// cost returns the cost of a case on all its NICs. Both turns of a compared pair have the same cost, so that they are
// played in succession.
func (t *turns) cost(i int) int64 {
	x := t.list[i]
	if x.other == nil {
		return x.cost
	}
	return x.cost + x.other.cost
}

// play plays one case on its NIC. When both turns of a compared pair have ended, the second gets the difference as a
// finding.
func (t *turns) play(ctx context.Context, x *turn) {
	run, err := t.s.one(ctx, x, func(done, total int) { t.progress(x, float64(done)/float64(max(total, 1))) })
	out := Decide(ctx, err, false)
	t.progress(x, 1)
	t.mu.Lock()
	defer t.mu.Unlock()
	x.run, x.err, x.out, x.ended = run, err, out, true
	t.ended++
	switch {
	case x.other == nil:
		x.run.forget()
	case x.other.ended:
		a, b := x, x.other
		if !a.first {
			a, b = b, a
		}
		if a.run != nil && b.run != nil {
			compare(a.run, b.run)
		}
		a.run.forget()
		b.run.forget()
	}
	t.notifyProgress()
}

// progress records the share of a case that has been played.
func (t *turns) progress(x *turn, share float64) {
	t.mu.Lock()
	defer t.mu.Unlock()
	t.worked += (share - x.done) * float64(x.cost)
	x.done = share
	t.notifyProgress()
}

// notifyProgress calls Scenarios.Progress, if it is set.
func (t *turns) notifyProgress() {
	if t.s.Progress != nil {
		t.s.Progress(t.ended, len(t.list), t.worked/t.total)
	}
}

// artifacts lists the files that a case may leave.
var artifacts = append([]string{result.Marker, judge.EventsFile, judge.PcapngFile, wiretap.File}, output.Files()...)

// discard removes the artifacts of cases that are not among the results, because an earlier case ended the command.
func (t *turns) discard() error {
	var errs []error
	for _, x := range t.list {
		if x.taken || x.dir == nil {
			continue
		}
		errs = append(errs, t.s.opened.RemoveFolder(folderOf(x.c, x.nic), artifacts...))
	}
	return errors.Join(errs...)
}

// forget releases the completions of a run, which are only needed for the comparison.
func (r *Run) forget() {
	if r != nil && r.Result != nil {
		r.Result.Streams = nil
	}
}

// one plays a case on a kind of NIC.
func (s *Scenarios) one(ctx context.Context, x *turn, progress func(done, total int)) (_ *Run, err error) {
	o := s.options(x.nic)
	o.Progress, o.Beat = progress, s.Heartbeat
	if s.opened != nil {
		if o.Dir, err = s.opened.Sub(folderOf(x.c, x.nic)); err != nil {
			return nil, err
		}
		x.dir = o.Dir
		defer func() { err = errors.Join(err, o.Dir.Close()) }()
		if err := result.Mark(o.Dir); err != nil {
			return nil, err
		}
	}
	p, err := x.c.Play(ctx, o)
	if p == nil {
		return nil, err
	}
	return &Run{p, x.nic}, err
}

// folderOf returns the folder name for a case's artifacts.
func folderOf(c *run.Case, nic string) string { return result.CaseFolder(c.Name, nic) }

// compare adds the difference between two runs, if any, as a finding of the second.
func compare(a, b *Run) {
	if a.Result == nil || b.Result == nil {
		return
	}
	d := a.Result.Difference(b.Result, a.Case.Expect.Compare)
	if d == "" {
		return
	}
	b.Findings = append(b.Findings, result.Finding{
		Scenario: a.Case.Name, Domain: result.Application, Field: "result",
		Text: fmt.Sprintf("results on %s and on %s differ: %s", a.NIC, b.NIC, d),
	})
}

// options returns the options of a case on a kind of NIC, without artifacts.
func (s *Scenarios) options(nic string) run.Options {
	const mb = 1_000_000
	return run.Options{
		NIC: nic, Stats: run.StatsLevel(s.Stats), DUT: s.DUT, Variant: s.Variant, Link: s.shell, Builds: &s.builds,
		Seed:          s.Seed,
		ArtifactBytes: int64(s.ArtifactMB) * mb, Log: s.Log,
		Resolve: func(dut string) (string, error) { return s.sized(dut, device.Eth{}) },
		Token:   func(file string) (string, error) { return s.tokens[file], nil }, // method remotes has read them
	}
}

// failing returns the first case that failed, or whose run broke off; nil if none did.
func (e *ScenariosEnded) failing() *run.Case {
	for _, r := range e.Played {
		if !r.Pass() {
			return r.Case
		}
	}
	return e.broken
}

// rtl returns the manifest of the RTL for the first case that failed or, without one, for the only case; empty if that
// case plays on no RTL.
func (s *Scenarios) rtl(e *ScenariosEnded) string {
	c := e.failing()
	if c == nil && len(s.cases) == 1 {
		c = s.cases[0]
	}
	if c != nil && slices.ContainsFunc(s.nics(c), func(nic string) bool {
		return c.NeedsRTL(&run.Options{NIC: nic})
	}) {
		return s.DUT
	}
	return ""
}

// bundle adds the first case that failed, as a scenario file.
func (s *Scenarios) bundle(x *pipeline.Bundling, e *ScenariosEnded) error {
	c := e.failing()
	if c == nil {
		return errors.New("the case is not known")
	}
	if err := c.Portable(); err != nil {
		return err
	}
	if small := e.Object.Shrunk; small != nil {
		x.Bundle.Info.Flags = slices.DeleteFunc(slices.Clone(s.Flags), func(f string) bool {
			name, _ := bundle.Flag(f)
			return name == "seed" // is in the file
		})
		x.AddShrunk(small, c.File)
		return nil
	}
	x.Bundle.Info.Flags = append(slices.Clone(s.Flags), "--only="+c.Name)
	x.Add(bundle.Scenario, c.File, s.texts[c.File])
	return nil
}

// shrink reduces the first case that failed.
func (s *Scenarios) shrink(ctx context.Context, e *ScenariosEnded) error {
	i := slices.IndexFunc(e.Played, func(r *Run) bool { return !r.Pass() })
	if i < 0 || s.shrinkTime() == 0 {
		return nil
	}
	r := e.Played[i]
	o := s.options(r.NIC)
	o.Beat = s.Heartbeat
	small, err := shrink.Shrink(ctx, r.Played, o, s.shrinkTime())
	if err != nil || small == nil {
		return explainShrinking(err)
	}
	small.Settings = map[string]string{}
	if s.NIC == NICBoth {
		small.Settings["nic"] = r.NIC
	}
	idle := WithJobs((&Scenarios{NIC: r.NIC}).Idle())
	for _, f := range []string{"only", "seed"} {
		idle[f] = "in the file"
	}
	if text := unshrunk(e.Played[i:]); text != "" {
		e.Object.Warnings = append(e.Object.Warnings, text)
	}
	return e.keep(&s.Common, small, idle)
}

// unshrunk names the cases that fail beside the first one, which was shrunk; it is empty if there are none.
func unshrunk(list []*Run) string {
	const shown = 3
	var names []string
	for _, r := range list[1:] {
		if !r.Pass() {
			names = append(names, r.title())
		}
	}
	if len(names) == 0 {
		return ""
	}
	others := strings.Join(names[:min(shown, len(names))], ", ")
	if n := len(names) - shown; n > 0 {
		others += fmt.Sprintf(" and %d more", n)
	}
	return fmt.Sprintf("only the first case that fails is shrunk, %s; not shrunk: %s; --only and --nic play one "+
		"of them", list[0].title(), others)
}
