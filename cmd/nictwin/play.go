package main

import (
	"fmt"
	"os"
	"strings"
	"text/tabwriter"

	"github.com/spf13/cobra"

	"nictwin/scenarios/observe/bundle"
	"nictwin/scenarios/play"
	"nictwin/scenarios/shell/cli"
)

func playCommand(a *app) *cobra.Command {
	p := cli.NewPlay()
	c := &cobra.Command{
		Use:   "play MANIFEST|BUNDLE [MANIFEST]",
		Short: "Play random transactions on your own device, and check its answers",
		Long: `Builds the device of a manifest, drives every input with random legal transactions, with gaps, back-pressure
and noise on idle pins, and checks the outputs: by the rules of their streams, and by the check named in the
manifest's section "play" (identity, route, memory, rules) or a reference in Go (--ref). A run that fails is
shortened and reported with the command that repeats it. docs/own-rtl.md leads from a Verilog file to a first
verdict. MANIFEST is a manifest, its folder, or a name from dut list.

A run that fails leaves a bundle among its artifacts, which play plays again anywhere, on the device of the
same name under the home or on the MANIFEST after it: docs/bundles.md.

A reference runs in a process of its own, within --ref-s, --ref-mb and --ref-count, with the user's rights.`,
		Example: `  nictwin play my/dut.yaml
  nictwin play fifo --runs 200 --seed 7 --stall 60
  nictwin play my/dma.yaml --ref my/ref
  nictwin play my/filter.yaml --capture traffic.pcap --stream rx`,
		Args: playArgs,
		ValidArgsFunction: func(c *cobra.Command, _ []string, w string) ([]string, cobra.ShellCompDirective) {
			return completeDUTs(c, nil, w)
		},
	}
	playFlags(c, p)
	underHeadings(c, playSections)
	c.RunE = func(c *cobra.Command, args []string) error {
		a.common(c, args, &p.Common, p.Idle(), "seed")
		p.DUT = args[0]
		if b := a.bundle; b != nil {
			if len(p.Captures) == 0 {
				p.Captures = b.Inputs(bundle.Capture)
			}
			p.DUT = a.bundleDUT
		}
		return a.play(c, p)
	}
	return c
}

func playFlags(c *cobra.Command, p *cli.Play) {
	f := c.Flags()
	f.SortFlags = false
	f.Uint64Var(&p.Seed, "seed", p.Seed, "seed of the first run; later runs count up from it")
	f.IntVar(&p.Runs, "runs", p.Runs, "number of runs")
	shardFlag(c, &p.Common, "runs")
	f.StringVar(&p.Ref, "ref", p.Ref, "folder of a Go package whose func Reference(p *ref.Player) computes the "+
		"expected "+
		"outputs")
	f.IntVar(&p.RefLimits.S, "ref-s", p.RefLimits.S, "seconds that one call into the reference may take")
	f.IntVar(&p.RefLimits.MB, "ref-mb", p.RefLimits.MB, "megabytes of memory that the reference may take")
	f.IntVar(&p.RefLimits.Count, "ref-count", p.RefLimits.Count,
		"transactions that the reference may draw, give and expect in a run")
	f.StringVar(&p.Settings.Stall, "stall", p.Settings.Stall,
		"percent of cycles in which streams pause, 0 to 95; or by stream, with an optional length of bursts: "+
			"s=40x8,m=0; -1 = drawn for each run")
	f.IntVar(&p.Count, "count", p.Count, "transactions for each input that has no count in the manifest; 0 = the "+
		"manifest's count")
	f.StringArrayVar(&p.Captures, "capture", nil, "pcap or pcapng `FILE` whose packets an input carries; may be given "+
		"several times")
	f.StringVar(&p.Stream, "stream", p.Stream, "input that carries the packets of --capture (default the only one)")
	f.StringToStringVar(&p.Settings.Parameters, "param", nil,
		"`NAME=VALUE` of a parameter of the top module, instead of the manifest's")
	f.StringToStringVar(&p.Settings.Ties, "tie", nil, "`SIGNAL=VALUE` of a tied-off input, instead of a drawn "+
		"value")
	f.StringToStringVar(&p.Settings.Clocks, "clock", nil,
		"`SIGNAL=PERIOD`[+PHASE] of a clock in ps, instead of drawn values")
	f.StringVar(&p.Settings.Resets, "resets", "",
		"reset the device after these numbers of transactions taken, such as 3,17, or none (default drawn)")
	f.StringVar(&p.KeepText, "keep", p.KeepText, "offer only the transactions with these numbers, such as 3,7-9")
	f.IntVar(&p.Cut, "cut", p.Cut, "cut drawn packets to this many bytes; 0 = do not cut")
	f.BoolVar(&p.NoGap, "no-gaps", p.NoGap, "drive transactions back to back")
	f.BoolVar(&p.NoShrink, "no-shrink", p.NoShrink, "do not shorten a run that fails")
	shrinkFlag(c, &p.Common, "a run that fails")
	rtlInBundleFlag(c, &p.Common)
	waveFlag(c, &p.WaveText)
	artifactFlags(c, &p.Out, &p.Common, "out/play-NAME-SEED")
	timeFlags(c, &p.Common)
	f.StringVar(&p.VariantName, "variant", p.VariantName, "build variant of the device: speed, tuned (needs dut tune "+
		"first) or debug (checks the assertions)")
	complete(c, "variant", "speed", "tuned", "debug")
	linkFlag(c, &p.LinkText)
}

// play runs the transactions and reports the outcome.
func (a *app) play(c *cobra.Command, p *cli.Play) error {
	bar := newBar(os.Stderr, "runs")
	p.Log, p.Progress, p.RefOutput = a.stderr, bar.counting(p.Heartbeat), a.stderr
	e := p.Run(c.Context())
	bar.end()
	a.report(&e.Ended, driven{e.Report})
	return e.Err
}

// driven formats the transactions that each stream carried, one line each.
type driven struct{ *play.Report }

func (d driven) String() string {
	if d.Report == nil || d.Cover == nil {
		return ""
	}
	var s strings.Builder
	t := tabwriter.NewWriter(&s, 0, 0, 2, ' ', 0)
	for i := range d.Cover.Streams {
		x := &d.Cover.Streams[i]
		say(t, "%s\t%s\t%d transactions\t%d back to back", x.Name, x.Dir, x.Transactions, x.BackToBack)
		if x.OneBeat+x.WholeBeats+x.PartBeat > 0 {
			say(t, "\t%d to %d bytes: %d of one beat, %d of whole beats, %d with a part", x.Shortest, x.Longest,
				x.OneBeat, x.WholeBeats, x.PartBeat)
		}
		say(t, "\n")
	}
	_ = t.Flush() // writing to a strings.Builder cannot fail
	return fmt.Sprintf("%s%d runs, check %s: %d transactions taken, %d compared over %d cycles\n", s.String(), d.Runs,
		d.Check, d.Taken, d.Compared, d.Cycles)
}
