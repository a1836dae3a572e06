package main

import (
	"io"
	"testing"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"
	"github.com/stretchr/testify/require"
)

func wholeRoot() *cobra.Command {
	a := &app{program: "nictwin", stdout: &output{w: io.Discard}, stderr: io.Discard, commands: commands}
	return a.root()
}

// Every command that is shown stands under a heading.
func TestCommandsHaveHeadings(t *testing.T) {
	for _, c := range wholeRoot().Commands() {
		if !c.Hidden {
			require.NotEmpty(t, c.GroupID, "%s: name it in groups", c.Name())
		}
	}
}

// The headings have every flag of their command once, and no other.
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
