package cli

import (
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strconv"
	"strings"

	"nictwin/models/board"

	"nictwin/scenarios/bed/boards"
	"nictwin/scenarios/bed/device"
	"nictwin/scenarios/fuzz"
	"nictwin/scenarios/fuzz/coverage"
	"nictwin/scenarios/fuzz/player"
	"nictwin/scenarios/fuzz/program"
	"nictwin/scenarios/observe/bundle"
	"nictwin/scenarios/observe/result"
	"nictwin/scenarios/shell/files"
	"nictwin/scenarios/shell/pipeline"
)

// Fuzz holds the settings of the fuzz command.
type Fuzz struct {
	Common
	WaveFlag
	fuzz.Options
	ProgramFile string // parsed into Program
	Coverage    string // file to which hits are added
	device      string // name or path of the device, as the user gave it
}

// NewFuzz returns the default settings.
func NewFuzz() *Fuzz {
	f := &Fuzz{Options: fuzz.DefaultOptions()}
	f.Seed, f.DUT, f.ShrinkS = DefaultSeed, DefaultDUT, DefaultShrinkS
	return f
}

// FuzzEnded is the outcome of a run of programs.
type FuzzEnded struct {
	Ended
	Result *fuzz.Result     // nil: the run did not begin
	Report *coverage.Report // nil: the run did not begin
}

// Run plays programs and judges them. Canceling the context interrupts it.
func (f *Fuzz) Run(ctx context.Context) *FuzzEnded {
	ctx, stop := f.start(ctx)
	defer stop()
	e := &FuzzEnded{Ended: Ended{Object: result.Object{Command: "fuzz", Seed: f.Seed}}}
	e.do(ctx, &f.Common, work{
		jobs:    f.Jobs,
		prepare: f.prepare,
		play: func() (err error) {
			f.Files, f.Beat = f.opened, f.Heartbeat
			e.Result, err = fuzz.Run(ctx, f.Options)
			return errors.Join(err, f.addCoverage(ctx, e), f.excuse(ctx, &e.Object, f.wave(ctx, e)))
		},
		differs: func(error) bool { return e.Result != nil && len(e.Result.Failures) > 0 },
		rtl:     f.rtl,
		bundle:  func(x *pipeline.Bundling) error { return f.bundle(x, e.Result) },
		describe: func(o *result.Object) {
			o.Seed = f.Seed // changed if a program was given: the program's seed
			f.settings(e)
			if e.Result != nil {
				f.describe(e)
			}
		},
	})
	return e
}

// prepare completes the options. It reports every wrong setting at once.
func (f *Fuzz) prepare() (string, error) {
	f.Shard = f.Part
	var errLink error
	f.Link, errLink = f.link()
	if err := errors.Join(errLink, f.shrinks(), f.parse(!f.NoArtifacts, f.repeats()), f.program(),
		f.requireOneRun(f.ProgramFile != "" || f.Runs == 1, "--program or --runs 1"), f.board(), f.findDevice(),
		f.checkHitsFile(), f.Validate(), checkCoverageFolder(f.RTLCoverage)); err != nil {
		return "", &UsageError{err}
	}
	f.Shrink, f.ShrinkTime = f.Shrink && f.ShrinkS > 0, f.shrinkLimit()
	f.Out = f.folder(f.Out, fmt.Sprintf("fuzz-%s-%d", f.NIC, f.Seed))
	f.counted = f.RTLCoverage
	if f.ProgramFile != "" {
		f.inputs = programsIn(f.Out)
	}
	return f.Out, nil
}

// repeats reports whether the run writes a page and can be repeated on the build that dumps waveforms.
func (f *Fuzz) repeats() bool { return f.Report && f.NIC != device.Model && f.RTLCoverage == "" }

// programsIn lists the program files in a folder. A run that plays one of them keeps the others, too, when it replaces
// the artifacts there.
func programsIn(dir string) (list []string) {
	entries, _ := os.ReadDir(dir) // programs in an unreadable folder are not listed
	for _, e := range entries {
		if ok, _ := filepath.Match("program-*.json", e.Name()); ok { // the pattern is valid
			list = append(list, filepath.Join(dir, e.Name()))
		}
	}
	return list
}

