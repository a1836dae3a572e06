package main

import (
	"os"

	"github.com/spf13/cobra"

	"nictwin/scenarios/bench"
	"nictwin/scenarios/shell/cli"
)

func benchCommand(a *app) *cobra.Command {
	b := cli.NewBench()
	c := &cobra.Command{
		Use:   "bench [NAME...]",
		Short: "Measure the simulator and the NIC",
		Long: `Measures the speed of the simulator and of the NIC that it simulates, and shows each figure beside its goal.
Wall-time figures are ratios of two sides that take turns in one run; those of the NIC are counts of cycles.
NAME is a figure or a group (engine, model, card, rnic, stack, run, cli, build, bridge, rtl, tuned, nic,
path, ring, flexins, ceio); without NAME all are measured. A missed goal is reported and does not fail; wrong
results do.

The groups path, ring, flexins and ceio repeat experiments of papers (docs/experiments.md). Each claim is
shown with paper value, measured value, tolerance, anchor and verdict, and every input with its source. A
missed claim is shown with its reason.

With --claims nothing is measured: every claim of the papers is listed, with the experiment that measures it
or the reason why none does. --results adds the verdicts of a run that left its results with --out.`,
		Example: `  nictwin bench
  nictwin bench nic bridge/refereed_over_raw
  nictwin bench path --out out/path --leave-one-out
  nictwin bench --claims --results out/path`,
		ValidArgsFunction: func(*cobra.Command, []string, string) ([]string, cobra.ShellCompDirective) {
			return bench.Names(), cobra.ShellCompDirectiveNoFileComp
		},
	}
	f := c.Flags()
	f.SortFlags = false
	f.IntVar(&b.Repeats, "repeats", b.Repeats, "repetitions of each wall-time comparison")
	f.IntVar(&b.Percent, "percent", b.Percent, "amount of work, in percent of the usual")
	f.StringVar(&b.Against, "against", "", "earlier nictwin program to compare this one with in cli/start")
	f.BoolVar(&b.LeaveOneOut, "leave-one-out", b.LeaveOneOut,
		"repeat each experiment without each of its calibrated inputs")
	f.IntVar(&b.Seeds, "seeds", b.Seeds,
		"run each experiment with this many seeds; claims must hold with each, and show their spread")
	f.BoolVar(&b.Claims, "claims", b.Claims, "list all claims of the papers, and what became of each")
	f.StringArrayVar(&b.Results, "results", b.Results, "folder of a run whose verdicts --claims shows; may be repeated")
	f.StringVar(&b.Out, "out", b.Out, "folder for the plots of experiments and a page that shows them all")
	f.BoolVar(&b.Overwrite, "overwrite", b.Overwrite, "replace files in --out, whoever wrote them")
	seedFlag(c, &b.Seed)
	timeFlags(c, &b.Common)
	f.StringVar(&b.DUT, "dut", b.DUT, "manifest of the NIC, its folder, or a name from dut list")
	completeWith(c, "dut", completeDUTs)
	unsharded(c, "figures measured at the same time disturb each other")
	c.RunE = func(c *cobra.Command, args []string) error {
		b.Names, b.Log = args, a.stderr
		var err error
		if b.Program, err = os.Executable(); err != nil {
			return err
		}
		a.common(c, args, &b.Common, b.Idle(), "seed")
		return a.bench(c, b)
	}
	return c
}

// bench runs the benchmarks and prints the measurements, even those of an interrupted run.
func (a *app) bench(c *cobra.Command, b *cli.Bench) error {
	e := b.Run(c.Context())
	a.ended, a.object = &e.Ended, e.Object
	if e.Claims != nil && !a.json {
		_ = e.Claims.Write(a.stdout) // a.stdout remembers the error
	}
	if e.Report == nil || a.json {
		return e.Err
	}
	_ = e.Report.Write(a.stdout) // a.stdout remembers the error
	return e.Err
}
