package main

import (
	"errors"
	"fmt"
	"io"
	"strings"
	"text/tabwriter"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"nictwin/rtlbridge/build/cache"

	"nictwin/scenarios/observe/result"
	"nictwin/scenarios/shell/cli"
	"nictwin/scenarios/shell/files"
)

func dutCommand(a *app) *cobra.Command {
	c := &cobra.Command{Use: "dut", Short: "Work with devices under test and their manifests"}
	c.AddCommand(dutNew(a), dutList(a), dutBuild(a), dutTune(a), dutCheck(a), dutPorts(a), dutShell(a), dutClean(a))
	return c
}

// dutArgs checks that at least one device is named, and none twice.
func dutArgs(_ *cobra.Command, args []string) error {
	if len(args) == 0 {
		return cli.Usagef("no device given: want a name from dut list, or a manifest")
	}
	if err := cli.Once("device", args); err != nil {
		return &cli.UsageError{Err: err}
	}
	return nil
}

func dutNew(a *app) *cobra.Command {
	n := &cli.DUTNew{}
	c := &cobra.Command{
		Use:   "new TOP FILE...",
		Short: "Write a first manifest for a module from its port names",
		Long: `Reads the ports of module TOP and writes a manifest: clocks and resets, AXI ports, packet streams, records
with their handshakes, inputs tied off, outputs observed, and a check where the ports suggest one. Comments
mark what was guessed. dut check accepts the manifest and nictwin play plays it, with a reference if a comment
asks for one.`,
		Example: `  nictwin dut new axis_fifo rtl/axis_fifo.v --out .
  nictwin play .`,
		RunE: func(c *cobra.Command, args []string) error {
			if len(args) > 0 {
				n.Top, n.Files = args[0], args[1:]
			}
			n.Home = a.home
			text, d, err := n.Run(c.Context())
			a.object.DUTs, a.object.Home = []result.DUT{d}, n.Used
			switch {
			case a.json || text == "":
			case n.Out == "" || err != nil:
				say(a.stdout, "%s", text)
				a.homeShown = true // suppresses the line about the home: stdout is the manifest, nothing else
			default:
				say(a.stdout, "%s: streams %s; next: nictwin dut check %s, nictwin play %s\n", d.Manifest,
					strings.Join(d.Streams, " "), d.Manifest, d.Manifest)
			}
			return err
		},
	}
	f := c.Flags()
	f.SortFlags = false
	f.StringVar(&n.Out, "out", "", "file for the manifest, or folder for dut.yaml (default stdout)")
	sourceFlags(f, n)
	return c
}

// sourceFlags adds the flags that control how Verilog files are read.
func sourceFlags(f *pflag.FlagSet, n *cli.DUTNew) {
	f.StringSliceVar(&n.Include, "include", nil, "`FOLDER` to search for included files; may be given several times")
	f.StringToStringVar(&n.Defines, "define", nil, "macro `NAME=VALUE`")
	f.StringToStringVar(&n.Parameters, "param", nil, "parameter `NAME=VALUE` of the module")
}

func dutList(a *app) *cobra.Command {
	return &cobra.Command{
		Use:   "list",
		Short: "List the devices under verilator/duts and in this folder",
		Args:  noArgs,
		RunE: func(*cobra.Command, []string) error {
			p := cli.Place{Home: a.home}
			list, err := cli.ListDUTs(&p)
			a.object.DUTs, a.object.Home = list, p.Used
			if a.json {
				return err
			}
			w := tabwriter.NewWriter(a.stdout, 0, 0, 2, ' ', 0)
			for _, d := range list {
				streams := strings.Join(d.Streams, " ")
				if d.Error != "" {
					streams = "(wrong: see dut check)"
				}
				say(w, "%s\t%s\t%s\t%s\n", files.Shown(d.Name), d.Top, streams, files.Shown(d.Manifest))
			}
			return errors.Join(w.Flush(), err)
		},
	}
}

// each calls `do` for every named device, even after errors. It calls `show` for those that succeeded, unless --json
// takes stdout.
func (a *app) each(args []string, do func(name string) (result.DUT, error), show func(d *result.DUT)) error {
	var errs []error
	for _, name := range args {
		d, err := do(name)
		a.object.DUTs = append(a.object.DUTs, d)
		errs = append(errs, err)
		if err == nil && !a.json {
			show(&d)
		}
	}
	return errors.Join(errs...)
}