// program reads the program to play.
func (f *Fuzz) program() error {
	if f.ProgramFile == "" {
		return nil
	}
	p, err := program.Load(f.ProgramFile)
	if err != nil {
		return fmt.Errorf("--program: %w", err)
	}
	if f.Bundle != nil {
		if p.Board.Card != "" {
			return fmt.Errorf("%s: its program names the board %q, and a bundle names no files: want the board as an "+
				"input", f.Bundle.Path, p.Board.Card)
		}
		p.Board.Card = strings.Join(f.Bundle.Inputs(bundle.Board), "")
	}
	f.Program = p
	f.Seed = f.Program.Seed
	return nil
}

// rtl returns the manifest of the RTL.
func (f *Fuzz) rtl() string {
	if f.NIC != device.RTL {
		return ""
	}
	return f.DUT
}

// bundle adds the first program that failed, or the one at which the device died, and its board.
func (f *Fuzz) bundle(x *pipeline.Bundling, r *fuzz.Result) (err error) {
	var p *program.Program
	variant := ""
	switch {
	case r != nil && len(r.Failures) > 0:
		first := &r.Failures[0]
		if p, err = program.Load(first.Program); err != nil {
			return err
		}
		x.Bundle.Info.Original = map[string]int{"operations": first.Ops}
		x.Bundle.Info.Shrunk = map[string]int{"operations": first.Shrunk}
		variant = first.Variant
	case r != nil && r.Broken != nil:
		b := *r.Broken.Program
		p, variant = &b, r.Broken.Variant
		x.Bundle.Info.Original = map[string]int{"operations": len(p.Ops)}
	default:
		return errors.New("the program is not known")
	}
	board := p.Board.Card
	p.Board.Card = ""
	text, err := p.JSON()
	if err != nil {
		return err
	}
	x.Bundle.Info.Flags = []string{"--nic=" + f.NIC}
	if f.NIC == device.RTL {
		x.Bundle.Info.Flags = append(x.Bundle.Info.Flags, "--variant="+pipeline.Untuned(variant))
	}
	if f.LinkText != "" {
		x.Bundle.Info.Flags = append(x.Bundle.Info.Flags, "--link="+f.LinkText)
	}
	x.Bundle.Add(bundle.Program, "program.json", text)
	return x.AddBoard(board)
}

// board checks the board before the run, and takes the width of its ports.
func (f *Fuzz) board() error {
	name := f.Board
	if f.Program != nil {
		name = f.Program.Board.Card
	}
	if name == "" {
		return nil
	}
	c, err := boards.Card(name)
	if err != nil {
		return fmt.Errorf("--board: %w", err)
	}
	if err := player.CheckCard(c); err != nil {
		return fmt.Errorf("--board: board %s: %w", name, err)
	}
	f.EthBits = cmp.Or(f.EthBits, c.EthBits)
	return nil
}

// findDevice finds the manifest of an RTL device.
func (f *Fuzz) findDevice() error {
	if f.NIC != device.RTL {
		return nil
	}
	path, err := f.nic(f.DUT, f.eth())
	if err != nil {
		return err
	}
	f.device, f.DUT = f.DUT, path
	return nil
}

// eth returns the Ethernet ports of the programs' NIC; the maximum if each program chooses.
func (f *Fuzz) eth() device.Eth {
	switch {
	case f.Program != nil:
		return device.Eth{Ports: f.Program.Board.Ports, Bits: f.Program.Board.EthBits}
	case f.Ports == 0:
		return device.Eth{Ports: board.MaxPorts, Bits: f.EthBits}
	}
	return device.Eth{Ports: f.Ports, Bits: f.EthBits}
}

// checkHitsFile checks, before the run, that the coverage file can be read and written.
func (f *Fuzz) checkHitsFile() error {
	if f.Coverage == "" {
		return nil
	}
	err := errors.Join(files.Link(f.Coverage), files.Lockable(f.Coverage), coverage.New().Load(f.Coverage))
	if err == nil {
		err = files.Probe(filepath.Dir(f.Coverage))
	}
	if err != nil {
		return fmt.Errorf("--coverage: %w", err)
	}
	return nil
}

