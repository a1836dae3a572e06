package main

import (
	"os"

	"github.com/spf13/cobra"

	"nictwin/scenarios/pair"
	"nictwin/scenarios/shell/cli"
)

func pairCommand(a *app) *cobra.Command {
	p := cli.NewPair()
	c := &cobra.Command{
		Use:   "pair CAPTURE...",
		Short: "Exchange captures between two simulated servers, optionally one process each",
		Long: `Two servers of a board, their cards joined by Ethernet cables, send the frames of the captures to each other.
The NICs are Go models, each checked by a referee. With --processes 2 each server is simulated by a process of
its own, in parallel, with identical results. See docs/split.md.`,
		Example: `  nictwin pair --board bf3-pair --processes 2 --count 10000 trace.pcap`,
		Args: func(_ *cobra.Command, args []string) error {
			if len(args) == 0 {
				return cli.Usagef("no capture file given")
			}
			return nil
		},
		ValidArgsFunction: func(*cobra.Command, []string, string) ([]string, cobra.ShellCompDirective) {
			return []string{"pcap", "pcapng", "gz"}, cobra.ShellCompDirectiveFilterFileExt
		},
	}
	f := c.Flags()
	f.SortFlags = false
	f.StringVar(&p.Board, "board", p.Board, "board file or preset with two servers back to back")
	complete(c, "board", cli.BoardNames()...)
	f.IntVar(&p.Processes, "processes", p.Processes, "number of processes that simulate, 1 or 2")
	f.IntVar(&p.Count, "count", p.Count, "frames that each server sends; 0 = each frame of the captures once")
	f.IntVar(&p.Window, "window", p.Window, "frames that each server sends at once; then one for each frame that "+
		"it receives")
	f.IntVar(&p.Limited, "limit", p.Limited, "use at most this many frames of the captures; 0 = all")
	f.BoolVar(&p.Pad, "pad", p.Pad, "pad short frames to 60 bytes, as a MAC would")
	f.DurationVar(&p.Options.Limit, "wait", p.Options.Limit,
		"give up when the other process has been silent for this long")
	seedFlag(c, &p.Seed)
	outFlags(c, &p.Out, &p.Common)
	timeFlags(c, &p.Common)
	unsharded(c, "the two servers play one exchange")
	c.RunE = func(c *cobra.Command, args []string) error {
		p.Captures = args
		a.common(c, args, &p.Common, p.Idle(), "seed")
		e := p.Run(c.Context())
		a.report(&e.Ended, e)
		return e.Err
	}
	return c
}

// sideCommand returns the hidden command that pair runs as its second process.
func sideCommand(*app) *cobra.Command {
	return &cobra.Command{
		Use: pair.Command, Hidden: true, Args: noArgs,
		RunE: func(*cobra.Command, []string) error {
			os.Exit(pair.Main())
			return nil
		},
	}
}
