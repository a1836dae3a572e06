package emulation

import (
	"context"
	"os"
	"os/exec"
	"path/filepath"
	"testing"

	"github.com/stretchr/testify/require"

	"nictwin/rtlbridge/build"
)

// TestWallClean checks that neither Verilator nor, for one device, slang and yosys warn about a shell, its blocks
// included, for devices with all kinds of streams and links of several widths; and that its text depends on nothing
// else.
func TestWallClean(t *testing.T) {
	t.Parallel()
	ctx := context.Background()
	for _, x := range []struct {
		device string
		shape  Options
		strict bool // slang and yosys, too
	}{
		{"fifo/dut.yaml", DefaultOptions(), false},
		{"fifo/lanes.yaml", Options{LinkBits: 512, Depth: 1}, false},
		{"ports/dut.yaml", Options{LinkBits: 64, Depth: 3, Trace: "rsp_addr+rst_ni+apart_o", Samples: 16}, true},
		{"own/afifo/dut.yaml", DefaultOptions(), false},
		{"own/arbmux/dut.yaml", DefaultOptions(), false},
		{"own/dmard/dut.yaml", DefaultOptions(), false},
	} {
		m := load(t, x.device)
		ports, err := build.CheckEmulation(m, build.Options{Fits: Supported})
		require.NoError(t, err)
		shell, err := Generate(ctx, m, ports, x.shape, build.Options{})
		require.NoError(t, err)
		again, err := Generate(ctx, m, ports, x.shape, build.Options{})
		require.NoError(t, err)
		require.Equal(t, shell, again)
		files, err := shell.Files(m)
		require.NoError(t, err)
		dir := t.TempDir()
		for _, f := range files {
			require.NoError(t, os.WriteFile(filepath.Join(dir, f.Name), []byte(f.Text), 0o644))
		}
		cmd := exec.Command("verilator", "--lint-only", "-Wall", "--no-timing", "--top-module", Module, "-f", ListFile)
		cmd.Dir = dir
		out, err := cmd.CombinedOutput()
		require.NoError(t, err, "%s: %s", x.device, out)
		require.Empty(t, string(out), x.device)
		if x.strict {
			strict := exec.Command("../../.venv/bin/python", "../../verilator/strict.py", "shell", dir)
			out, err := strict.CombinedOutput()
			require.NoError(t, err, "%s: %s", x.device, out)
		}
	}
}