// addCoverage adds the hits to the coverage file and reports them with those of earlier runs. A run without programs
// has no report.
func (f *Fuzz) addCoverage(ctx context.Context, e *FuzzEnded) error {
	if e.Result.Runs == 0 {
		return nil
	}
	c := e.Result.Coverage
	var added error
	if f.Coverage != "" {
		if added = c.AddTo(ctx, f.Coverage, f.say); added != nil {
			added = fmt.Errorf("--coverage: %w", added)
		}
	}
	e.Report = c.Report(coverage.NewUniverse(e.Result.Sizes))
	if f.Out == "" {
		return added
	}
	text, err := json.MarshalIndent(e.Report, "", " ")
	if err == nil {
		err = f.Files.Write(result.CoverageFile, append(text, '\n'))
	}
	return errors.Join(added, err)
}

// say writes a line of progress to the log.
func (f *Fuzz) say(format string, a ...any) {
	if f.Log != nil {
		_, _ = fmt.Fprintf(f.Log, "nictwin fuzz: "+format+"\n", a...) // an error could not be reported anywhere
	}
}

// settings copies the settings into the result object, unless the command line was refused: they may be invalid then.
func (f *Fuzz) settings(e *FuzzEnded) {
	o := &e.Object
	switch {
	case e.Outcome == result.Usage:
		return
	case f.Program != nil:
		o.Ports, o.Stall = f.Program.Board.Ports, new(f.Program.Board.Stall)
	case f.Stall >= 0:
		o.Stall = new(f.Stall)
		fallthrough
	default:
		o.Ports = f.Ports
	}
	o.NIC = f.NIC
}

// describe copies the results into the result object.
func (f *Fuzz) describe(e *FuzzEnded) {
	r, o := e.Result, &e.Object
	o.Digest, o.Build, o.Checked, o.Mismatches = r.Digest, r.Build, r.Checked, uint64(len(r.Failures))
	o.Cycles, o.SimPs, o.WallS = r.Cycles, int64(r.Sim), r.Wall.Seconds()
	o.Fuzz = &result.Fuzzed{Runs: r.Runs, Failures: r.Failures, Debug: r.Debug, Unchecked: r.Unchecked}
	if o.Fuzz.Failures == nil {
		o.Fuzz.Failures = []result.Failure{}
	}
	if p := e.Report; p != nil {
		o.Fuzz.Coverage = result.Covered{Hit: p.Hit, Bins: p.Bins, Share: p.Share, Unreachable: len(p.Unreachable)}
	}
	for i := range r.Failures {
		x := &r.Failures[i]
		found := x.Finding
		found.Text = fmt.Sprintf("program %d, %d of its %d operations: %s", x.Number, x.Shrunk, x.Ops, found.Text)
		found.Program = &result.Program{Number: x.Number, Operations: x.Shrunk, Of: x.Ops, File: x.Program}
		found.Command = f.again(x)
		o.Findings = append(o.Findings, found)
	}
	if len(r.Failures) > 0 {
		o.Reproduce = f.again(&r.Failures[0])
	}
}

// again returns the command line that plays a failed program again.
func (f *Fuzz) again(x *result.Failure) string {
	if f.Bundle != nil {
		return f.Again
	}
	words := []string{f.Self, "fuzz", "--nic", f.NIC}
	idle := f.Idle()
	if idle["dut"] == "" && f.device != DefaultDUT {
		words = append(words, "--dut", f.device)
	}
	if idle["variant"] == "" {
		words = append(words, "--variant", x.Variant)
	}
	if f.Home != "" {
		words = append(words, "--home", f.Home)
	}
	if x.Program != "" {
		return Quote(append(words, "--program", x.Program))
	}
	if f.ProgramFile != "" {
		return f.Again
	}
	if f.Overlap {
		words = append(words, "--overlap")
	}
	words = append(words, "--seed", strconv.FormatUint(f.Seed, 10), "--skip", strconv.Itoa(x.Number), "--runs", "1")
	if f.Ports != 0 {
		words = append(words, "--ports", strconv.Itoa(f.Ports))
	}
	if f.Build != "" {
		words = append(words, "--build", f.Build)
	}
	if f.Board != "" {
		words = append(words, "--board", f.Board)
	}
	if f.EthBits != 0 {
		words = append(words, "--eth-bits", strconv.Itoa(f.EthBits))
	}
	if f.Stall >= 0 {
		words = append(words, "--stall", strconv.Itoa(f.Stall))
	}
	return Quote(words)
}
