package main

import (
	"fmt"
	"os"
	"strings"
	"text/tabwriter"

	"github.com/spf13/cobra"

	"nictwin/scenarios/play"
	"nictwin/scenarios/shell/cli"
)

func playCommand(a *app) *cobra.Command {
	p := cli.NewPlay()
	c := &cobra.Command{
		Use:   "play MANIFEST",
		Short: "Play random transactions on anybody's device, and judge it",
		Long: `Builds the device of a manifest, drives every input with random legal transactions, with gaps, back-pressure and noise on
idle pins, and judges what comes out: by the rules of its streams, by the check that the manifest's section play names
(identity, route, memory, rules), or by a reference in Go (--ref). A run that fails is made shorter, and told with the
command that plays it again. docs/own-rtl.md has the way from a Verilog file to a first verdict. MANIFEST is a manifest,
its folder, or a name from dut list.

A reference runs in a process of its own, held to --ref-s, --ref-mb and --ref-count, and with the rights of the user.`,
		Example: `  nictwin play my/dut.yaml
  nictwin play fifo --runs 200 --seed 7 --stall 60
  nictwin play my/dma.yaml --ref my/ref
  nictwin play my/filter.yaml --capture traffic.pcap --stream rx`,
		Args: cobra.ExactArgs(1),
		ValidArgsFunction: func(c *cobra.Command, _ []string, w string) ([]string, cobra.ShellCompDirective) {
			return completeDUTs(c, nil, w)
		},
	}
	playFlags(c, p)
	underHeadings(c, playSections)
	c.RunE = func(c *cobra.Command, args []string) error {
		a.common(c, args, &p.Common, nil, "seed")
		p.DUT = args[0]
		return a.play(c, p)
	}
	return c
}

func playFlags(c *cobra.Command, p *cli.Play) {
	f := c.Flags()
	f.SortFlags = false
	f.Uint64Var(&p.Seed, "seed", p.Seed, "seed of the first run; the next run has the next")
	f.IntVar(&p.Runs, "runs", p.Runs, "runs")
	f.StringVar(&p.Ref, "ref", p.Ref, "folder of a Go package with func Reference(p *ref.Player), which says what is "+
		"right")
	f.IntVar(&p.RefLimits.S, "ref-s", p.RefLimits.S, "seconds that one call into the reference may take")
	f.IntVar(&p.RefLimits.MB, "ref-mb", p.RefLimits.MB, "megabytes of memory that the reference may take")
	f.IntVar(&p.RefLimits.Count, "ref-count", p.RefLimits.Count,
		"transactions that the reference may draw, give and expect in a run")
	f.StringVar(&p.Settings.Stall, "stall", p.Settings.Stall,
		"percent of cycles in which streams pause, 0 to 95, or of each stream, in bursts of cycles: s=40x8,m=0; -1: "+
			"drawn")
	f.IntVar(&p.Count, "count", p.Count, "transactions of each input that the manifest says nothing of; 0: as the "+
		"manifest has it")
	f.StringArrayVar(&p.Captures, "capture", nil, "pcap or pcapng file whose packets an input carries; may be given "+
		"several times")
	f.StringVar(&p.Stream, "stream", p.Stream, "input that carries the packets of --capture (default the only one)")
	f.StringToStringVar(&p.Settings.Parameters, "param", nil,
		"NAME=VALUE of a parameter of the top module, in place of the manifest's")
	f.StringToStringVar(&p.Settings.Ties, "tie", nil, "SIGNAL=VALUE of an input that is tied off, in place of a "+
		"drawn one")
	f.StringToStringVar(&p.Settings.Clocks, "clock", nil,
		"SIGNAL=PERIOD or SIGNAL=PERIOD+PHASE of a clock in ps, in place of drawn ones")
	f.StringVar(&p.Settings.Resets, "resets", "",
		"numbers of transactions taken after which the device is reset, such as 3,17, or none; empty: drawn")
	f.StringVar(&p.KeepText, "keep", p.KeepText, "numbers of the transactions that are offered, such as 3,7-9; the "+
		"others are left out")
	f.IntVar(&p.Cut, "cut", p.Cut, "bytes to which drawn packets are cut; 0: they are not")
	f.BoolVar(&p.NoGap, "no-gaps", p.NoGap, "transactions follow each other at once")
	f.BoolVar(&p.NoShrink, "no-shrink", p.NoShrink, "leave a run that fails as long as it is")
	waveFlag(c, &p.WaveText)
	artifactFlags(c, &p.Out, &p.Common, "out/play-NAME-SEED")
	f.StringVar(&p.VariantName, "variant", p.VariantName, "build of the device: speed, tuned (made by dut tune) or "+
		"debug with its assertions checked")
	complete(c, "variant", "speed", "tuned", "debug")
}

// play plays and tells people how it ended.
func (a *app) play(c *cobra.Command, p *cli.Play) error {
	bar := newBar(os.Stderr, "runs")
	p.Log, p.Progress, p.RefOutput = a.stderr, bar.set, a.stderr
	e := p.Run(c.Context())
	bar.end()
	a.tell(&e.Ended, driven{e.Report})
	return e.Err
}

// driven is what was driven and seen, a line for each stream.
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
	_ = t.Flush() // a builder takes everything
	return fmt.Sprintf("%s%d runs, check %s: %d transactions taken, %d compared over %d cycles\n", s.String(), d.Runs,
		d.Check, d.Taken, d.Compared, d.Cycles)
}
