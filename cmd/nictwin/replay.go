package main

import (
	"errors"
	"io"
	"os"
	"strings"

	"github.com/spf13/cobra"

	"nictwin/rtlbridge"
	"nictwin/scenarios/cli"
	"nictwin/scenarios/home"
)

func replayCommand(a *app) *cobra.Command {
	r := cli.NewReplay()
	c := &cobra.Command{
		Use:   "replay CAPTURE...",
		Short: "Play captures through the NIC and referee it",
		Long: `Plays pcap or pcapng files through the NIC, one after the other: received, transmitted, or both at once.
The referee holds every crossing of the NIC's boundary to the contract, and every frame is compared with the capture.
Artifacts go to the folder --out, by default out/replay-NIC-DIR-SEED.`,
		Example: `  nictwin replay --nic model trace.pcap
  nictwin replay --dir rx --speed 40 --stall 20 --seed 7 --out out/seven trace.pcapng`,
		Args: func(_ *cobra.Command, args []string) error {
			if len(args) == 0 {
				return cli.Usagef("no capture file given")
			}
			return nil
		},
		ValidArgsFunction: func(*cobra.Command, []string, string) ([]string, cobra.ShellCompDirective) {
			return []string{"pcap", "pcapng"}, cobra.ShellCompDirectiveFilterFileExt
		},
	}
	replayFlags(c, r)
	c.RunE = func(c *cobra.Command, args []string) error {
		r.Captures, r.Home, r.Again = args, a.home, a.again(c, args, "seed")
		return a.replay(c, r)
	}
	return c
}

func replayFlags(c *cobra.Command, r *cli.Replay) {
	f := c.Flags()
	f.SortFlags = false
	f.StringVar(&r.NIC, "nic", r.NIC, "the NIC: rtl or model")
	f.IntVar(&r.Ports, "ports", r.Ports, "Ethernet ports of the NIC, 1 or 2: capture i plays on port i modulo that, in both directions")
	f.StringVar(&r.Dir, "dir", r.Dir, "direction: rx, tx or both")
	f.StringVar(&r.Speed, "speed", r.Speed, "pace of received frames: line, capture, or a number of Gbps")
	f.DurationVar(&r.Gap, "max-gap", r.Gap, "longest idle gap of --speed capture, in simulated time")
	f.Uint64Var(&r.Seed, "seed", r.Seed, "seed of everything random")
	f.IntVar(&r.Stall, "stall", r.Stall, "percent of cycles with gaps and back-pressure, 0 to 90")
	f.IntVar(&r.Loop, "loop", r.Loop, "how often everything is played")
	f.IntVar(&r.Limit, "limit", r.Limit, "frames at most, before --loop; 0 is all")
	f.BoolVar(&r.Pad, "pad", r.Pad, "pad short frames to 60 bytes, as a MAC would")
	f.StringSliceVar(&r.Recompute, "recompute", nil, "have the NIC insert on transmit: csum, icrc")
	f.StringVar(&r.Out, "out", r.Out, "folder for artifacts (default out/replay-NIC-DIR-SEED)")
	f.BoolVar(&r.NoArtifacts, "no-artifacts", false, "write none")
	f.StringVar(&r.DUT, "dut", r.DUT, "device manifest, its folder, or a name from dut list (rtl only)")
	f.StringVar(&r.Variant, "variant", r.Variant, "build of the device: speed, tuned (made by dut tune) or debug with its assertions checked (rtl only)")
	f.StringVar(&r.Connect, "connect", r.Connect, "a device that runs already, unix:PATH or tcp:A.B.C.D:PORT, instead of --dut (rtl only)")
	f.StringVar(&r.TokenFile, "token-file", r.TokenFile, "file with the token of the device at --connect, 64 hexadecimal digits")
	f.Uint32Var(&r.Quantum, "quantum", r.Quantum, "cycles exchanged with the device at a time; 0 is the bridge's choice (rtl only)")
	f.BoolVar(&r.Serial, "serial", r.Serial, "do not overlap device and models (rtl only)")
	f.StringVar(&r.Wave, "wave", r.Wave, "waveforms: never (fail and always are not built yet)")
	f.StringVar(&r.Mutant, "mutant", r.Mutant, "seeded bug to switch on (not built yet)")
	c.MarkFlagsMutuallyExclusive("out", "no-artifacts")
	complete(c, "nic", "rtl", "model")
	complete(c, "dir", "rx", "tx", "both")
	complete(c, "speed", "line", "capture")
	complete(c, "variant", "speed", "tuned", "debug")
	complete(c, "recompute", "csum", "icrc")
	complete(c, "wave", "never")
	if err := c.RegisterFlagCompletionFunc("dut", completeDUTs); err != nil {
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

// replay runs and tells how it ended.
func (a *app) replay(c *cobra.Command, r *cli.Replay) error {
	bar := newBar(os.Stderr, "frames")
	r.Log, r.Progress = a.stderr, bar.set
	e := r.Run(c.Context())
	bar.end()
	a.tell(e)
	return e.Err
}

// tell tells people how a replay ended.
func (a *app) tell(e *cli.Ended) {
	a.outcome, a.object = e.Outcome, e.Object
	w := a.people()
	switch e.Outcome {
	case cli.Pass:
		say(w, "%v", e.Result)
		say(w, "%s  seed %d, %s\n", paint(w, green, "PASS"), e.Object.Seed, artifacts(&e.Object))
	case cli.Mismatch:
		if e.Result != nil {
			say(w, "%v", e.Result)
		}
		say(w, "%s  seed %d\n", paint(w, red, "FAIL"), e.Object.Seed)
		findings(w, e.Object.Findings)
		last(w, &e.Object)
		a.told = true
	case cli.Infrastructure:
		a.complain(e.Outcome, e.Err)
		a.told = true
		if !errors.Is(e.Err, rtlbridge.ErrToolMissing) { // that line says it all
			last(a.stderr, &e.Object)
		}
	}
}

// maxShown is how many findings are shown; all of them are in the artifacts.
const maxShown = 8

// findings shows the most telling one whole and what the others are about.
func findings(w io.Writer, list []string) {
	for i, f := range list {
		head, rest, _ := strings.Cut(f, "\n")
		switch {
		case i == maxShown:
			say(w, "  and %d more\n", len(list)-i)
			return
		case i == 0 && rest != "":
			say(w, "  %s\n%s\n", head, strings.TrimRight(rest, "\n"))
		default:
			say(w, "  %s\n", head)
		}
	}
}

// last are the last lines of a failure, after what differs: where the artifacts are, how to see it again.
func last(w io.Writer, o *cli.Object) {
	say(w, "%s\nreproduce: %s\n", artifacts(o), o.Reproduce)
}

func artifacts(o *cli.Object) string {
	if o.Artifacts == "" {
		return "artifacts: none (--no-artifacts)"
	}
	return "artifacts: " + o.Artifacts
}
