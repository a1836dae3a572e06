package main

import (
	"os"

	"github.com/spf13/cobra"

	"nictwin/scenarios/observe/bundle"
	"nictwin/scenarios/shell/cli"
)

func replayCommand(a *app) *cobra.Command {
	r := cli.NewReplay()
	c := &cobra.Command{
		Use:   "replay CAPTURE...|BUNDLE",
		Short: "Play captures through the NIC and referee it",
		Long: `Plays pcap or pcapng files through the NIC, one after the other: received, transmitted, or both at once.
Captures may be gzipped, or pipes; - is standard input. A file named twice is played twice; a pipe cannot be.
The referee checks every frame and TLP that crosses the NIC's boundary against the contract, and compares
every frame with the capture.

A run that fails leaves a bundle among its artifacts, which replay plays again anywhere: docs/bundles.md.`,
		Example: `  nictwin replay --nic model trace.pcap
  zstd -dc trace.pcapng.zst | nictwin replay --limit 100000 -
  nictwin replay --wave fail bundle.zip
  nictwin replay --dir rx --speed 40 --stall 20 --seed 7 --out out/seven trace.pcapng`,
		Args: func(_ *cobra.Command, args []string) error {
			if len(args) == 0 {
				return cli.Usagef("no capture file given")
			}
			return nil
		},
		ValidArgsFunction: func(*cobra.Command, []string, string) ([]string, cobra.ShellCompDirective) {
			return []string{"pcap", "pcapng", "gz", "zip"}, cobra.ShellCompDirectiveFilterFileExt
		},
	}
	replayFlags(c, r)
	underHeadings(c, replaySections)
	c.RunE = func(c *cobra.Command, args []string) error {
		if r.Captures = args; a.bundle != nil {
			r.Captures = a.bundle.Inputs(bundle.Capture)
		}
		a.common(c, args, &r.Common, r.Idle(), "seed")
		return a.replay(c, r)
	}
	return c
}

func replayFlags(c *cobra.Command, r *cli.Replay) {
	f := c.Flags()
	f.SortFlags = false
	nicFlag(c, &r.NIC)
	f.IntVar(&r.Ports, "ports", r.Ports, "Ethernet ports of the NIC, 1 or 2; with 2, captures alternate between the "+
		"ports")
	ethBitsFlag(c, &r.EthBits)
	boardFlag(c, &r.Board)
	f.StringVar(&r.Dir, "dir", r.Dir, "direction: rx, tx or both")
	f.StringVar(&r.Speed, "speed", r.Speed, "pace of received frames: line, capture, or a rate in Gbps")
	f.DurationVar(&r.Gap, "max-gap", r.Gap, "longest idle gap with --speed capture, in simulated time")
	seedFlag(c, &r.Seed)
	f.IntVar(&r.Stall, "stall", r.Stall, "percent of cycles with gaps and back-pressure, 0 to 90")
	shardFlag(c, &r.Common, "captures")
	f.IntVar(&r.Loop, "loop", r.Loop, "play the captures this many times")
	f.IntVar(&r.Limit, "limit", r.Limit, "play at most this many frames in each loop; 0 = all")
	f.BoolVar(&r.Pad, "pad", r.Pad, "pad short frames to 60 bytes, as a MAC would")
	f.StringSliceVar(&r.Recompute, "recompute", nil, "checksums for the NIC to insert on transmit: csum, icrc")
	artifactFlags(c, &r.Out, &r.Common, "out/replay-NIC-DIR-SEED")
	timeFlags(c, &r.Common)
	shrinkFlag(c, &r.Common, "captures that fail to the packets that they need")
	f.IntVar(&r.ArtifactMB, "artifact-mb", r.ArtifactMB, "cut events.jsonl and frames.pcapng at this many megabytes "+
		"each; 0 = no limit")
	buildFlags(c, &r.DUT, &r.Variant)
	linkFlag(c, &r.LinkText)
	rtlCoverageFlag(c, &r.RTLCoverage)
	f.StringVar(&r.Connect, "connect", r.Connect, "use a running device, unix:PATH or tcp:A.B.C.D:PORT, "+
		"instead of --dut (rtl only)")
	f.StringVar(&r.TokenFile, "token-file", r.TokenFile, "file of mode 0600, or pipe, with the token of the device "+
		"at --connect: 64 hexadecimal digits")
	f.Uint32Var(&r.Quantum, "quantum", r.Quantum, "cycles that the device runs between two exchanges; 0 = chosen by "+
		"the bridge (rtl only)")
	f.BoolVar(&r.Serial, "serial", r.Serial, "do not run device and models in parallel (rtl only)")
	f.StringVar(&r.IdleMode, "idle-cycles", r.IdleMode, "treatment of cycles in which the device is idle: skip, "+
		"evaluate "+
		"or check (rtl only)")
	rtlInBundleFlag(c, &r.Common)
	waveFlag(c, &r.WaveText)
	f.IntVar(&r.Akita.Monitor, "akita-monitor", 0, "port for Akita's monitor of this run, open to this machine "+
		"only; needs a program from make build-akitaview")
	f.StringVar(&r.Akita.Trace, "akita-trace", "", "new file NAME.sqlite3 for a trace for Akita's viewer; needs "+
		"a program from make build-akitaview")
	complete(c, "dir", "rx", "tx", "both")
	complete(c, "speed", "line", "capture")
	complete(c, "recompute", "csum", "icrc")
	complete(c, "idle-cycles", "skip", "evaluate", "check")
}

// replay plays the captures and reports the outcome.
func (a *app) replay(c *cobra.Command, r *cli.Replay) error {
	bar := newBar(os.Stderr, "frames")
	r.Log, r.Progress = a.stderr, bar.counting(r.Heartbeat)
	e := r.Run(c.Context())
	bar.end()
	if e.Result == nil {
		a.report(&e.Ended, nil)
	} else {
		a.report(&e.Ended, e.Result)
	}
	return e.Err
}
