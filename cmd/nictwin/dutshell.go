package main

import (
	"github.com/spf13/cobra"

	"nictwin/scenarios/observe/result"
	"nictwin/scenarios/shell/cli"
)

func dutShell(a *app) *cobra.Command {
	s := cli.NewDUTShell()
	c := &cobra.Command{
		Use:   "shell DUT",
		Short: "Write the emulation shell of a device: RTL that an FPGA can hold",
		Long: `Writes a module that holds the device of a manifest and moves its pins as the bridge does: controlled
clocks, transactors of all streams, and a link to the host of two AXI4-Stream byte streams. The folder also
gets the blocks that the module is made of, and a list of all files, the device's own included
(docs/emulation.md).`,
		Example:           `  nictwin dut shell verilator/duts/own/afifo --out shell --link-bits 64`,
		Args:              dutArgs,
		ValidArgsFunction: completeDUTs,
		RunE: func(c *cobra.Command, args []string) error {
			if len(args) != 1 {
				return cli.Usagef("%d devices given: want one", len(args))
			}
			s.Home, s.Log = a.home, a.stderr
			d, files, err := s.Run(c.Context(), args[0])
			a.object.DUTs, a.object.Home = []result.DUT{d}, s.Used
			if err == nil && !a.json {
				for _, f := range files {
					say(a.stdout, "%s\n", f)
				}
			}
			return err
		},
	}
	f := c.Flags()
	f.SortFlags = false
	f.StringVar(&s.Out, "out", "", "folder for the files (needed); files of the same names are replaced")
	f.IntVar(&s.LinkBits, "link-bits", s.LinkBits, "width of the link's streams: 8 to 512, a power of two")
	f.IntVar(&s.Depth, "depth", s.Depth, "beats and events that each transactor holds")
	f.StringVar(&s.Trace, "trace", "", "ports of the device in a trace buffer, PORT+PORT; none: there is no buffer")
	f.IntVar(&s.Samples, "samples", s.Samples, "cycles that the trace buffer holds: 2 to 4096, a power of two")
	return c
}
