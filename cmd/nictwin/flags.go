package main

import (
	"errors"
	"fmt"
	"maps"
	"os"
	"time"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"
	"golang.org/x/term"

	"nictwin/rtlbridge/emulation"
	"nictwin/scenarios/observe/heartbeat"
	"nictwin/scenarios/shell/cli"
	"nictwin/scenarios/shell/home"
)

// Flags that several commands share.

func nicFlag(c *cobra.Command, nic *string) {
	c.Flags().StringVar(nic, "nic", *nic, "the NIC to test: rtl or model")
	complete(c, "nic", "rtl", "model")
}

func seedFlag(c *cobra.Command, seed *uint64) {
	c.Flags().Uint64Var(seed, "seed", *seed, "seed of all random choices")
}

// buildFlags adds the flags that name the device and its build variant.
func buildFlags(c *cobra.Command, dut, variant *string) {
	dutFlag(c, dut)
	c.Flags().StringVar(variant, "variant", *variant, "build variant of the device: speed, tuned (needs dut tune "+
		"first) or debug (checks the assertions) (rtl only)")
	complete(c, "variant", "speed", "tuned", "debug")
}

// mixedBuildFlags is buildFlags for a command that may mix two builds.
func mixedBuildFlags(c *cobra.Command, dut, variant *string) {
	dutFlag(c, dut)
	c.Flags().StringVar(variant, "variant", *variant, "build variant of the device: speed, tuned (needs dut tune "+
		"first), debug (checks the assertions), or mixed: debug for one program in ten, drawn from the seed, "+
		"and speed for the others and for --program (rtl only)")
	complete(c, "variant", "mixed", "speed", "tuned", "debug")
}

func dutFlag(c *cobra.Command, dut *string) {
	c.Flags().StringVar(dut, "dut", *dut, "manifest of the device, its folder, or a name from dut list (rtl only)")
	completeWith(c, "dut", completeDUTs)
}

// ethBitsFlag adds the flag for the width of the NIC's Ethernet ports.
func ethBitsFlag(c *cobra.Command, bits *int) {
	c.Flags().IntVar(bits, "eth-bits", *bits, "data width of the NIC's Ethernet ports: 256, 512 or 1024 bits; "+
		"0 = the device's width")
	complete(c, "eth-bits", "256", "512", "1024")
}

// boardFlag adds the flag for the card that carries the NIC.
func boardFlag(c *cobra.Command, board *string) {
	c.Flags().StringVar(board, "board", *board, "board file or preset whose card carries the NIC, with its links, "+
		"switch, caches and DRAM; see board show (default a plain card)")
	complete(c, "board", cli.BoardNames()...)
}

// rtlCoverageFlag adds the flag that runs a coverage build and collects its counts.
func rtlCoverageFlag(c *cobra.Command, dir *string) {
	c.Flags().StringVar(dir, "rtl-coverage", *dir, "use a coverage build and add the RTL lines and bits that it "+
		"exercised to this folder; see nictwin coverage")
}

// usualHeartbeat is the interval of heartbeats if stderr is not a terminal; a terminal shows a progress bar instead.
const usualHeartbeat = 30 * time.Second

// timeFlags adds the flags about wall time.
func timeFlags(c *cobra.Command, x *cli.Common) {
	c.Flags().DurationVar(&x.WallLimit, "wall-limit", 0, "end the run after this wall time, builds included, with "+
		"exit code 3 and its artifacts complete; 0 = no limit")
	c.Flags().Duration("heartbeat", usualHeartbeat, "wall time between lines on stderr that say how far the run is; "+
		"0 = none, the default on a terminal")
}

// units names what the commands count in their heartbeats.
var units = map[string]string{"replay": "frames", "play": "runs", "fuzz": "programs", "blocks": "runs", "run": "cases",
	"pair": "frames"}

// beat returns the heartbeat of a command, or nil if none is wanted.
func (a *app) beat(c *cobra.Command) (*heartbeat.Beat, error) {
	every, err := c.Flags().GetDuration("heartbeat")
	byDefault := every == usualHeartbeat && !c.Flags().Changed("heartbeat")
	switch {
	case err != nil:
		return nil, err
	case every < 0:
		return nil, fmt.Errorf("--heartbeat %v: want 0 (none) or more", every)
	case every == 0, byDefault && term.IsTerminal(int(os.Stderr.Fd())):
		return nil, nil
	}
	return heartbeat.New(a.stderr, a.name, units[a.name], every), nil
}

