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
		Long: `Measures how fast the simulator is and how fast the NIC that it simulates is, and shows each figure beside its goal.
Figures by wall time are ratios of two sides taken turn and turn about in one run; those of the NIC are counts of its
cycles. NAME is a figure or a group of them (engine, model, card, rnic, stack, run, cli, build, bridge, rtl, tuned, nic, path); none is
all. A missed goal is told and is no failure; work done wrong is one.

The groups path and ring have the experiments of the papers (docs/experiments.md): each is shown as paper value, measured value,
tolerance, anchor and verdict, with every input and where it is from. A claim that is missed is told with its reason.`,
		Example: `  nictwin bench
  nictwin bench nic bridge/refereed_over_raw
  nictwin bench path --out out/path --leave-one-out`,
		ValidArgsFunction: func(*cobra.Command, []string, string) ([]string, cobra.ShellCompDirective) {
			return bench.Names(), cobra.ShellCompDirectiveNoFileComp
		},
	}
	f := c.Flags()
	f.SortFlags = false
	f.IntVar(&b.Repeats, "repeats", b.Repeats, "turns of each comparison by wall time")
	f.IntVar(&b.Percent, "percent", b.Percent, "percent of the usual amount of work")
	f.StringVar(&b.Against, "against", "", "earlier build of nictwin with which cli/start compares this one")
	f.BoolVar(&b.LeaveOneOut, "leave-one-out", b.LeaveOneOut,
		"run experiments again without each input that a claim calibrated")
	f.StringVar(&b.Out, "out", b.Out, "folder for the pictures of experiments and a page with all of them")
	f.BoolVar(&b.Overwrite, "overwrite", b.Overwrite, "replace files of --out, whatever they are")
	seedFlag(c, &b.Seed)
	f.StringVar(&b.DUT, "dut", b.DUT, "manifest of the NIC, its folder, or a name from dut list")
	completeWith(c, "dut", completeDUTs)
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

// bench measures and shows what was measured, even if it did not come to its end.
func (a *app) bench(c *cobra.Command, b *cli.Bench) error {
	e := b.Run(c.Context())
	a.ended, a.object = &e.Ended, e.Object
	if e.Report == nil || a.json {
		return e.Err
	}
	_ = e.Report.Write(a.stdout) // output keeps the error
	return e.Err
}
