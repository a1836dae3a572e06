package main

import (
	"fmt"
	"os"
	"strings"
	"text/tabwriter"

	"github.com/spf13/cobra"

	"nictwin/scenarios/observe/result"
	"nictwin/scenarios/shell/cli"
	"nictwin/scenarios/suite/blocks"
)

func blocksCommand(a *app) *cobra.Command {
	b := cli.NewBlocks()
	c := &cobra.Command{
		Use:   "blocks [NAME...]",
		Short: "Play single blocks of the RTL against their Go twins",
		Long: `Builds each block of the RTL as a device of its own, plays random requests on it with gaps and back-pressure,
and compares every result, field by field, with that of the Go block of the same name. NAME is a block;
without NAME all are played. The first difference ends a block's runs and is reported with block, request,
field and both values.`,
		Example: `  nictwin blocks
  nictwin blocks rss csum --seed 7 --runs 100 --stall 30`,
		ValidArgsFunction: func(*cobra.Command, []string, string) ([]string, cobra.ShellCompDirective) {
			return blocks.Names(), cobra.ShellCompDirectiveNoFileComp
		},
	}
	f := c.Flags()
	f.SortFlags = false
	f.Uint64Var(&b.Seed, "seed", b.Seed, "seed of each block's first run; later runs count up from it")
	f.IntVar(&b.Runs, "runs", b.Runs, "runs of each block")
	f.IntVar(&b.Stall, "stall", b.Stall, "percent of cycles with gaps and back-pressure, 0 to 90; -1 = drawn for "+
		"each run")
	f.IntVar(&b.Transactions, "transactions", b.Transactions, "requests in a run")
	f.StringVar(&b.VariantName, "variant", b.VariantName,
		"build variant of the blocks: speed, or debug (checks the assertions)")
	complete(c, "variant", "speed", "debug")
	linkFlag(c, &b.LinkText)
	outFlags(c, &b.Out, &b.Common)
	timeFlags(c, &b.Common)
	unsharded(c, "name the blocks that each process plays")
	c.RunE = func(c *cobra.Command, args []string) error {
		a.common(c, args, &b.Common, b.Idle(), "seed")
		b.Names = args
		return a.blocks(c, b)
	}
	return c
}

// blocks plays the blocks and reports the outcome.
func (a *app) blocks(c *cobra.Command, b *cli.Blocks) error {
	bar := newBar(os.Stderr, "runs")
	b.Log, b.Progress = a.stderr, bar.counting(b.Heartbeat)
	e := b.Run(c.Context())
	bar.end()
	a.report(&e.Ended, played(e.Object.Blocks))
	return e.Err
}

// played formats the outcomes of blocks, one line each.
type played []result.BlockPlayed

func (p played) String() string {
	var s strings.Builder
	t := tabwriter.NewWriter(&s, 0, 0, 2, ' ', 0)
	results := 0
	for _, x := range p {
		verdict := "ok"
		if x.Mismatch != nil {
			verdict = "differs"
		}
		results += x.Compared
		say(t, "%s\t%s\t%d runs\t%d results compared\t%d cycles\n", x.Name, verdict, x.Runs, x.Compared, x.Cycles)
	}
	_ = t.Flush() // writing to a strings.Builder cannot fail
	return fmt.Sprintf("%s%d blocks, %d results compared\n", s.String(), len(p), results)
}
