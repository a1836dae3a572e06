package main

import (
	"bytes"
	"io"
	"strings"
	"testing"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"
	"github.com/stretchr/testify/require"
)

func wholeRoot() *cobra.Command {
	a := &app{program: "nictwin", stdout: &output{w: io.Discard}, stderr: io.Discard, commands: commands}
	return a.root()
}

// TestCommandsHaveHeadings checks that every visible command is under a heading of nictwin --help.
func TestCommandsHaveHeadings(t *testing.T) {
	for _, c := range wholeRoot().Commands() {
		if !c.Hidden {
			require.NotEmpty(t, c.GroupID, "%s: name it in groups", c.Name())
		}
	}
}

// TestFlagsHaveHeadings checks that a command's sections list each of its flags once.
func TestFlagsHaveHeadings(t *testing.T) {
	for name, sections := range map[string][]section{"replay": replaySections, "fuzz": fuzzSections, "run": runSections,
		"play": playSections} {
		c, _, err := wholeRoot().Find([]string{name})
		require.NoError(t, err)
		var want, got []string
		c.LocalNonPersistentFlags().VisitAll(func(f *pflag.Flag) {
			if f.Name != "help" {
				want = append(want, f.Name)
			}
		})
		for _, s := range sections {
			got = append(got, s.flags...)
		}
		require.ElementsMatch(t, want, got, name)
	}
}

// TestHelpFitsItsWidth checks that the help of every command is at most helpWidth columns wide.
func TestHelpFitsItsWidth(t *testing.T) {
	for _, c := range everyCommand(wholeRoot()) {
		if c.CommandPath() == "nictwin completion" || c.HasParent() && c.Parent().Name() == "completion" {
			continue // written by cobra
		}
		var b bytes.Buffer
		c.SetOut(&b)
		require.NoError(t, c.Help())
		require.Contains(t, b.String(), "Usage:", c.CommandPath())
		for line := range strings.Lines(b.String()) {
			require.LessOrEqual(t, len(strings.TrimRight(line, "\n")), helpWidth, "%s: %s", c.CommandPath(), line)
		}
	}
}
