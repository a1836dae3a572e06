package cli

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"maps"
	"os"
	"path/filepath"
	"time"

	"nictwin/models/board"
	"nictwin/models/nic/nicspec"
	"nictwin/rtlbridge/emulation"
	"nictwin/rtlbridge/manifest"
	"nictwin/rtlbridge/protocol"

	"nictwin/scenarios/bed/device"
	"nictwin/scenarios/fuzz/player"
	"nictwin/scenarios/observe/result"
	"nictwin/scenarios/shell/files"
	"nictwin/scenarios/shell/pipeline"
	"nictwin/scenarios/shell/shard"
)

// Common holds the settings shared by all commands that play on a NIC.
type Common struct {
	Place
	Timed
	NoArtifacts bool
	Overwrite   bool   // artifacts may go into a folder that contains other files
	Self        string // name by which the program was called
	Again       string // the command line that repeats the command
	// AgainWith returns Again with other inputs, with changed flags, and without idle flags.
	AgainWith func(inputs []string, flags map[string]string, idle Idle) string
	ShrinkS   int         // seconds for shrinking an input that fails; 0: none
	Refused   error       // error about given flags without effect
	Report    bool        // write a page into the artifacts
	Part      shard.Shard // part of the cases, programs, runs or captures to play
	LinkText  string      // way to an RTL device through an emulation shell; empty: it is simulated without one

	Bundle  *pipeline.Played // the bundle that is played; nil: none
	Flags   []string         // flags for the bundle of this run, in the form of bundle.Info
	WithRTL bool             // bundles hold the RTL

	opened  *files.Folder // folder for artifacts, open during the run; nil: none
	paged   bool          // other settings than Report ask for the page, too
	counted string        // folder of RTL coverage for the page; empty: none
	inputs  []string      // input files, which are kept even if an earlier run wrote them
}

// folder returns the path of the folder for artifacts: `said`, which the user gave, or out/`name`; empty: none.
func (c *Common) folder(said, name string) string {
	switch {
	case c.NoArtifacts:
		return ""
	case said != "":
		return said
	}
	if c.Part.Of > 0 {
		name += fmt.Sprintf("-%d-of-%d", c.Part.Index, c.Part.Of)
	}
	return filepath.Join("out", name)
}

// link reads the flag --link; nil: none.
func (c *Common) link() (*emulation.Link, error) {
	l, err := emulation.ParseLink(c.LinkText)
	if err != nil {
		return nil, fmt.Errorf("--link: %w", err)
	}
	return l, nil
}

// maxShrinkS bounds --shrink-s.
const maxShrinkS = 100_000

// shrinkTime returns the time for shrinking; 0 if the run writes no artifacts, among which the shrunk input would be.
func (c *Common) shrinkTime() time.Duration {
	if c.NoArtifacts {
		return 0
	}
	return c.shrinkLimit()
}

// shrinkLimit returns the time for shrinking by --shrink-s, whether the run writes artifacts or not.
func (c *Common) shrinkLimit() time.Duration { return time.Duration(c.ShrinkS) * time.Second }

// shrinks checks --shrink-s.
func (c *Common) shrinks() error {
	if c.ShrinkS < 0 || c.ShrinkS > maxShrinkS {
		return fmt.Errorf("--shrink-s %d: want 0 (no shrinking) to %d seconds", c.ShrinkS, maxShrinkS)
	}
	return nil
}

// explainShrinking names shrinking as the step that failed.
func explainShrinking(err error) error {
	if err == nil {
		return nil
	}
	return fmt.Errorf("--shrink-s: %w", err)
}

// keep writes a shrunk input into the folder of artifacts and tells how to play it. idle are the flags that have no
// effect with its settings.
func (e *Ended) keep(c *Common, s *result.Shrunk, idle Idle) error {
	var errs []error
	for _, f := range s.Inputs {
		errs = append(errs, c.opened.Write(f.Name, f.Data))
		s.Files = append(s.Files, c.opened.Path(f.Name))
	}
	s.Whole, e.Object.Shrunk = c.Again, s
	if c.AgainWith != nil {
		flags := maps.Clone(s.Settings)
		if flags == nil {
			flags = map[string]string{}
		}
		flags["shrink-s"] = "0"
		for _, f := range []string{"out", "overwrite", "shard"} {
			idle[f] = "another run's"
		}
		e.Object.Reproduce = c.AgainWith(s.Files, flags, idle)
	}
	return errors.Join(errs...)
}