// devices returns a command that takes names of devices. Its flags override the number and width of
// Ethernet ports in the manifests of NICs.
func (a *app) devices(name, short string, b *cli.DUTBuild,
	do func(c *cobra.Command, args []string) error) *cobra.Command {
	c := &cobra.Command{Use: name + " DUT...", Short: short, Args: dutArgs, ValidArgsFunction: completeDUTs}
	c.Flags().IntVar(&b.Eth.Ports, "ports", 0, "Ethernet ports of a NIC, 1 or 2; 0 = the number in its "+
		"manifest")
	ethBitsFlag(c, &b.Eth.Bits)
	c.RunE = func(c *cobra.Command, args []string) error {
		b.Home, b.Log = a.home, a.stderr
		defer func() { a.object.Home = b.Used }()
		return do(c, args)
	}
	return c
}

func dutBuild(a *app) *cobra.Command {
	b := &cli.DUTBuild{Variant: "speed"}
	c := a.devices("build", "Compile devices, unless the cache has them", b,
		func(c *cobra.Command, args []string) error {
			return a.build(args, func(dut string) (result.DUT, error) { return b.Build(c.Context(), dut) })
		})
	c.Flags().BoolVar(&b.DryRun, "dry-run", false, "compile nothing, only show the hash that names the build")
	c.Flags().StringVar(&b.Variant, "variant", b.Variant, "build variant: speed, debug (checks the assertions), "+
		"waves or coverage")
	complete(c, "variant", "speed", "debug", "waves", "coverage")
	return c
}

// build builds the devices named and prints the paths of the programs.
func (a *app) build(args []string, do func(dut string) (result.DUT, error)) error {
	err := a.each(args, do, func(d *result.DUT) {
		how := fmt.Sprintf("built in %.1f s", d.Built.TookS)
		if d.Built.Cached {
			how = "in the cache"
		} else if d.Built.Binary == "" {
			say(a.stdout, "%s (%s): not in the cache\n  hash    %s\n", d.Name, d.Built.Variant, d.Built.Hash)
			return
		}
		say(a.stdout, "%s (%s): %s\n  hash    %s\n  program %s\n", d.Name, d.Built.Variant, how, d.Built.Hash,
			d.Built.Binary)
	})
	if b := a.object.DUTs[0].Built; b != nil {
		a.object.Build = b.Hash
	}
	return err
}

func dutTune(a *app) *cobra.Command {
	b := &cli.DUTBuild{}
	const short = "Compile NICs with a replay's profile, for long runs with --variant tuned (needs clang)"
	return a.devices("tune", short, b, func(c *cobra.Command, args []string) error {
		return a.build(args, func(dut string) (result.DUT, error) { return b.Tune(c.Context(), dut) })
	})
}

func dutCheck(a *app) *cobra.Command {
	b := &cli.DUTBuild{}
	all := false
	const short = "Compare manifests with the ports of their devices, and lint with every warning on"
	c := a.devices("check", short, b, func(c *cobra.Command, args []string) error {
		return a.each(args, func(dut string) (result.DUT, error) { return b.Check(c.Context(), dut) },
			func(d *result.DUT) { a.checked(d, all) })
	})
	c.Flags().BoolVar(&all, "warnings", false, "show all style warnings, not only the first few")
	c.Long = short + ".\n\nA design with errors, or one that does not fit its manifest, fails with exit code 2.\n" +
		"Style warnings are counted and shown, and do not fail the check."
	return c
}

// shownWarnings is the number of style warnings shown without --warnings.
const shownWarnings = 5

// checked prints the findings of a check of a device.
func (a *app) checked(d *result.DUT, all bool) {
	found := "no warnings"
	if n := len(d.Warnings); n > 0 {
		found = fmt.Sprintf("fits, style warnings: %d", n)
	}
	say(a.stdout, "%s: %s; %d ports, streams %s\n", d.Name, found, len(d.Ports), strings.Join(d.Streams, " "))
	shown := d.Warnings
	if !all {
		shown = shown[:min(len(shown), shownWarnings)]
	}
	for _, w := range shown {
		say(a.stdout, "  %s\n", w)
	}
	if n := len(d.Warnings) - len(shown); n > 0 {
		say(a.stdout, "  ... and %d more; --warnings shows all\n", n)
	}
}

