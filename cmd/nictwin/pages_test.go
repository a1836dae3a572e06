package main

import (
	"io"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"
	"github.com/stretchr/testify/require"

	"nictwin/scenarios/cli"
)

var (
	codeSpan = regexp.MustCompile("`([^`\n]+)`")
	flagWord = regexp.MustCompile(`^--([a-z][a-z-]*)`)
)

// commandLines are the lines of code and the spans of code in a page that call this program, without its name, and the other
// spans.
func commandLines(text string) (calls, spans []string) {
	for i, block := range strings.Split(text, "```") {
		lines := strings.Split(block, "\n")
		if i%2 == 0 {
			lines = nil
			for _, m := range codeSpan.FindAllStringSubmatch(block, -1) {
				lines = append(lines, m[1])
			}
		}
		for _, l := range lines {
			_, call, ours := strings.Cut(" "+strings.ReplaceAll(l, "bin/nictwin", "nictwin"), " nictwin ")
			if ours {
				calls = append(calls, call)
			} else if i%2 == 0 {
				spans = append(spans, l)
			}
		}
	}
	return calls, spans
}

// wrongFlags are the flags in words that none of these commands has.
func wrongFlags(words []string, of ...*cobra.Command) (wrong []string) {
	for _, w := range words {
		m := flagWord.FindStringSubmatch(w)
		known := func(c *cobra.Command) bool {
			return c.Flags().Lookup(m[1]) != nil || c.InheritedFlags().Lookup(m[1]) != nil
		}
		if m == nil || m[1] == "help" {
			continue
		}
		found := false
		for _, c := range of {
			found = found || known(c)
		}
		if !found {
			wrong = append(wrong, w)
		}
	}
	return wrong
}

func everyCommand(c *cobra.Command) []*cobra.Command {
	all := []*cobra.Command{c}
	for _, s := range c.Commands() {
		all = append(all, everyCommand(s)...)
	}
	return all
}

// What the pages call exists: commands and their flags. docs/bridge.md speaks of the device's flags, too.
func TestPagesNameFlagsThatExist(t *testing.T) {
	a := &app{program: "nictwin", stdout: &output{w: io.Discard}, stderr: io.Discard, commands: commands}
	root := a.root()
	pages := []string{"../../README.md", "../../ARCHITECTURE.md", "../../CHANGELOG.md", "../../ci/mutants/README.md"}
	docs, err := filepath.Glob("../../docs/*.md")
	require.NoError(t, err)
	calls := 0
	for _, page := range append(pages, docs...) {
		text, err := os.ReadFile(page)
		require.NoError(t, err)
		lines, spans := commandLines(string(text))
		for _, l := range lines {
			words := strings.Fields(l)
			if slices.Contains(planned, words[0]) { // the page says that they are not built
				continue
			}
			c, _, err := root.Find(words)
			require.NoError(t, err, "%s: nictwin %s", page, l)
			require.NotEqual(t, root, c, "%s: nictwin %s", page, l)
			require.Empty(t, wrongFlags(words, c), "%s: nictwin %s", page, l)
			calls++
		}
		if filepath.Base(page) == "bridge.md" {
			continue
		}
		for _, s := range spans {
			if strings.HasPrefix(s, "PROGRAM ") { // a device
				continue
			}
			require.Empty(t, wrongFlags(strings.Fields(s), everyCommand(root)...), "%s: %s", page, s)
		}
	}
	require.Greater(t, calls, 15, "the pages have commands")
}

func TestWrongFlagsAreFound(t *testing.T) {
	calls, spans := commandLines("a `nictwin replay --x 1` b `--y`\n```\nbin/nictwin fuzz --runs 3\n```\n")
	require.Equal(t, []string{"replay --x 1", "fuzz --runs 3"}, calls)
	require.Equal(t, []string{"--y"}, spans)
	c := &cobra.Command{}
	c.Flags().AddFlagSet(pflag.NewFlagSet("", pflag.ContinueOnError))
	c.Flags().Int("runs", 0, "")
	require.Equal(t, []string{"--x", "--run"}, wrongFlags(strings.Fields("replay --x 1 --runs 2 --run"), c))
}

// Errors of fields are told by flags that some command has.
func TestFlagsOfFieldsExist(t *testing.T) {
	a := &app{program: "nictwin", stdout: &output{w: io.Discard}, stderr: io.Discard, commands: commands}
	for path, flag := range cli.Flags {
		require.Empty(t, wrongFlags([]string{"--" + flag}, everyCommand(a.root())...), "field %s", path)
	}
}

// The walk through the tutorial shows what is in its file, all of it, in its order.
func TestTutorialIsShownAsItIs(t *testing.T) {
	page, err := os.ReadFile("../../docs/scenarios.md")
	require.NoError(t, err)
	walk, _, found := strings.Cut(string(page), "The result is a line for each case")
	require.True(t, found)
	var shown []string
	for i, block := range strings.Split(walk, "```") {
		if text, yaml := strings.CutPrefix(block, "yaml\n"); i%2 == 1 && yaml {
			shown = append(shown, text)
		}
	}
	file, err := os.ReadFile("../../scenarios/library/tutorial.yaml")
	require.NoError(t, err)
	var lines []string
	for _, l := range strings.SplitAfter(string(file), "\n") {
		if text := strings.TrimSpace(l); text != "" && !strings.HasPrefix(text, "#") {
			lines = append(lines, l)
		}
	}
	require.Equal(t, strings.Join(lines, ""), strings.Join(shown, ""))
}
