package main

import (
	"os"
	"regexp"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"nictwin/scenarios/observe/bundle"
)

// The flags that a bundle may set are flags of its command, none of them names files, and docs/bundles.md lists them.
func TestBundleFlags(t *testing.T) {
	page, err := os.ReadFile("../../docs/bundles.md")
	require.NoError(t, err)
	word := regexp.MustCompile("`--([a-z-]+)`")
	for _, name := range bundle.Commands() {
		c, _, err := newApp(commands).root().Find([]string{name})
		require.NoError(t, err)
		require.Equal(t, name, c.Name())
		for _, flag := range bundle.FlagNames(name) {
			f := c.Flags().Lookup(flag)
			require.NotNil(t, f, "%s --%s", name, flag)
			require.NotRegexp(t, "(?i)^file|folder|manifest of|path", f.Usage, "%s --%s", name, flag)
		}
		_, row, found := strings.Cut(string(page), "\n| `"+name+"` | `--")
		require.True(t, found, name)
		row, _, _ = strings.Cut("`--"+row, "\n")
		var listed []string
		for _, m := range word.FindAllStringSubmatch(row, -1) {
			listed = append(listed, m[1])
		}
		require.Equal(t, bundle.FlagNames(name), listed, name)
	}
}