// Defaults of the flags --seed, --dut and --shrink-s.
const (
	DefaultSeed = 1
	DefaultDUT  = "nic"

	DefaultShrinkS = 30
)

// Ended is the outcome of a command that plays on a NIC.
type Ended struct {
	Outcome result.Outcome
	Err     error    // reason for which the command did not finish
	Notices []string // those of Object.Warnings that are about the input, whatever the outcome
	Object  result.Object
}

// work holds the steps of a command that plays on a NIC.
type work struct {
	jobs int      // concurrent jobs; 0: one
	each jobNeeds // needs of each job; zero: programNeeds
	// prepare completes the settings and returns the folder for artifacts; empty: none. It reports every wrong setting
	// at once.
	prepare func() (out string, err error)
	play    func() error
	// differs reports whether something that was compared did not match, for a run that ended with err.
	differs func(err error) bool
	// describe copies the results into the result object.
	describe func(o *result.Object)
	// bundle adds inputs and flags of a run that failed; nil: the command has no bundles.
	bundle func(x *pipeline.Bundling) error
	// rtl returns the manifest of the RTL device; empty: no RTL is built here.
	rtl func() string
}

// do runs the steps of a command. However it ends, its verdict is written to the folder for artifacts.
func (e *Ended) do(ctx context.Context, c *Common, w work) {
	var dir *result.Folder
	err := checkLimits(w.jobs, cmp.Or(w.each, programNeeds))
	out := ""
	if err == nil {
		out, err = w.prepare()
	}
	if c.Refused != nil {
		err = errors.Join(&UsageError{c.Refused}, err)
	}
	err = errors.Join(c.check(), err)
	if err == nil {
		if c.Bundle != nil {
			c.inputs = append(c.inputs, c.Bundle.Path)
		}
		if dir, err = result.OpenFolder(out, c.Overwrite, c.inputs...); err != nil {
			err = &UsageError{err}
		}
	}
	if err == nil {
		c.opened = dir.Files
		if err = pipeline.Begin(dir, &e.Object, c.Again); err == nil {
			err = w.play()
		}
	}
	err = withFlags(Explain(err))
	e.end(ctx, err, w.differs(err))
	e.Object.Home, e.Object.Shard, e.Object.Link = c.Used, c.Part.String(), c.LinkText
	if e.Outcome != result.Usage {
		e.Object.Sources = c.sources(ctx)
	}
	w.describe(&e.Object)
	if e.Object.Reproduce == "" && (e.Outcome == result.Mismatch || e.Outcome == result.Infrastructure) {
		e.Object.Reproduce = c.Again
	}
	for i := range e.Object.Findings {
		if f := &e.Object.Findings[i]; f.Command == "" {
			f.Command = c.Again
		}
	}
	e.Object.Failure = Failure(ctx, e.Outcome, e.Err, e.Object.Findings)
	if err := e.bundle(c, dir, &w); err != nil {
		e.fail(ctx, err)
	}
	e.leave(ctx, c, dir)
}

// bundle writes the bundle of a run that failed. If the run itself was played from a bundle, it also records whether it
// reproduced that bundle's failure.
func (e *Ended) bundle(c *Common, dir *result.Folder, w *work) error {
	if w.bundle == nil || e.Outcome == result.Usage || e.Outcome == result.Interrupted {
		return nil
	}
	if c.Bundle != nil {
		e.Object.FromBundle = c.Bundle.Compare(&e.Object, w.rtl())
	}
	failed := e.Outcome == result.Mismatch || is[*protocol.InfraError](e.Err) || is[*player.CrashError](e.Err)
	if !failed || dir == nil || dir.Dir == "" {
		return nil
	}
	x := &pipeline.Bundling{Names: map[string]string{}, RTL: c.WithRTL, DUT: w.rtl()}
	x.Bundle.Info.Flags = c.Flags
	if c.Used != nil {
		x.Home = c.Used.Dir
	}
	err := w.bundle(x)
	if b, i := c.Bundle, &x.Bundle.Info; b != nil && b.Info.Original != nil {
		if i.Original = b.Info.Original; i.Shrunk == nil {
			i.Shrunk = b.Info.Shrunk
		}
	}
	if c.Bundle != nil && sameFile(c.Bundle.Path, dir.Files.Path(result.Bundle)) {
		err = errors.New("the bundle that was played lies there")
	}
	if err != nil {
		e.Object.Bundle = &result.Bundled{Note: err.Error()}
		return nil
	}
	return pipeline.WriteBundle(dir, &e.Object, x)
}

