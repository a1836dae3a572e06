package main

import (
	"os"
	"path/filepath"

	"github.com/spf13/cobra"

	"nictwin/scenarios/observe/bundle"
	"nictwin/scenarios/observe/result"
	"nictwin/scenarios/shell/cli"
)

func fuzzCommand(a *app) *cobra.Command {
	f := cli.NewFuzz()
	c := &cobra.Command{
		Use:   "fuzz [BUNDLE]",
		Short: "Play random programs on the NIC and referee them",
		Long: `Plays random programs derived from a seed: queues opened and closed, frames, valid and invalid work entries,
settings, unusual requests, failing reads. The referee checks every frame and TLP that crosses the NIC's
boundary against the contract. A program that shows a mismatch is shrunk and saved as a file, which --program
plays again. Coverage is counted in bins of the contract from the NIC's observed behaviour; the artifact
coverage.json has every bin, --show-missing shows those that were not hit.

A run that fails leaves a bundle with the first such program among its artifacts, which fuzz plays again
anywhere: docs/bundles.md.`,
		Example: `  nictwin fuzz --runs 300 --seed 7
  nictwin fuzz --nic model --time 1m --coverage hits.json
  nictwin fuzz --program out/fuzz-rtl-7/program-12.json`,
		Args: onlyBundle,
	}
	fuzzFlags(c, f)
	underHeadings(c, fuzzSections)
	all := false
	c.Flags().BoolVar(&all, "show-missing", all, "show every bin that was not hit, not only the first few")
	c.RunE = func(c *cobra.Command, args []string) error {
		if a.bundle != nil {
			f.ProgramFile = a.bundle.Inputs(bundle.Program)[0]
		}
		a.common(c, args, &f.Common, f.Idle())
		return a.fuzz(c, f, all)
	}
	return c
}

func fuzzFlags(c *cobra.Command, f *cli.Fuzz) {
	s := c.Flags()
	s.SortFlags = false
	nicFlag(c, &f.NIC)
	seedFlag(c, &f.Seed)
	s.IntVar(&f.Runs, "runs", f.Runs, "number of programs; 0 = as many as --time allows")
	s.DurationVar(&f.Time, "time", f.Time, "start no further program after this time, builds not counted; 0 = no limit")
	s.IntVar(&f.Skip, "skip", f.Skip, "skip this many programs of the seed first")
	shardFlag(c, &f.Common, "programs")
	waveFlag(c, &f.WaveText)
	s.StringVar(&f.ProgramFile, "program", f.ProgramFile, "play the program in this file instead of random ones")
	s.IntVar(&f.Ports, "ports", f.Ports, "Ethernet ports of the NIC, 1 or 2; 0 = alternating")
	ethBitsFlag(c, &f.EthBits)
	boardFlag(c, &f.Board)
	s.StringVar(&f.Build, "build", f.Build, "size of the NIC (queues, keys, rules) and its parts: default, small, "+
		"large, or bare (no parts)")
	s.IntVar(&f.Stall, "stall", f.Stall, "percent of cycles with gaps and back-pressure, 0 to 90; -1 = drawn for "+
		"each program")
	s.BoolVar(&f.Overlap, "overlap", f.Overlap, "let all entries of all queues name the same few buffers, which "+
		"software "+
		"rewrites (without this flag: in one program of twelve)")
	s.BoolVar(&f.Shrink, "shrink", f.Shrink, "shrink programs that fail")
	shrinkFlag(c, &f.Common, "each program that fails")
	s.IntVar(&f.Most, "failures", f.Most, "stop after this many failing programs")
	s.IntVar(&f.Jobs, "jobs", f.Jobs, "programs played at a time; results do not depend on it")
	s.StringVar(&f.Coverage, "coverage", f.Coverage, "file with the hits of earlier runs; this run's hits are added "+
		"to it")
	artifactFlags(c, &f.Out, &f.Common, "out/fuzz-NIC-SEED")
	timeFlags(c, &f.Common)
	rtlInBundleFlag(c, &f.Common)
	mixedBuildFlags(c, &f.DUT, &f.Variant)
	linkFlag(c, &f.LinkText)
	rtlCoverageFlag(c, &f.RTLCoverage)
}

// fuzz plays programs and reports the outcome. It shows the coverage even of an interrupted run.
func (a *app) fuzz(c *cobra.Command, f *cli.Fuzz, all bool) error {
	bar := newBar(os.Stderr, "programs")
	f.Log, f.Progress = a.stderr, bar.counting(f.Heartbeat)
	e := f.Run(c.Context())
	bar.end()
	if w := a.human(); e.Report != nil && e.Result.Runs > 0 {
		whole := "--show-missing"
		if f.Out != "" {
			whole = filepath.Join(f.Out, result.CoverageFile) + " or " + whole
		}
		_ = e.Report.Write(w, all, whole) // w remembers the error
		say(w, "%d programs, %d crossings and counters compared over %d cycles, %.1f s\n", e.Result.Runs,
			e.Result.Checked, e.Result.Cycles,
			e.Result.Wall.Seconds())
		switch r := e.Result; {
		case r.Unchecked != "":
			say(w, "%s\n", r.Unchecked)
		case r.Debug > 0:
			say(w, "%d of them on the debug build, with its assertions checked\n", r.Debug)
		}
	}
	a.report(&e.Ended, nil)
	return e.Err
}
