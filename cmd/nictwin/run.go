package main

import (
	"maps"
	"os"

	"github.com/spf13/cobra"

	"nictwin/scenarios/shell/cli"
)

func runCommand(a *app) *cobra.Command {
	s := cli.NewScenarios()
	c := &cobra.Command{
		Use:   "run SCENARIO.yaml...",
		Short: "Play scenarios: two servers, their stacks and applications, on any NIC",
		Long: `Plays scenario files: a board, what stands in the slots of its NICs, the stack of each server, what applications do, faults,
and what must come of it. Applications check every byte; a referee judges every NIC of the contract throughout.
--nic both plays each on the Go NIC and on the RTL, and compares completions and memory. See docs/scenarios.md.
Artifacts go to the folder --out, by default out/run-NIC, with a folder for each case.`,
		Example: `  nictwin run scenarios/library/tutorial.yaml
  nictwin run --nic both scenarios/library/*.yaml`,
		Args: func(_ *cobra.Command, args []string) error {
			if len(args) == 0 {
				return cli.Usagef("no scenario file given")
			}
			return nil
		},
		ValidArgsFunction: func(*cobra.Command, []string, string) ([]string, cobra.ShellCompDirective) {
			return []string{"yaml", "yml"}, cobra.ShellCompDirectiveFilterFileExt
		},
	}
	f := c.Flags()
	f.SortFlags = false
	waveFlag(c, &s.WaveText)
	f.StringVar(&s.NIC, "nic", s.NIC, "the NIC in every slot of the contract: model, rtl or both, one after the "+
		"other (default as the files have it)")
	complete(c, "nic", "model", "rtl", "both")
	f.IntVar(&s.Jobs, "jobs", s.Jobs, "cases at a time, on as many processors; the results are the same")
	f.Uint64Var(&s.Seed, "seed", s.Seed, "seed of workloads; 0: as the files have it")
	f.StringSliceVar(&s.Only, "only", nil, "names of the cases to be played, as they are shown")
	buildFlags(c, &s.DUT, &s.Variant)
	artifactFlags(c, &s.Out, &s.Common, "out/run-NIC")
	underHeadings(c, runSections)
	f.IntVar(&s.ArtifactMB, "artifact-mb", s.ArtifactMB, "megabytes that each file of a case may take; 0 is no limit")
	c.RunE = func(c *cobra.Command, args []string) error {
		s.Files = args
		a.common(c, args, &s.Common, s.Idle())
		s.Again = a.again(c, args, withJobs(s.Idle()))
		alone := withJobs(cli.Idle{"only": "another", "out": "another", "overwrite": "another"})
		maps.Copy(alone, s.Idle())
		s.Line = a.again(c, nil, alone)
		bar := newBar(os.Stderr, "cases")
		s.Log, s.Progress = a.stderr, bar.share
		e := s.Run(c.Context())
		bar.end()
		a.tell(&e.Ended, e)
		return e.Err
	}
	return c
}

// withJobs are flags that are left out of the command line that does the same once more, --jobs among them: it changes
// nothing of the results.
func withJobs(i cli.Idle) cli.Idle {
	i["jobs"] = "changes nothing"
	return i
}
