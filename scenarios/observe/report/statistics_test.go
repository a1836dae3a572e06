package report

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"nictwin/scenarios/observe/result"
	"nictwin/scenarios/run/stats"
)

// TestStatisticsOnThePage checks that tables and pictures of cases are in the page itself, and that a picture cannot
// bring a script along.
func TestStatisticsOnThePage(t *testing.T) {
	dir := t.TempDir()
	require.NoError(t, os.Mkdir(filepath.Join(dir, "big-size_64-on-model"), 0o755))
	require.NoError(t, os.WriteFile(filepath.Join(dir, "big-size_64-on-model", "links.svg"), []byte("<script>"), 0o644))
	require.NoError(t, os.WriteFile(filepath.Join(dir, "big-size_64-on-model", "cores.svg"), nil, 0o644))
	require.NoError(t, os.Truncate(filepath.Join(dir, "big-size_64-on-model", "cores.svg"), maxPicture+1))
	s := &stats.Summary{Total: stats.Rate{Messages: 700, Gbps: 12.5, Converged: true}}
	o := &result.Object{Command: "run", Result: result.Pass.String(), Scenarios: []result.ScenarioPlayed{
		{Name: "big:size=64", NIC: "model", Stats: s}, {Name: "../..", Stats: s}, {Name: "none"}}}
	page, err := New([]*Run{Of(o, dir)}).Page(dir)
	require.NoError(t, err)
	text := string(page)
	require.Contains(t, text, `<h2 id="statistics-title">Statistics</h2>`)
	require.Equal(t, 1, strings.Count(text, "big:size=64 on model</h3>"))
	require.Contains(t, text, "12.5")
	require.Equal(t, 1, strings.Count(text, `src="data:image/svg&#43;xml;base64,PHNjcmlwdD4="`))
	require.NotContains(t, text, "<h3>none</h3>")
	require.Equal(t, 1, strings.Count(text, "<p class=\"note\">cores.svg has more than 4 MiB: it is in the folder"))
}