func sameFile(a, b string) bool {
	x, err1 := os.Stat(a)
	y, err2 := os.Stat(b)
	return err1 == nil && err2 == nil && os.SameFile(x, y)
}

// end decides the outcome of the command.
func (e *Ended) end(ctx context.Context, err error, differs bool) {
	e.Outcome, e.Err = Decide(ctx, err, differs), err
	var limit *WallLimitError
	switch {
	case e.Outcome == result.Interrupted:
		e.Err = ErrInterrupted // other errors are consequences of the interruption
	case err != nil && errors.As(context.Cause(ctx), &limit):
		e.Err = limit // other errors are consequences of the limit
	}
	e.Object.End(e.Outcome, e.Err)
}

// leave writes the verdict into the folder, or releases the folder if nothing ran.
func (e *Ended) leave(ctx context.Context, c *Common, dir *result.Folder) {
	switch {
	case dir == nil:
		return
	case e.Outcome == result.Usage:
		pipeline.Undo(dir)
		dir.Drop()
		return
	}
	defer dir.Close()
	e.Object.Artifacts = dir.Dir
	if err := c.page(dir, &e.Object); err != nil {
		e.fail(ctx, err)
	}
	if err := errors.Join(dir.Write(&e.Object), pipeline.End(dir, &e.Object, c.Again)); err != nil {
		e.fail(ctx, err)
		_ = dir.Write(&e.Object) // a summary already written must not say pass; the first error is the one to report
	}
}

// fail adds an error that came when the run had ended.
func (e *Ended) fail(ctx context.Context, err error) {
	e.end(ctx, errors.Join(e.Err, err), e.Outcome == result.Mismatch)
	e.Object.Failure = Failure(ctx, e.Outcome, e.Err, e.Object.Findings)
}

// nic finds the manifest of --dut, which must be a NIC that can have the given Ethernet ports.
func (p *Place) nic(dut string, eth device.Eth) (string, error) {
	path, err := p.sized(dut, eth)
	switch {
	case is[*device.NICError](err):
		err = fmt.Errorf("--dut %w", err)
	case err != nil && path == "":
		err = fmt.Errorf("--dut: %w", err)
	}
	return path, err
}

// sized finds a NIC's manifest and checks that it can be built with the given Ethernet ports. With an error about the
// ports, it also returns the path.
func (p *Place) sized(dut string, eth device.Eth) (string, error) {
	path, m, err := p.manifest(dut)
	if err == nil {
		err = device.IsNIC(m)
	}
	if err != nil {
		return "", err
	}
	if eth.Ports > board.MaxPorts || eth.Bits != 0 && !nicspec.ValidEthBits(eth.Bits) {
		return path, nil // the caller reports errors of the manifest
	}
	_, err = resized(m, eth)
	return path, err
}

// resized returns a NIC's manifest with the parameters for the given Ethernet ports.
func resized(m *manifest.Manifest, eth device.Eth) (*manifest.Manifest, error) {
	for _, x := range []struct {
		flag string
		n    int
		eth  device.Eth
	}{{"--ports", eth.Ports, device.Eth{Ports: eth.Ports}}, {"--eth-bits", eth.Bits, device.Eth{Bits: eth.Bits}}} {
		if x.n == 0 {
			continue
		}
		err := device.IsNIC(m)
		if err == nil {
			m, err = x.eth.Of(m)
		}
		if err != nil {
			return nil, fmt.Errorf("%s %d: %w", x.flag, x.n, err)
		}
	}
	return m, nil
}
