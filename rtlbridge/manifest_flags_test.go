package rtlbridge

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
)

// Options that would take the output elsewhere, or make something else of the design, are refused by name; others are not.
func TestManifestFlags(t *testing.T) {
	with := func(flags ...string) error {
		_, err := ParseManifest("dut.yaml", []byte(goodManifest+"verilator_flags: ['"+strings.Join(flags, "', '")+"']\n"))
		return err
	}
	for _, f := range []string{"-o", "--hierarchical", "--Mdir", "-Mdir", "--Mdir=x", "--exe", "--main", "--lib-create", "--protect-lib", "--prefix",
		"--mod-prefix", "-CFLAGS", "-LDFLAGS", "-MAKEFLAGS", "--make", "-j", "--build", "--binary", "--sc", "--no-MMD", "--threads", "--savable",
		"--trace", "--coverage", "--pins-bv", "-f", "-F", "-FI", "--top-module", "--xml-output", "--gdb"} {
		require.ErrorContains(t, with("--stats", f, "x"), "dut.yaml:18: verilator_flags: "+f+" is not for a manifest: ")
	}
	require.NoError(t, with("-Wno-fatal", "--stats", "-y", "lib", "+libext+.v", "-DNAME=a b", "--timescale-override", "1ns/1ns", "-O3", "--flatten"))
}

// A macro without a value is never one of Verilator's own options: -DEBUG is its -debug.
func TestMacroFlags(t *testing.T) {
	for _, f := range []string{"-DEBUG", "--DEBUG", "+define+EBUG"} {
		args, faults := takeFlags([]string{"--stats", f}, nil)
		require.Empty(t, faults)
		require.Equal(t, []string{"-stats", "+define+EBUG"}, args)
	}
	args, faults := takeFlags([]string{"-DEBUG=1"}, nil)
	require.Empty(t, faults)
	require.Equal(t, []string{"-DEBUG=1"}, args)
	dir := plant(t, "top: m", "top: m\nverilator_flags: [-DEBUG]", map[string]string{"a.sv": "`ifndef EBUG\n`error \"no EBUG\"\n`endif\n" + goodModule})
	m, err := LoadManifest(dir)
	require.NoError(t, err)
	_, err = Check(t.Context(), m, false)
	require.NoError(t, err)
}

// The design of a faulty manifest is linted, unless the fault may be about what the design is.
func TestLintFaulty(t *testing.T) {
	dir := t.TempDir()
	path := filepath.Join(dir, "dut.yaml")
	require.NoError(t, os.WriteFile(filepath.Join(dir, "a.sv"), []byte("module m(input clk);\n  assign x = ;\nendmodule\n"), 0o644))
	for _, x := range []struct {
		from, to string
		told     bool
	}{
		{"dir: out", "dir: both", true}, {"active: high", "activ: high", true}, {"period_ps: 2500", "period_ps: fast", true},
		{"observe: [busy]", "observe: busy", true}, {"busy: busy", "bussy: busy", false}, {"top: m", "top: [m]", false},
		{"sources: [a.sv]", "sources: []", false}, {"top: m", "top: m\nverilator_flags: [--main]", false}, {"name: x", "name: [", false},
	} {
		text := strings.Replace(goodManifest, x.from, x.to, 1)
		require.NoError(t, os.WriteFile(path, []byte(text), 0o644))
		_, err := LoadManifest(dir)
		require.Error(t, err)
		if err = LintFaulty(t.Context(), dir); x.told {
			require.ErrorContains(t, err, "a.sv:2:14: syntax error", x.to)
		} else {
			require.NoError(t, err, x.to)
		}
	}
	require.NoError(t, LintFaulty(t.Context(), filepath.Join(dir, "none")))
}
