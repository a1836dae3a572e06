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
		Short: "Have two servers send captures to each other, each simulated by a process of its own if wanted",
		Long: `Two servers of a board, their cards joined by Ethernet cables, send the frames of the captures to each other, with a referee at
each NIC, which is the Go model. With --processes 2 each server is simulated by a process of its own, at the same time; the
results are the same. See docs/split.md.`,
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
	f.StringVar(&p.Board, "board", p.Board, "board file or preset of two servers back to back")
	complete(c, "board", cli.BoardNames()...)
	f.IntVar(&p.Processes, "processes", p.Processes, "processes that simulate, 1 or 2")
	f.IntVar(&p.Count, "count", p.Count, "frames that each server sends; 0: those of the captures once")
	f.IntVar(&p.Window, "window", p.Window, "frames that each server has under way at first; one follows for each "+
		"that it receives")
	f.IntVar(&p.Limited, "limit", p.Limited, "frames of the captures at most; 0 is all")
	f.BoolVar(&p.Pad, "pad", p.Pad, "pad short frames to 60 bytes, as a MAC would")
	f.DurationVar(&p.Options.Limit, "wait", p.Options.Limit,
		"for which the other process may be silent before it is given up")
	seedFlag(c, &p.Seed)
	c.RunE = func(c *cobra.Command, args []string) error {
		p.Captures = args
		idle := cli.Idle{}
		if p.Processes == 1 {
			idle["wait"] = "--wait: has no effect with --processes 1: want --processes 2, or leave it out"
		}
		a.common(c, args, &p.Common, idle, "seed")
		e := p.Run(c.Context())
		a.tell(&e.Ended, e)
		return e.Err
	}
	return c
}

// sideCommand is what a pair starts as its second process.
func sideCommand(*app) *cobra.Command {
	return &cobra.Command{
		Use: pair.Command, Hidden: true, Args: noArgs,
		RunE: func(*cobra.Command, []string) error {
			os.Exit(pair.Main())
			return nil
		},
	}
}
