package main

import (
	"github.com/spf13/cobra"

	"nictwin/scenarios/shell/cli"
	"nictwin/scenarios/shell/home"
)

// Flags that several commands have, with the same words.

func nicFlag(c *cobra.Command, nic *string) {
	c.Flags().StringVar(nic, "nic", *nic, "the NIC: rtl or model")
	complete(c, "nic", "rtl", "model")
}

func seedFlag(c *cobra.Command, seed *uint64) {
	c.Flags().Uint64Var(seed, "seed", *seed, "seed of everything random")
}

// buildFlags name the device and its build.
func buildFlags(c *cobra.Command, dut, variant *string) {
	dutFlag(c, dut)
	c.Flags().StringVar(variant, "variant", *variant, "build of the device: speed, tuned (made by dut tune) or debug "+
		"with its assertions checked (rtl only)")
	complete(c, "variant", "speed", "tuned", "debug")
}

// mixedBuildFlags are buildFlags of a command that may use two builds.
func mixedBuildFlags(c *cobra.Command, dut, variant *string) {
	dutFlag(c, dut)
	c.Flags().StringVar(variant, "variant", *variant, "build of the device: speed, tuned (made by dut tune), debug "+
		"with its assertions checked, or mixed: debug for one program in ten, drawn from the seed, speed for the "+
		"others and for --program (rtl only)")
	complete(c, "variant", "mixed", "speed", "tuned", "debug")
}

func dutFlag(c *cobra.Command, dut *string) {
	c.Flags().StringVar(dut, "dut", *dut, "device manifest, its folder, or a name from dut list (rtl only)")
	completeWith(c, "dut", completeDUTs)
}

// ethBitsFlag is the width of the NIC's Ethernet ports.
func ethBitsFlag(c *cobra.Command, bits *int) {
	c.Flags().IntVar(bits, "eth-bits", *bits, "bits of the stream of each Ethernet port of the NIC, 256, 512 or "+
		"1024; 0: as it has them")
	complete(c, "eth-bits", "256", "512", "1024")
}

// boardFlag is the card that the NIC stands on.
func boardFlag(c *cobra.Command, board *string) {
	c.Flags().StringVar(board, "board", *board, "board file or preset whose card the NIC stands on, with its links, "+
		"switch, caches and DRAM; see board show (default a plain card)")
	complete(c, "board", cli.BoardNames()...)
}

// rtlCoverageFlag has a coverage build count what is exercised.
func rtlCoverageFlag(c *cobra.Command, dir *string) {
	c.Flags().StringVar(dir, "rtl-coverage", *dir, "folder to which a build that counts lines and bits adds what was "+
		"exercised of the RTL; see nictwin coverage")
}

// artifactFlags say where artifacts go.
func artifactFlags(c *cobra.Command, out *string, x *cli.Common, byDefault string) {
	c.Flags().StringVar(out, "out", *out, "folder for artifacts, empty or of an earlier run (default "+byDefault+")")
	c.Flags().BoolVar(&x.Overwrite, "overwrite", false, "let --out be any folder: files there that have the names of "+
		"artifacts are replaced")
	c.Flags().BoolVar(&x.NoArtifacts, "no-artifacts", false, "write none")
}

// common fills in what a command has from the program and its line; always is as in again. A flag that is idle may come
// from the environment, which speaks to many commands, but not from the line.
func (a *app) common(c *cobra.Command, args []string, x *cli.Common, idle cli.Idle, always ...string) {
	x.Home, x.Self, x.Again = a.home, a.program, a.again(c, args, idle, always...)
	x.Refused = idle.Refuse(c.Flags().Changed)
}

// complete offers fixed words for a flag.
func complete(c *cobra.Command, flag string, words ...string) {
	completeWith(c, flag, cobra.FixedCompletions(words, cobra.ShellCompDirectiveNoFileComp))
}

func completeWith(c *cobra.Command, flag string, f cobra.CompletionFunc) {
	if err := c.RegisterFlagCompletionFunc(flag, f); err != nil {
		panic(err) // no such flag: a mistake in this folder
	}
}

// completeDUTs offers the devices at home, and files.
func completeDUTs(c *cobra.Command, _ []string, _ string) ([]string, cobra.ShellCompDirective) {
	dir, err := c.Flags().GetString("home")
	if err != nil {
		return nil, cobra.ShellCompDirectiveDefault
	}
	h, err := home.Find(dir)
	if err != nil {
		return nil, cobra.ShellCompDirectiveDefault
	}
	names, err := h.DUTs()
	if err != nil {
		return nil, cobra.ShellCompDirectiveDefault
	}
	return names, cobra.ShellCompDirectiveDefault
}

// waveFlag says of which run a waveform is left.
func waveFlag(c *cobra.Command, text *string) {
	c.Flags().StringVar(text, "wave", *text, "waveform that a run on RTL leaves among its artifacts: never, fail "+
		"(around the first difference), always, or A:B in cycles or times")
	complete(c, "wave", "never", "fail", "always")
}
