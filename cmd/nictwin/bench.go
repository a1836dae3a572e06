package main

import (
	"errors"

	"github.com/spf13/cobra"

	"nictwin/scenarios/bench"
	"nictwin/scenarios/cli"
)

func benchCommand(a *app) *cobra.Command {
	b := cli.NewBench()
	c := &cobra.Command{
		Use:   "bench [NAME...]",
		Short: "Measure the simulator and the NIC",
		Long: `Measures how fast the simulator is and how fast the NIC that it simulates is, and shows each figure beside its goal.
Figures by wall time are ratios of two sides taken turn and turn about in one run; those of the NIC are counts of its
cycles. NAME is a figure or a group of them (engine, model, build, bridge, rtl, nic); none is all. A missed goal is
told and is no failure; work done wrong is one.`,
		Example: `  nictwin bench
  nictwin bench nic bridge/refereed_over_raw`,
		ValidArgsFunction: func(*cobra.Command, []string, string) ([]string, cobra.ShellCompDirective) {
			return bench.Names(), cobra.ShellCompDirectiveNoFileComp
		},
	}
	f := c.Flags()
	f.SortFlags = false
	f.IntVar(&b.Repeats, "repeats", b.Repeats, "turns of each comparison by wall time")
	f.IntVar(&b.Percent, "percent", b.Percent, "percent of the usual amount of work")
	f.Uint64Var(&b.Seed, "seed", b.Seed, "seed of everything random")
	f.StringVar(&b.DUT, "dut", b.DUT, "manifest of the NIC, its folder, or a name from dut list")
	if err := c.RegisterFlagCompletionFunc("dut", completeDUTs); err != nil {
		panic(err) // no such flag: a mistake in this folder
	}
	c.RunE = func(c *cobra.Command, args []string) error {
		b.Names, b.Home, b.Again, b.Log = args, a.home, a.again(c, args, "seed"), a.stderr
		return a.bench(c, b)
	}
	return c
}

// bench measures and shows what was measured, even if it did not come to its end.
func (a *app) bench(c *cobra.Command, b *cli.Bench) error {
	r, object, out, err := b.Run(c.Context())
	a.outcome, a.object = out, object
	if r == nil || a.json {
		return err
	}
	return errors.Join(err, r.Write(a.stdout))
}