func dutPorts(a *app) *cobra.Command {
	b := &cli.DUTBuild{}
	n := &cli.DUTNew{}
	c := a.devices("ports", "Show the ports of a device's top module, or of a module in Verilog files", b,
		func(c *cobra.Command, args []string) error {
			var d result.DUT
			var err error
			if cli.IsSource(args[0]) {
				n.Place, n.Files = b.Place, args
				d, err = n.SourcePorts(c.Context())
			} else {
				d, err = b.PortsOf(c.Context(), args[0])
			}
			a.object.DUTs = []result.DUT{d}
			if a.json {
				return err
			}
			w := tabwriter.NewWriter(a.stdout, 0, 0, 2, ' ', 0)
			for _, p := range d.Ports {
				say(w, "%s\t%d\t%s%s\n", p.Dir, p.Width, p.Name, p.Array)
			}
			return errors.Join(w.Flush(), err)
		})
	c.Use = "ports DUT|FILE..."
	c.Flags().StringVar(&n.Top, "top", "", "module in the files given (default the name of the first file)")
	sourceFlags(c.Flags(), n)
	c.Args = func(c *cobra.Command, args []string) error {
		sources := len(args) > 0 && cli.IsSource(args[0])
		for _, name := range []string{"top", "include", "define", "param"} {
			if c.Flags().Changed(name) && !sources {
				return cli.Usagef("--%s: has no effect with a device: want Verilog files, or leave it out", name)
			}
		}
		if len(args) > 1 && !sources {
			return cli.Usagef("%d devices given: want one", len(args))
		}
		return dutArgs(c, args)
	}
	return c
}

func dutClean(a *app) *cobra.Command {
	v := &cli.DUTClean{}
	c := &cobra.Command{
		Use:   "clean",
		Short: "Remove remains of killed builds from the build cache, and whole builds on request",
		Long: `Removes the remains of killed builds from the build cache and, with --older or --all, complete builds of
devices and references (play --ref); these are built again when needed. Builds that another process makes or
uses are kept. Lists the whole cache, with what was removed and what was kept.`,
		Example: `  nictwin dut clean --dry-run
  nictwin dut clean --older 30`,
		Args: noArgs,
	}
	f := c.Flags()
	f.SortFlags = false
	f.BoolVar(&v.All, "all", false, "remove all builds that no process uses")
	f.IntVar(&v.Older, "older", 0, "remove builds that were not used for this many days")
	f.BoolVar(&v.DryRun, "dry-run", false, "remove nothing, only show what would be removed")
	c.RunE = func(c *cobra.Command, _ []string) error {
		v.ByAge = c.Flags().Changed("older")
		done, err := v.Run()
		a.object.Clean = done
		if a.json || done == nil {
			return err
		}
		return errors.Join(showCleaned(a.stdout, done), err)
	}
	return c
}

// showCleaned lists the builds that were, or would be, removed from the cache and those that were kept.
func showCleaned(to io.Writer, c *cache.Cleaned) error {
	gone := "removed"
	if c.DryRun {
		gone = "would go"
	}
	w := tabwriter.NewWriter(to, 0, 0, 2, ' ', 0)
	var kept int64
	for _, i := range c.Removed {
		say(w, "%s\t%s\t%s\t%s\n", gone, i.Name, megabytes(i.Bytes), i.Why)
	}
	for _, i := range c.Kept {
		say(w, "kept\t%s\t%s\t%s\n", i.Name, megabytes(i.Bytes), i.Why)
		kept += i.Bytes
	}
	err := w.Flush()
	say(to, "%s: %s %d (%s), kept %d (%s)\n", c.Folder, gone, len(c.Removed), megabytes(c.Bytes), len(c.Kept),
		megabytes(kept))
	return err
}

func megabytes(n int64) string { return fmt.Sprintf("%.1f MB", float64(n)/1e6) }
