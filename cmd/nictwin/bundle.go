package main

import (
	"encoding/json"
	"fmt"
	"slices"
	"strings"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"nictwin/scenarios/observe/bundle"
	"nictwin/scenarios/shell/cli"
	"nictwin/scenarios/shell/pipeline"
)

func bundleCommand(a *app) *cobra.Command {
	c := &cobra.Command{
		Use:   "bundle",
		Short: "Show bundles: the inputs of runs that failed",
	}
	show := &cobra.Command{
		Use:   "show FILE",
		Short: "Show what a bundle plays and what was found",
		Long: `Shows command, flags, inputs, device and finding of a bundle, and its other entries. A run that fails
leaves bundle.zip among its artifacts; the command that left it plays it again. Nothing of a bundle is
executed or unpacked to be shown. docs/bundles.md has the format.`,
		Example: `  nictwin bundle show out/replay-rtl-both-1/bundle.zip
  nictwin bundle show --json bundle.zip`,
		Args: cobra.ExactArgs(1),
		ValidArgsFunction: func(*cobra.Command, []string, string) ([]string, cobra.ShellCompDirective) {
			return []string{"zip"}, cobra.ShellCompDirectiveFilterFileExt
		},
		RunE: func(_ *cobra.Command, args []string) error { return a.showBundle(args[0]) },
	}
	c.AddCommand(show)
	return c
}

// showBundle prints a bundle.
func (a *app) showBundle(path string) error {
	b, err := bundle.Read(path)
	if err != nil {
		return &cli.UsageError{Err: err}
	}
	if a.object.BundleInfo, err = json.Marshal(&b.Info); err != nil {
		return err
	}
	a.object.Warnings = b.Remarks
	say(a.human(), "%s", b.String())
	return nil
}

// openBundle opens the bundle, if the arguments name one in place of inputs. Flags that were not given get the
// bundle's values.
func (a *app) openBundle(c *cobra.Command, args []string) error {
	n := slices.IndexFunc(args, bundle.Is)
	if n < 0 || !slices.Contains(bundle.Commands(), a.name) {
		return nil
	}
	path := args[n]
	if len(args) > 1 && (a.name != "play" || len(args) > 2 || n > 0) {
		return cli.Usagef("%s is a bundle, which is played by itself: want no other file", path)
	}
	var err error
	if a.bundle, err = pipeline.OpenBundle(path, a.name); err != nil {
		return &cli.UsageError{Err: err}
	}
	if a.name == "fuzz" && c.Flags().Changed("program") {
		return cli.Usagef("--program: has no effect with a bundle, which has its own: leave one of them out")
	}
	for _, text := range a.bundle.Info.Flags {
		name, value := bundle.Flag(text)
		if f := c.Flags().Lookup(name); f != nil && !f.Changed && f.Value.Set(value) != nil {
			return wrongValue(path+": flag --"+name+" ", f, value)
		}
	}
	if f := c.Flags().Lookup("shrink-s"); len(a.bundle.Info.Shrunk) > 0 && !f.Changed {
		if err := f.Value.Set("0"); err != nil { // the bundle's input was shrunk already
			return err
		}
	}
	if boards := a.bundle.Inputs(bundle.Board); len(boards) > 0 && a.name == "replay" && !c.Flags().Changed("board") {
		if err := c.Flags().Set("board", boards[0]); err != nil {
			return err
		}
		c.Flags().Lookup("board").Changed = false
	}
	return a.findBundleDUT(c, args)
}

// findBundleDUT sets the device to that of the bundle unless the user names another.
func (a *app) findBundleDUT(c *cobra.Command, args []string) (err error) {
	instead := "--dut MANIFEST"
	f := c.Flags().Lookup("dut")
	switch {
	case a.name == "play" && len(args) > 1:
		a.bundleDUT = args[1]
		return nil
	case a.name == "play":
		instead = fmt.Sprintf("nictwin play %s MANIFEST", args[0])
	case f.Changed || a.bundle.Info.DUT == nil || c.Flags().Lookup("nic").Value.String() == "model":
		return nil
	}
	if a.bundleDUT, err = a.bundle.Device(a.home, instead); err != nil {
		return &cli.UsageError{Err: err}
	}
	if f != nil {
		return f.Value.Set(a.bundleDUT)
	}
	return nil
}

// bundleSets reports whether the bundle that is played decides about a flag, even by not setting it. The environment
// then must not set the flag.
func (a *app) bundleSets(c *cobra.Command, flag string) bool {
	return a.bundle != nil && c.Name() == a.bundle.Info.Command &&
		(slices.Contains([]string{"board", "dut", "program", "capture", "connect", "shard", "shrink-s"}, flag) ||
			slices.Contains(bundle.FlagNames(a.bundle.Info.Command), flag))
}

// bundleFlags returns the flags to be stored in a bundle of this run. It omits flags that name files, flags without
// effect (idle), and --only, whose list the command itself provides.
func bundleFlags(c *cobra.Command, idle cli.Idle) (list []string) {
	for _, name := range bundle.FlagNames(c.Name()) {
		f := c.Flags().Lookup(name)
		if f == nil || idle[name] != "" || name == "only" {
			continue
		}
		list = append(list, flagWords(f)...)
	}
	return list
}

// flagWords returns a flag with its value, as stored in a bundle; nothing if the flag is empty.
func flagWords(f *pflag.Flag) (list []string) {
	value := f.Value.String()
	if s, ok := f.Value.(pflag.SliceValue); ok {
		value = strings.Join(s.GetSlice(), ",")
	}
	switch {
	case f.Value.Type() == "stringToString":
		for pair := range strings.SplitSeq(strings.Trim(value, "[]"), ",") {
			if pair != "" {
				list = append(list, "--"+f.Name+"="+pair)
			}
		}
		return list
	case f.Name == "variant":
		value = pipeline.Untuned(value)
	case value == "":
		return nil
	case f.Value.Type() == "bool" && value == "true":
		return []string{"--" + f.Name}
	}
	return []string{"--" + f.Name + "=" + value}
}

// onlyBundle allows one positional argument, a bundle.
func onlyBundle(c *cobra.Command, args []string) error {
	if len(args) == 1 && bundle.Is(args[0]) {
		return nil
	}
	return noArgs(c, args)
}

// playArgs allows a manifest, or a bundle with or without one.
func playArgs(c *cobra.Command, args []string) error {
	if len(args) == 2 && bundle.Is(args[0]) {
		return nil
	}
	return cobra.ExactArgs(1)(c, args)
}