// artifactFlags adds the flags that control where artifacts go.
func artifactFlags(c *cobra.Command, out *string, x *cli.Common, byDefault string) {
	c.Flags().StringVar(out, "out", *out,
		"folder for artifacts: empty, or left by an earlier run (default "+byDefault+")")
	c.Flags().BoolVar(&x.Overwrite, "overwrite", false, "accept any folder as --out, and replace files there that are "+
		"named like artifacts")
	c.Flags().BoolVar(&x.NoArtifacts, "no-artifacts", false, "write no artifacts")
	c.Flags().BoolVar(&x.Report, "report", false, "write a page about the run, report.html, into the artifacts")
}

// outFlags adds the flags of a command that leaves artifacts only if it is given a folder for them.
func outFlags(c *cobra.Command, out *string, x *cli.Common) {
	c.Flags().StringVar(out, "out", "", "folder for artifacts: empty, or left by an earlier run; without it, none are "+
		"written")
	c.Flags().BoolVar(&x.Overwrite, "overwrite", false, "accept any folder as --out, and replace files there that are "+
		"named like artifacts")
	c.Flags().BoolVar(&x.Report, "report", false, "write a page about the run, report.html, into --out")
}

// rtlInBundleFlag adds the flag that puts RTL into bundles.
func rtlInBundleFlag(c *cobra.Command, x *cli.Common) {
	c.Flags().BoolVar(&x.WithRTL, "with-rtl", false, "put manifest and sources of the device into the bundle of a "+
		"run that fails")
}

// common fills in the settings that a command takes from the program and its command line; `always` is passed to
// repeatLine. A flag without effect (idle) is refused on the command line but ignored in the environment, which serves
// many commands.
func (a *app) common(c *cobra.Command, args []string, x *cli.Common, idle cli.Idle, always ...string) {
	x.Home, x.Self, x.Again = a.home, a.program, a.repeatLine(c, args, nil, idle, always...)
	given := map[string]string{} // a copy: the command changes its settings later
	c.Flags().VisitAll(func(f *pflag.Flag) { given[f.Name] = valueOf(f) })
	x.AgainWith = func(inputs []string, flags map[string]string, idle cli.Idle) string {
		all := maps.Clone(given)
		maps.Copy(all, flags)
		return a.repeatLine(c, inputs, all, idle, always...)
	}
	beat, err := a.beat(c)
	x.Heartbeat, x.Refused = beat, errors.Join(idle.Refuse(c.Flags().Changed), err)
	x.Bundle, x.Flags = a.bundle, bundleFlags(c, idle)
}

// shrinkFlag adds the flag that limits shrinking.
func shrinkFlag(c *cobra.Command, x *cli.Common, what string) {
	c.Flags().IntVar(&x.ShrinkS, "shrink-s", x.ShrinkS, "seconds for reducing "+what+"; 0 = do not shrink")
}

// complete gives shells the words that complete a flag.
func complete(c *cobra.Command, flag string, words ...string) {
	completeWith(c, flag, cobra.FixedCompletions(words, cobra.ShellCompDirectiveNoFileComp))
}

// completeWith sets the function that completes a flag.
func completeWith(c *cobra.Command, flag string, f cobra.CompletionFunc) {
	if err := c.RegisterFlagCompletionFunc(flag, f); err != nil {
		panic(err) // the command has no such flag: a mistake in this folder
	}
}

// completeDUTs completes the names of devices under the home, and files.
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

// shardFlag adds the flag that plays one of several equal parts of the items.
func shardFlag(c *cobra.Command, x *cli.Common, items string) {
	c.Flags().Var(&x.Part, "shard", "play part `I/N` of the "+items+": every N-th, beginning with the I-th")
}

// unsharded refuses --shard of a command whose work is one piece, with the reason.
func unsharded(c *cobra.Command, why string) {
	c.Flags().Var(new(whole), "shard", "no shards: "+why)
	c.Flags().Lookup("shard").Hidden = true
}

// whole is the value of a flag --shard that is always refused.
type whole struct{}

func (whole) Set(string) error { return errors.New("cannot be divided") }
func (whole) String() string   { return "" }
func (whole) Type() string     { return "whole" }

// waveFlag adds the flag that selects the runs that leave a waveform.
func waveFlag(c *cobra.Command, text *string) {
	c.Flags().StringVar(text, "wave", *text, "waveform to keep with the artifacts of a run on RTL: never, fail "+
		"(around the first difference; the default with --report), always, or A:B in cycles or times")
	complete(c, "wave", "never", "fail", "always")
}

// linkFlag adds the flag that puts a shell around the device.
func linkFlag(c *cobra.Command, to *string) {
	c.Flags().StringVar(to, "link", *to, "put an emulation shell around the device and reach it through a link: sim = "+
		"shell and device are simulated together, and only the bytes of the link leave (docs/emulation.md)")
	complete(c, "link", emulation.LinkSim)
}
