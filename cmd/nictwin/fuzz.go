package main

import (
	"os"
	"path/filepath"

	"github.com/spf13/cobra"

	"nictwin/scenarios/observe/result"
	"nictwin/scenarios/shell/cli"
)

func fuzzCommand(a *app) *cobra.Command {
	f := cli.NewFuzz()
	c := &cobra.Command{
		Use:   "fuzz",
		Short: "Play random programs on the NIC and referee them",
		Long: `Plays programs derived from a seed: queues that come and go, frames, work entries good and bad, settings, odd requests,
reads that fail. The referee holds every crossing of the NIC's boundary to the contract. A program that shows a mismatch
is made smaller and kept as a file, which --program plays again. Coverage is counted in bins of the contract, from what
the NIC was seen to do; coverage.json among the artifacts has every bin; --show-missing shows those that were not hit.`,
		Example: `  nictwin fuzz --runs 300 --seed 7
  nictwin fuzz --nic model --time 1m --coverage hits.json
  nictwin fuzz --program out/fuzz-rtl-7/program-12.json`,
		Args: noArgs,
	}
	fuzzFlags(c, f)
	underHeadings(c, fuzzSections)
	all := false
	c.Flags().BoolVar(&all, "show-missing", all, "show every bin that was not hit, not the first few")
	c.RunE = func(c *cobra.Command, args []string) error {
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
	s.IntVar(&f.Runs, "runs", f.Runs, "programs; 0 is as many as --time allows")
	s.DurationVar(&f.Time, "time", f.Time, "no program but the first begins later, builds not counted; 0 is no limit")
	s.IntVar(&f.Skip, "skip", f.Skip, "programs of the seed that are left out first")
	waveFlag(c, &f.WaveText)
	s.StringVar(&f.ProgramFile, "program", f.ProgramFile, "play the program in this file instead")
	s.IntVar(&f.Ports, "ports", f.Ports, "Ethernet ports of the NIC, 1 or 2; 0: in turns")
	ethBitsFlag(c, &f.EthBits)
	boardFlag(c, &f.Board)
	s.StringVar(&f.Build, "build", f.Build, "queues, keys, rules and parts of the NIC: default, small, large, or "+
		"bare (no parts)")
	s.IntVar(&f.Stall, "stall", f.Stall, "percent of cycles with gaps and back-pressure, 0 to 90; -1: each program "+
		"has its own")
	s.BoolVar(&f.Overlap, "overlap", f.Overlap, "all entries of all queues of a program name the same few buffers, "+
		"which software rewrites; without it a twelfth of the programs do")
	s.BoolVar(&f.Shrink, "shrink", f.Shrink, "make programs that fail smaller")
	s.IntVar(&f.Most, "failures", f.Most, "failing programs after which it ends")
	s.IntVar(&f.Jobs, "jobs", f.Jobs, "programs at a time; the results are the same")
	s.StringVar(&f.Coverage, "coverage", f.Coverage, "file with the hits of earlier runs, to which those of this one "+
		"are added")
	artifactFlags(c, &f.Out, &f.Common, "out/fuzz-NIC-SEED")
	mixedBuildFlags(c, &f.DUT, &f.Variant)
	rtlCoverageFlag(c, &f.RTLCoverage)
}

// fuzz plays programs and tells people how it ended. What was covered until then is shown however it did.
func (a *app) fuzz(c *cobra.Command, f *cli.Fuzz, all bool) error {
	bar := newBar(os.Stderr, "programs")
	f.Log, f.Progress = a.stderr, bar.set
	e := f.Run(c.Context())
	bar.end()
	if w := a.people(); e.Report != nil && e.Result.Runs > 0 {
		whole := "--show-missing"
		if f.Out != "" {
			whole = filepath.Join(f.Out, result.CoverageFile) + " or " + whole
		}
		_ = e.Report.Write(w, all, whole) // output keeps the error
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
	a.tell(&e.Ended, nil)
	return e.Err
}
