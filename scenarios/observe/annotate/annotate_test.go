package annotate

import (
	"encoding/json"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"nictwin/scenarios/observe/result"
)

const hostile = "a%b\r\n::error file=x::y<script>|\x1b[31m`"

// sources writes an RTL file with a port and a Go file, and returns their folder.
func sources(t *testing.T) Tree {
	root := t.TempDir()
	require.NoError(t, os.MkdirAll(filepath.Join(root, "rtl"), 0o755))
	require.NoError(t, os.WriteFile(filepath.Join(root, "rtl", "fifo.sv"),
		[]byte("// A queue.\n\nmodule fifo (\n  input  logic clk,\n  output logic [7:0] m_axis_tdata\n);\nendmodule\n"),
		0o644))
	require.NoError(t, os.WriteFile(filepath.Join(root, "rss.go"), []byte("package core\n"), 0o644))
	return Tree{Root: root, Repo: root}
}

func found(f result.Finding) *result.Object {
	o := &result.Object{Command: "play", Findings: []result.Finding{f}, Mismatches: 1, Reproduce: "nictwin play x"}
	o.End(result.Mismatch, nil)
	return o
}

func github(t *testing.T, o *result.Object) string {
	var text strings.Builder
	require.NoError(t, GitHub(&text, sources(t), o))
	return text.String()
}

func TestFindingIsShownAtItsLine(t *testing.T) {
	for name, c := range map[string]struct {
		f  result.Finding
		at string
	}{
		"module": {result.Finding{Rule: "S2", Files: []string{"rss.go", "rtl/fifo.sv"}},
			"file=rtl/fifo.sv,line=3,"},
		"port":         {result.Finding{Stream: "m_axis", Field: "tdata", Files: []string{"rtl/fifo.sv"}}, "line=5,"},
		"Go alone":     {result.Finding{Rule: "S2", Files: []string{"rss.go"}}, "file=rss.go,line=1,"},
		"no such file": {result.Finding{Rule: "S2", Files: []string{"gone.sv"}}, "::error title="},
		"outside":      {result.Finding{Rule: "S2", Files: []string{"../x.sv", "/etc/passwd"}}, "::error title="},
	} {
		c.f.Text = "differs"
		require.Contains(t, github(t, found(c.f)), c.at, name)
	}
}

func TestHostileTextIsNoCommand(t *testing.T) {
	f := result.Finding{Rule: hostile, Field: hostile, Text: hostile, Command: hostile, Files: []string{hostile}}
	o := found(f)
	o.Error, o.Warnings = hostile, []string{hostile}
	text := github(t, o)
	require.Equal(t, 3, strings.Count(text, "\n"), text)
	for line := range strings.Lines(text) {
		require.Regexp(t, `^::(error|warning) `, line)
		require.NotContains(t, line, "\x1b")
	}
	var page strings.Builder
	require.NoError(t, Summary(&page, o))
	require.NotContains(t, page.String(), "<script>")
	require.NotContains(t, page.String(), "\x1b")
}

func TestTenErrorsAStep(t *testing.T) {
	o := found(result.Finding{Text: "one"})
	for range 30 {
		o.Findings = append(o.Findings, o.Findings[0])
	}
	require.Equal(t, 10, strings.Count(github(t, o), "::error"))
}

func TestCodeQuality(t *testing.T) {
	o := found(result.Finding{Rule: "S2", Text: hostile, Files: []string{"rtl/fifo.sv"}})
	o.Findings = append(o.Findings, o.Findings[0], result.Finding{Text: "nowhere"})
	text, err := GitLab(sources(t), o)
	require.NoError(t, err)
	var list []map[string]any
	require.NoError(t, json.Unmarshal(text, &list))
	require.Len(t, list, 1, "one for each fingerprint, and none without a file")
	require.Equal(t, map[string]any{"path": "rtl/fifo.sv", "lines": map[string]any{"begin": 3.0}}, list[0]["location"])
	require.NotContains(t, list[0]["description"], "\x1b")
	text, err = GitLab(sources(t), &result.Object{})
	require.NoError(t, err)
	require.Equal(t, "[]\n", string(text))
}
