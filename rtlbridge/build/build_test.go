package build

import (
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"nictwin/rtlbridge/build/toolchain"
	"nictwin/rtlbridge/manifest"
	"nictwin/rtlbridge/manifest/manifesttest"
)

func TestBuildIsCached(t *testing.T) {
	m, err := manifest.Load(filepath.Dir(fifoYAML))
	require.NoError(t, err)
	_, err = Build(m, Options{})
	require.NoError(t, err)
	d, err := Build(m, Options{})
	require.NoError(t, err)
	require.True(t, d.Cached)
}

// TestDesignRefusesParameters checks that a design that refuses its parameters at elaboration is not built.
func TestDesignRefusesParameters(t *testing.T) {
	m, err := manifest.Load(filepath.Dir(fifoYAML))
	require.NoError(t, err)
	m, err = m.With("Depth", 3)
	require.NoError(t, err)
	_, err = Build(m, Options{})
	require.ErrorContains(t, err, "axis_fifo: Depth must be a power of two of at least 2")
	var refused *RefusedError
	require.ErrorAs(t, err, &refused)
	require.Equal(t, []string{"Depth = 3"}, refused.Parameters)
}

// TestHashDependsOnContentOnly checks that a copy of the tree elsewhere has the same hash, and that a
// changed comment in the RTL changes it.
func TestHashDependsOnContentOnly(t *testing.T) {
	hash := func(path string) [32]byte {
		m, err := manifest.Load(path)
		require.NoError(t, err)
		b, err := prepare(m, Options{HarnessDir: "../../verilator/harness"})
		require.NoError(t, err)
		return b.hash.sum()
	}
	dir := t.TempDir()
	require.NoError(t, os.CopyFS(dir, os.DirFS(filepath.Dir(fifoYAML))))
	require.Equal(t, hash(fifoYAML), hash(dir))
	f, err := os.OpenFile(filepath.Join(dir, "rtl", "axis_fifo.sv"), os.O_APPEND|os.O_WRONLY, 0)
	require.NoError(t, err)
	_, err = f.WriteString("// one more line\n")
	require.NoError(t, err)
	require.NoError(t, f.Close())
	require.NotEqual(t, hash(fifoYAML), hash(dir))
}

func TestMissingTools(t *testing.T) {
	m, err := manifest.Load(fifoYAML)
	require.NoError(t, err)
	t.Setenv("PATH", t.TempDir())
	_, err = Build(m, Options{})
	require.ErrorIs(t, err, toolchain.ErrToolMissing)
	require.EqualError(t, err, "tool missing: verilator is not installed; install it with: apt-get install verilator")
}

func TestBuildFailures(t *testing.T) {
	dir := t.TempDir()
	o := Options{CacheDir: dir, HarnessDir: "../../verilator/harness"}
	put := func(rtl string) *manifest.Manifest {
		require.NoError(t, os.WriteFile(filepath.Join(dir, "m.sv"), []byte(rtl), 0o644))
		m, err := manifest.Parse(filepath.Join(dir, "dut.yaml"),
			[]byte(strings.Replace(manifesttest.Good, "a.sv", "m.sv", 1)))
		require.NoError(t, err)
		return m
	}
	_, err := Build(put("module m(input clk);\n  assign x = ;\nendmodule\n"), o)
	var de *DesignError
	require.ErrorAs(t, err, &de)
	require.ErrorContains(t, err, "verilating m: the design has 1 error\n%Error: m.sv:2:14: syntax error")
	_, err = Build(put("module n;\nendmodule\n  module automatic k(input clk);\nendmodule\n// module x\n"), o)
	var me *manifest.Error
	require.ErrorAs(t, err, &me)
	require.ErrorContains(t, err, `dut.yaml:2: top "m": the sources have no such module; they have k, n`)
	odd := put("module m(input clk);\nendmodule\n")
	odd.VerilatorFlags = []string{"--stats", "-fno-nosuch"}
	_, err = Build(odd, o)
	require.ErrorAs(t, err, &me)
	require.ErrorContains(t, err, "verilator_flags: Verilator has no option -fno-nosuch")
	odd.VerilatorFlags = []string{"-Wno-nosuch"}
	_, err = Build(odd, o)
	require.ErrorAs(t, err, &me)
	require.ErrorContains(t, err, "verilator_flags: Verilator has no option -Wno-nosuch")
	_, err = Build(put("module m(input clk);\nendmodule\n"), o)
	require.ErrorContains(t, err, "manifest does not fit module m")
	require.ErrorContains(t, err, "module m has no port s_tdata")
	require.NoError(t, os.WriteFile(filepath.Join(dir, "hidden.svh"), []byte("// x\n"), 0o644))
	_, err = Build(put("`include \"hidden.svh\"\nmodule m(input clk);\nendmodule\n"), o)
	require.ErrorContains(t, err, "hidden.svh, which the manifest does not name")
	_, err = Build(put("module m; endmodule"), Options{Variant: "fast"})
	require.ErrorContains(t, err, `build variant "fast" is not known`)
	_, err = manifest.Load(filepath.Join(dir, "none"))
	require.True(t, errors.Is(err, os.ErrNotExist))
}
