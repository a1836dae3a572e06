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

	"nictwin/scenarios/bench"
	"nictwin/scenarios/shell/cli"
)

var (
	codeSpan = regexp.MustCompile("`([^`\n]+)`")
	flagWord = regexp.MustCompile(`^--([a-z][a-z-]*)`)
)

// commandLines returns the calls of this program in a page's code, without the program's name, and the
// other code spans.
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
			if word, _, _ := strings.Cut(call, " "); strings.HasSuffix(word, ":") {
				continue // output of a command, which begins with its name
			}
			if ours {
				calls = append(calls, call)
			} else if i%2 == 0 {
				spans = append(spans, l)
			}
		}
	}
	return calls, spans
}

// wrongFlags returns the flags in words that no command in `of` has.
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

// pages returns the pages written for users.
func pages(t *testing.T) []string {
	docs, err := filepath.Glob("../../docs/*.md")
	require.NoError(t, err)
	return append(docs, "../../README.md", "../../ARCHITECTURE.md", "../../CHANGELOG.md",
		"../../ci/mutants/README.md", "../../rtlbridge/python/README.md")
}

// TestPagesNameWhatExists checks that pages name commands, flags and figures that this program has, or flags of
// devices.
func TestPagesNameWhatExists(t *testing.T) {
	a := &app{program: "nictwin", stdout: &output{w: io.Discard}, stderr: io.Discard, commands: commands}
	root := a.root()
	others := flagsOfDevices(t)
	calls, figures := 0, 0
	for _, page := range pages(t) {
		lines, spans := commandLines(current(t, page))
		for _, l := range lines {
			c, _, err := root.Find(strings.Fields(l))
			require.NoError(t, err, "%s: nictwin %s", page, l)
			require.False(t, c.HasSubCommands(), "%s: nictwin %s: no such command", page, l)
			require.Empty(t, wrongFlags(strings.Fields(l), c), "%s: nictwin %s", page, l)
			calls++
		}
		for _, s := range spans {
			words := strings.Fields(s)
			of := everyCommand(root)
			if c, _, err := root.Find(words); err == nil && c != root && len(words) > 1 {
				of = []*cobra.Command{c} // a call written without the program's name
			}
			wrong := slices.DeleteFunc(wrongFlags(words, of...),
				func(w string) bool { return others(page, words[0], w) })
			require.Empty(t, wrong, "%s: %s", page, s)
		}
		for _, s := range append(lines, spans...) {
			known, wrong := figuresIn(s)
			require.Empty(t, wrong, "%s: %s", page, s)
			figures += known
		}
	}
	require.Greater(t, calls, 40, "the pages have commands")
	require.Greater(t, figures, 30, "the pages have figures")
}

// current returns the text of a page. Of the changelog it leaves out earlier versions and entries about
// removals, which may name things that no longer exist.
func current(t *testing.T, page string) string {
	text, err := os.ReadFile(page)
	require.NoError(t, err)
	if filepath.Base(page) != "CHANGELOG.md" {
		return string(text)
	}
	unreleased, _, _ := strings.Cut(string(text), "\n## 0.")
	before, removed, _ := strings.Cut(unreleased, "\n### Removed\n")
	_, after, _ := strings.Cut(removed, "\n### ")
	return before + after
}

// flagsOfDevices returns a function that reports whether a flag in a span of a page belongs to a device's
// program or, in docs/bridge.md, is an option of Verilator that manifests may have.
func flagsOfDevices(t *testing.T) func(page, first, flag string) bool {
	harness, err := os.ReadFile("../../verilator/harness/main.cpp")
	require.NoError(t, err)
	options, err := os.ReadFile("../../rtlbridge/manifest/flags.go")
	require.NoError(t, err)
	return func(page, first, flag string) bool {
		device := strings.Contains(string(harness), `"`+flag+`"`)
		if filepath.Base(page) == "bridge.md" {
			return device || strings.Contains(string(options), strings.TrimPrefix(flag, "--"))
		}
		return device && first == "PROGRAM"
	}
}

// figure matches names of bench's figures that can mean nothing else on the pages.
var figure = regexp.MustCompile(`^((nic|card|run)/[a-z0-9]+_[a-z0-9_]+|(path|ring|flexins|tuned|engine)/[a-z0-9_-]+)$`)

// figuresIn counts the figures of command bench that a code span or a call names, and returns words that
// look like a figure's name but are none.
func figuresIn(code string) (known int, wrong []string) {
	names := bench.Names()
	words := strings.Fields(code)
	called := len(words) > 0 && words[0] == "bench"
	isGroup := func(w string) bool {
		return slices.ContainsFunc(names, func(n string) bool { return strings.HasPrefix(n, w+"/") })
	}
	for i, w := range words {
		isArgument := called && i > 0 && (i == 1 || words[i-1][0] != '-') && w[0] != '-' && strings.ToLower(w) == w
		switch {
		case !isArgument && !figure.MatchString(w):
		case slices.Contains(names, w) || isGroup(w):
			known++
		default:
			wrong = append(wrong, w)
		}
	}
	return known, wrong
}

func TestWrongFlagsAreFound(t *testing.T) {
	calls, spans := commandLines("a `nictwin replay --x 1` b `--y`\n```\nbin/nictwin fuzz --runs 3\n```\n")
	require.Equal(t, []string{"replay --x 1", "fuzz --runs 3"}, calls)
	require.Equal(t, []string{"--y"}, spans)
	c := &cobra.Command{}
	c.Flags().AddFlagSet(pflag.NewFlagSet("", pflag.ContinueOnError))
	c.Flags().Int("runs", 0, "")
	require.Equal(t, []string{"--x", "--run"}, wrongFlags(strings.Fields("replay --x 1 --runs 2 --run"), c))
	known, wrong := figuresIn("bench nic path/packets path/none none --out out/path --percent 3")
	require.Equal(t, 2, known)
	require.Equal(t, []string{"path/none", "none"}, wrong)
}

// TestFlagsOfFieldsExist checks that the flags named in errors about settings exist.
func TestFlagsOfFieldsExist(t *testing.T) {
	a := &app{program: "nictwin", stdout: &output{w: io.Discard}, stderr: io.Discard, commands: commands}
	for path, flag := range cli.Flags {
		require.Empty(t, wrongFlags([]string{"--" + flag}, everyCommand(a.root())...), "field %s", path)
	}
}

// TestTutorialIsShownAsItIs checks that docs/scenarios.md shows every line of tutorial.yaml, in order.
func TestTutorialIsShownAsItIs(t *testing.T) {
	page, err := os.ReadFile("../../docs/scenarios.md")
	require.NoError(t, err)
	walk, _, found := strings.Cut(string(page), "The output has a line for each case")
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
