package main

import (
	"bytes"
	"errors"
	"fmt"
	"path/filepath"

	"github.com/spf13/cobra"

	"nictwin/scenarios/observe/gate"
	"nictwin/scenarios/observe/junit"
	"nictwin/scenarios/observe/result"
	"nictwin/scenarios/shell/cli"
	"nictwin/scenarios/shell/files"
	"nictwin/scenarios/shell/pipeline"
)

// gated holds the settings of the command gate.
type gated struct {
	baseline, write, slower, junit string
	dirs                           []string
}

func gateCommand(a *app) *cobra.Command {
	g := &gated{slower: gate.DefaultSlower}
	c := &cobra.Command{
		Use:   "gate DIR...",
		Short: "Compare the artifacts of runs with a baseline",
		Long: `Compares folders that runs left with --out, and folders of --rtl-coverage, with a baseline that --write
made of an earlier version. A new kind of mismatch, lost coverage, fewer comparisons, cases that were not
played and more time for a comparison break the gate. Shards of one run are added up. Known mismatches do
not break it, but a run without a verdict does.

Exit codes: 0 held, 1 broken, 2 the baseline or a folder cannot be read.`,
		Example: `  nictwin gate --write ci/baseline.json out/fuzz
  nictwin gate --baseline ci/baseline.json --slower 50% shards/*/fuzz`,
		Args: func(_ *cobra.Command, args []string) error {
			if len(args) == 0 {
				return cli.Usagef("no folder of artifacts given")
			}
			return nil
		},
		ValidArgsFunction: func(*cobra.Command, []string, string) ([]string, cobra.ShellCompDirective) {
			return nil, cobra.ShellCompDirectiveFilterDirs
		},
	}
	f := c.Flags()
	f.SortFlags = false
	f.StringVar(&g.baseline, "baseline", "", "`FILE` to compare with")
	f.StringVar(&g.write, "write", "", "`FILE` for the baseline of these runs, instead of a comparison")
	f.StringVar(&g.slower, "slower", g.slower, "how much longer a comparison may take, in percent, or any; runs of "+
		"less than a second are not timed")
	f.StringVar(&g.junit, "junit", "", "`FILE` for the result as JUnit XML")
	c.RunE = func(c *cobra.Command, args []string) error {
		g.dirs = args
		return a.gate(c, g, a.repeatLine(c, args, nil, nil))
	}
	return c
}

// gate writes or compares a baseline and reports the outcome.
func (a *app) gate(c *cobra.Command, g *gated, again string) error {
	slower, err := gate.ParseSlower(g.slower)
	if (g.baseline == "") == (g.write == "") {
		err = errors.Join(err, errors.New("--baseline and --write: want one of them"))
	}
	if g.write != "" && c.Flags().Changed("slower") {
		err = errors.Join(err, errors.New("--slower: has no effect with --write: want --baseline, or leave it out"))
	}
	var dirs []string
	for _, d := range g.dirs {
		dirs = append(dirs, filepath.Clean(d))
	}
	if g.write != "" {
		err = errors.Join(err, named("--write", gate.CheckWrite(g.write, g.dirs)))
	}
	if g.junit != "" {
		err = errors.Join(err, named("--junit", gate.CheckJUnit(g.junit, g.baseline, g.dirs)))
	}
	if err = errors.Join(err, cli.Once("folder", dirs)); err != nil {
		return &cli.UsageError{Err: err}
	}
	now, err := gate.Measure(g.dirs)
	if err != nil {
		return &cli.UsageError{Err: err}
	}
	if g.write != "" {
		if err := now.Write(g.write); err != nil {
			return &cli.UsageError{Err: fmt.Errorf("--write: %w", err)}
		}
		_, runs := gate.Compare(now, now, slower)
		a.object.Gate = &result.Gated{Baseline: g.write, Written: true, Runs: runs}
		say(a.human(), "baseline of %d runs: %s\n", len(runs), g.write)
		return nil
	}
	old, err := gate.Read(g.baseline)
	if err != nil {
		return &cli.UsageError{Err: fmt.Errorf("--baseline: %w", err)}
	}
	e := &cli.Ended{Object: result.Object{Command: "gate"}}
	o := &e.Object
	o.Gate = &result.Gated{Baseline: g.baseline}
	o.Findings, o.Gate.Runs = gate.Compare(old, now, slower)
	return a.held(c, g, e, again)
}

// named names the flag in an error; nil stays nil.
func named(flag string, err error) error {
	if err == nil {
		return nil
	}
	return fmt.Errorf("%s: %w", flag, err)
}

// held decides whether the gate passes, and reports the comparison: as text, JUnit file, annotations and object.
func (a *app) held(c *cobra.Command, g *gated, e *cli.Ended, again string) error {
	o := &e.Object
	o.Mismatches = uint64(len(o.Findings))
	if len(o.Findings) > 0 {
		o.Reproduce = again
	}
	for i, r := range o.Gate.Runs {
		o.Checked += r.Checked
		say(a.human(), "%s: %d compared, %d before; %.1f s, %.1f before\n", o.Gate.Runs[i].Name, r.Checked,
			r.CheckedBefore, r.WallS, r.WallSBefore)
	}
	for i := range o.Findings {
		if f := &o.Findings[i]; f.Command == "" {
			f.Command = again
		}
	}
	e.Outcome = cli.Decide(c.Context(), nil, len(o.Findings) > 0)
	o.End(e.Outcome, nil)
	if g.junit != "" {
		var text bytes.Buffer
		err := junit.Write(&text, junit.Of(o, again, nil))
		if err == nil {
			err = files.Write(g.junit, text.Bytes())
		}
		if err != nil {
			return fmt.Errorf("--junit: %w", err)
		}
	}
	a.ended, a.object = e, e.Object
	if err := pipeline.Annotate(a.stderr, o); err != nil {
		say(a.stderr, "warning: %v\n", err)
	}
	if e.Outcome == result.Pass {
		paint(a.human(), green, "PASS")
		say(a.human(), "  held against %s\n", g.baseline)
		return nil
	}
	paint(a.human(), red, "FAIL")
	say(a.human(), "  worse than %s\n", g.baseline)
	findings(a.human(), o.Findings)
	return nil
}
