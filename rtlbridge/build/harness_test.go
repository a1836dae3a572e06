package build

import (
	"os"
	"path/filepath"
	"testing"

	"github.com/stretchr/testify/require"

	"nictwin/rtlbridge/manifest"
	"nictwin/rtlbridge/manifest/manifesttest"
)

const fifoYAML = "../../verilator/duts/fifo/dut.yaml"

// TestHarnessIsNamed checks that only SetHarness and Options decide which harness is compiled: one beside
// the manifest or above the working folder is ignored.
func TestHarnessIsNamed(t *testing.T) {
	was := harnessDir.Load()
	defer harnessDir.Store(was)
	dir := t.TempDir()
	theirs := filepath.Join(dir, "verilator", "harness")
	require.NoError(t, os.MkdirAll(theirs, 0o755))
	require.NoError(t, os.WriteFile(filepath.Join(theirs, "device.hpp"), nil, 0o644))
	require.NoError(t, os.WriteFile(filepath.Join(dir, "a.sv"), []byte("module m(input clk);\nendmodule\n"), 0o644))
	m, err := manifest.Parse(filepath.Join(dir, "dut.yaml"), []byte(manifesttest.Good))
	require.NoError(t, err)
	t.Chdir(dir)
	t.Setenv("NICTWIN_HARNESS", theirs)
	b, err := prepare(m, Options{})
	require.NoError(t, err)
	require.Equal(t, *was, b.home)

	harnessDir.Store(nil)
	_, err = prepare(m, Options{})
	require.ErrorContains(t, err, "name it by BuildOptions.HarnessDir or SetHarness")
	b, err = prepare(m, Options{HarnessDir: theirs})
	require.NoError(t, err)
	require.Equal(t, theirs, b.home)
	_, err = prepare(m, Options{HarnessDir: dir})
	require.ErrorContains(t, err, "is not the harness: it has no device.hpp")
}
