package build

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"nictwin/rtlbridge/manifest"
	"nictwin/rtlbridge/manifest/manifesttest"
)

func TestCheck(t *testing.T) {
	m, err := manifest.Load(fifoYAML)
	require.NoError(t, err)
	c, err := Check(t.Context(), m, true)
	require.NoError(t, err)
	require.Len(t, c.Ports, 17)
	require.Empty(t, c.Warnings)
	m.Sources[0] = m.Abs(m.Sources[0])
	m.Path = filepath.Join(t.TempDir(), "dut.yaml")
	m.VerilatorFlags = []string{"--stats"}
	_, err = Check(t.Context(), m, true)
	require.NoError(t, err)
	left, err := os.ReadDir(m.Dir())
	require.NoError(t, err)
	require.Empty(t, left, "what an option has Verilator write is not left beside the manifest")
}

// TestLintFaulty checks that the design of a faulty manifest is linted, unless the fault is in a field that
// defines the design.
func TestLintFaulty(t *testing.T) {
	dir := t.TempDir()
	path := filepath.Join(dir, "dut.yaml")
	require.NoError(t, os.WriteFile(filepath.Join(dir, "a.sv"), []byte("module m(input clk);\n  assign x = "+
		";\nendmodule\n"), 0o644))
	for _, x := range []struct {
		from, to string
		told     bool
	}{
		{"dir: out", "dir: both", true}, {"active: high", "activ: high", true},
		{"period_ps: 2500", "period_ps: fast", true},
		{"observe: [busy]", "observe: busy", true}, {"busy: busy", "bussy: busy", false}, {"top: m", "top: [m]", false},
		{"sources: [a.sv]", "sources: []", false}, {"top: m", "top: m\nverilator_flags: [--main]", false},
		{"name: x", "name: [", false},
	} {
		text := strings.Replace(manifesttest.Good, x.from, x.to, 1)
		require.NoError(t, os.WriteFile(path, []byte(text), 0o644))
		_, err := manifest.Load(dir)
		require.Error(t, err)
		if err = LintFaulty(t.Context(), dir); x.told {
			require.ErrorContains(t, err, "a.sv:2:14: syntax error", x.to)
		} else {
			require.NoError(t, err, x.to)
		}
	}
	require.NoError(t, LintFaulty(t.Context(), filepath.Join(dir, "none")))
}

// TestMacroFlagIsPassedOn checks that Verilator receives -DEBUG as the macro EBUG, not as its own option
// -debug.
func TestMacroFlagIsPassedOn(t *testing.T) {
	dir := manifesttest.Plant(t, "top: m", "top: m\nverilator_flags: [-DEBUG]",
		map[string]string{"a.sv": "`ifndef EBUG\n`error \"no EBUG\"\n`endif\n" + manifesttest.Module})
	m, err := manifest.Load(dir)
	require.NoError(t, err)
	_, err = Check(t.Context(), m, false)
	require.NoError(t, err)
}
