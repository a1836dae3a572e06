package build

import (
	"os"
	"path/filepath"
	"syscall"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"nictwin/rtlbridge/build/toolchain"
	"nictwin/rtlbridge/manifest"
	"nictwin/rtlbridge/manifest/manifesttest"
)

// readIn runs Verilator on a design, within limits.
func readIn(t *testing.T, dir string, limits toolchain.ToolLimits) error {
	m, err := manifest.Load(dir)
	require.NoError(t, err)
	b, err := prepare(m, Options{CacheDir: t.TempDir(), Context: t.Context()})
	require.NoError(t, err)
	require.NoError(t, b.makeScratch())
	defer b.cleanUp()
	b.limits = limits
	_, err = b.verilate()
	return err
}

// TestToolLimits checks that Verilator's runs end when a design makes it read, allocate or write without
// end, and that the error names the limit. Macros hide the file names from the check before the run.
func TestToolLimits(t *testing.T) {
	dir := manifesttest.Plant(t, "top: m", "top: m", nil)
	write := func(text string) {
		require.NoError(t, os.WriteFile(filepath.Join(dir, "a.sv"), []byte(text+manifesttest.Module), 0o644))
	}
	pipe := filepath.Join(t.TempDir(), "pipe")
	require.NoError(t, syscall.Mkfifo(pipe, 0o600))
	small := toolchain.ToolLimits{Memory: 512 << 20, File: 1 << 20, Time: time.Minute}
	var me *manifest.Error

	write("`define F \"/dev/zero\"\n`include `F\n")
	err := readIn(t, dir, small)
	require.ErrorAs(t, err, &me)
	require.ErrorContains(t, err, "dut.yaml:3: sources: verilating m: verilator took more than 512 MB of memory, "+
		"which is the limit")
	require.ErrorContains(t, err, "set NICTWIN_TOOL_GB to more than 1 if it is large")

	write("`define F \"" + pipe + "\"\n`include `F\n")
	quick := small
	quick.Time, quick.Longer = 2*time.Second, "; others wait"
	err = readIn(t, dir, quick)
	require.ErrorAs(t, err, &me)
	require.ErrorContains(t, err, "verilator took longer than 2s, which is the limit: the design reads a pipe")
	require.ErrorContains(t, err, "; others wait")

	write("")
	narrow := small
	narrow.File = 512
	err = readIn(t, dir, narrow)
	require.ErrorAs(t, err, &me)
	require.ErrorContains(t, err, "verilator wrote more than 0 MB into one file")
	require.NoError(t, readIn(t, dir, small))
}
