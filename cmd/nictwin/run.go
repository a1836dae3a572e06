package main

import (
	"maps"
	"os"

	"github.com/spf13/cobra"

	"nictwin/scenarios/observe/bundle"
	"nictwin/scenarios/shell/cli"
)

func runCommand(a *app) *cobra.Command {
	s := cli.NewScenarios()
	c := &cobra.Command{
		Use:   "run SCENARIO.yaml...|BUNDLE",
		Short: "Play scenarios: servers with their stacks and applications, on any NIC",
		Long: `Plays scenario files. A scenario names a board, the devices in its NIC slots, the stack of each server, the
work of the applications, faults, and the expected results. Applications check every byte; a referee checks
every NIC of the contract. --nic both plays each case on the Go NIC and on the RTL, and compares completions
and memory. Each case gets its own folder of artifacts in --out. See docs/scenarios.md.

A run that fails leaves a bundle among its artifacts, which run plays again anywhere: docs/bundles.md.`,
		Example: `  nictwin run scenarios/library/tutorial.yaml
  nictwin run --nic both scenarios/library/*.yaml`,
		Args: func(_ *cobra.Command, args []string) error {
			if len(args) == 0 {
				return cli.Usagef("no scenario file given")
			}
			return nil
		},
		ValidArgsFunction: func(*cobra.Command, []string, string) ([]string, cobra.ShellCompDirective) {
			return []string{"yaml", "yml", "zip"}, cobra.ShellCompDirectiveFilterFileExt
		},
	}
	f := c.Flags()
	f.SortFlags = false
	waveFlag(c, &s.WaveText)
	f.StringVar(&s.NIC, "nic", s.NIC, "the NIC in every slot for the contract's NIC: model, rtl, or both in turn "+
		"(default the files' choice)")
	complete(c, "nic", "model", "rtl", "both")
	f.IntVar(&s.Jobs, "jobs", s.Jobs, "cases played at a time, one on each processor; results do not depend on it")
	f.Uint64Var(&s.Seed, "seed", s.Seed, "seed of the workloads; 0 = the files' seeds")
	f.StringSliceVar(&s.Only, "only", nil, "play only the cases with these names, as they are shown")
	f.StringVar(&s.Stats, "stats", s.Stats, "statistics of each case: none, summary (rates and latencies), or full "+
		"(every flow, series by interval, and the page of --report)")
	complete(c, "stats", "none", "summary", "full")
	shardFlag(c, &s.Common, "cases")
	buildFlags(c, &s.DUT, &s.Variant)
	linkFlag(c, &s.LinkText)
	artifactFlags(c, &s.Out, &s.Common, "out/run-NIC")
	timeFlags(c, &s.Common)
	shrinkFlag(c, &s.Common, "the first case that fails to a smaller scenario")
	rtlInBundleFlag(c, &s.Common)
	underHeadings(c, runSections)
	f.IntVar(&s.ArtifactMB, "artifact-mb", s.ArtifactMB, "cut each artifact of a case at this many megabytes; 0 = no "+
		"limit")
	c.RunE = func(c *cobra.Command, args []string) error {
		if s.Files = args; a.bundle != nil {
			s.Files = a.bundle.Inputs(bundle.Scenario)
		}
		a.common(c, args, &s.Common, s.Idle())
		s.Again = a.repeatLine(c, args, nil, cli.WithJobs(s.Idle()))
		alone := cli.WithJobs(cli.Idle{"only": "another", "shard": "another", "out": "another", "overwrite": "another"})
		maps.Copy(alone, s.Idle())
		if a.bundle == nil {
			s.Line = a.repeatLine(c, nil, nil, alone)
		}
		bar := newBar(os.Stderr, "cases")
		s.Log, s.Progress = a.stderr, bar.sharing(s.Heartbeat)
		e := s.Run(c.Context())
		bar.end()
		a.report(&e.Ended, e)
		return e.Err
	}
	return c
}
