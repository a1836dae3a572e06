package main

import (
	"fmt"
	"io"
	"slices"
	"strings"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"
)

// groups lists the headings of nictwin --help and their commands, in order.
var groups = []struct {
	title    string
	commands []string
}{
	{"Play", []string{"run", "replay", "fuzz", "play", "blocks", "pair"}},
	{"Devices", []string{"dut", "emulate", "board"}},
	{"Results", []string{"report", "bench", "bundle", "coverage", "gate"}},
	{"About", []string{"version", "completion"}},
}

// group puts commands under their headings.
func group(root *cobra.Command) {
	cobra.EnableCommandSorting = false
	var listed []*cobra.Command
	for _, g := range groups {
		root.AddGroup(&cobra.Group{ID: g.title, Title: g.title + ":"})
		for _, name := range g.commands {
			for _, c := range root.Commands() {
				if c.Name() == name {
					c.GroupID = g.title
					listed = append(listed, c)
				}
			}
		}
	}
	root.SetHelpCommandGroupID(groups[len(groups)-1].title)
	root.RemoveCommand(listed...)
	root.AddCommand(listed...)
}

// section is a heading in the help of a command with many flags.
type section struct {
	title string
	flags []string
}

// Sections of those commands whose help is divided; --help is in none.
var (
	replaySections = []section{
		{"Input", []string{"dir", "speed", "max-gap", "loop", "limit", "pad", "recompute", "seed", "shard"}},
		{"Device", []string{"nic", "ports", "eth-bits", "board", "dut", "variant", "link", "connect", "token-file",
			"quantum", "serial", "idle-cycles"}},
		{"Faults", []string{"stall"}},
		{"Output", []string{"out", "overwrite", "no-artifacts", "report", "with-rtl", "shrink-s", "artifact-mb", "wave",
			"rtl-coverage", "wall-limit", "heartbeat", "akita-monitor", "akita-trace"}},
	}
	fuzzSections = []section{
		{"Input", []string{"seed", "runs", "time", "skip", "shard", "program", "overlap", "jobs", "failures"}},
		{"Device", []string{"nic", "ports", "eth-bits", "board", "build", "dut", "variant", "link"}},
		{"Faults", []string{"stall"}},
		{"Output", []string{"out", "overwrite", "no-artifacts", "report", "with-rtl", "wave", "shrink", "shrink-s",
			"coverage", "show-missing", "rtl-coverage", "wall-limit", "heartbeat"}},
	}
	runSections = []section{
		{"Input", []string{"only", "shard", "seed", "jobs"}},
		{"Device", []string{"nic", "dut", "variant", "link"}},
		{"Output", []string{"stats",
			"out", "overwrite", "no-artifacts", "report", "with-rtl", "shrink-s", "artifact-mb", "wave",
			"wall-limit", "heartbeat"}},
	}
	playSections = []section{
		{"Input", []string{"seed", "runs", "shard", "count", "capture", "stream", "cut", "keep"}},
		{"Device", []string{"param", "tie", "clock", "variant", "link"}},
		{"Verdict", []string{"ref", "ref-s", "ref-mb", "ref-count"}},
		{"Faults", []string{"stall", "no-gaps", "resets"}},
		{"Output", []string{"no-shrink", "shrink-s", "out", "overwrite", "no-artifacts", "report", "with-rtl", "wave",
			"wall-limit", "heartbeat"}},
	}
)

// helpWidth is the width of help texts, in columns.
const helpWidth = 110

// wrapFlags wraps the descriptions of flags in the help of every command at helpWidth.
func wrapFlags(root *cobra.Command) {
	root.SetUsageTemplate(strings.ReplaceAll(root.UsageTemplate(), ".FlagUsages ",
		fmt.Sprintf(".FlagUsagesWrapped %d ", helpWidth)))
}

// underHeadings lists the flags of a command in sections.
func underHeadings(c *cobra.Command, sections []section) {
	c.SetUsageFunc(func(c *cobra.Command) error {
		var b strings.Builder
		fmt.Fprintf(&b, "Usage:\n  %s\n\nExamples:\n%s\n", c.UseLine(), c.Example)
		for _, s := range sections {
			fmt.Fprintf(&b, "\n%s:\n%s", s.title, usages(c, s.flags))
		}
		fmt.Fprintf(&b, "\nGlobal Flags:\n%s", c.InheritedFlags().FlagUsagesWrapped(helpWidth))
		_, err := io.WriteString(c.OutOrStderr(), b.String())
		return err
	})
}

// usages returns the descriptions of the named flags of a command, in the command's order.
func usages(c *cobra.Command, names []string) string {
	some := pflag.NewFlagSet(c.Name(), pflag.ContinueOnError)
	some.SortFlags = false
	c.LocalFlags().VisitAll(func(f *pflag.Flag) {
		if slices.Contains(names, f.Name) {
			some.AddFlag(f)
		}
	})
	return some.FlagUsagesWrapped(helpWidth)
}
