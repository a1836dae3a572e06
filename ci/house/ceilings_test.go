package house

import (
	"flag"
	"fmt"
	"maps"
	"os"
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

var update = flag.Bool("update", false, "lower the ceilings in testdata to what is counted")

// onlyFall compares counts by folder or file with the ceilings in a file of lines such as "3 models/nic". A
// count above its ceiling fails, and so does a ceiling above its count: -update lowers it, nothing raises
// it.
func onlyFall(t *testing.T, file string, count map[string]int, what string) {
	t.Helper()
	text, err := os.ReadFile(file)
	require.NoError(t, err)
	most := map[string]int{}
	for line := range strings.Lines(string(text)) {
		var n int
		var name string
		_, err := fmt.Sscan(line, &n, &name)
		require.NoError(t, err, "%s: %q: want a number and a name", file, line)
		most[name] = n
	}
	for _, name := range slices.Sorted(maps.Keys(count)) {
		assert.LessOrEqual(t, count[name], most[name], "%s: %s", name, what)
	}
	var lowered strings.Builder
	for _, name := range slices.Sorted(maps.Keys(most)) {
		if n := min(most[name], count[name]); n > 0 {
			fmt.Fprintf(&lowered, "%d %s\n", n, name)
		}
	}
	if *update {
		require.NoError(t, os.WriteFile(file, []byte(lowered.String()), 0o644))
		return
	}
	assert.Equal(t, lowered.String(), string(text), "%s: a ceiling can be lowered: go test ./ci/house -update", file)
}
