package emulation

import (
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
)

// shellTests are the tests of single blocks in verilator/shell/tests, as instances.
var shellTests = []string{
	"shell_fifo_test #(.Depth(1))", "shell_fifo_test #(.Depth(3))", "shell_clocks_test", "shell_in_test",
	"shell_out_test", "shell_observe_test", "shell_noise_test", "shell_commands_test", "shell_report_test",
	"shell_width_test #(.Bytes(1))", "shell_width_test #(.Bytes(8))", "shell_width_test #(.Bytes(64))",
	"shell_link_test", "shell_host_test", "shell_trace_test",
}

const testCycles = 1_000_000

// topOf returns a module that runs tests side by side, and ends when all have passed.
func topOf(tests []string) string {
	w := &writer{}
	w.line("module shell_tests(input logic clk);")
	w.line("  logic [%d:0] done;\n  logic [31:0] cycle = 0;\n  logic rst;\n  assign rst = cycle < 4;", len(tests)-1)
	for i, t := range tests {
		w.line("  %s u_%d (.clk, .rst, .done_o(done[%d]));", t, i, i)
	}
	w.line("  always_ff @(posedge clk) begin\n    cycle <= cycle + 1;\n    if (!rst && done == '1) $finish;")
	w.line("    if (cycle == %d) $fatal(1, \"not done: %%b\", ~done);\n  end\nendmodule", testCycles)
	return w.String()
}

// runTests builds and runs tests of the blocks, changed by seed if there is one. It returns what they print.
func runTests(t *testing.T, tests []string, seed *seededBug) (string, error) {
	t.Helper()
	const shell = "../../verilator/shell"
	dir := t.TempDir()
	blocks, err := filepath.Glob(filepath.Join(shell, "*.sv"))
	require.NoError(t, err)
	benches, err := filepath.Glob(filepath.Join(shell, "tests", "*.sv"))
	require.NoError(t, err)
	args := []string{"--cc", "--exe", "--build", "-O3", "--no-timing", "--assert", "-Wno-fatal", "--Mdir", "obj",
		"--top-module", "shell_tests", "-CFLAGS", "-O1", "shell_pkg.sv"}
	for _, f := range append(blocks, benches...) {
		name := filepath.Base(f)
		text, err := os.ReadFile(f)
		require.NoError(t, err)
		if seed != nil && seed.file == name {
			require.Equal(t, 1, strings.Count(string(text), seed.from), "%s: %s", name, seed.from)
			text = []byte(strings.Replace(string(text), seed.from, seed.to, 1))
		}
		require.NoError(t, os.WriteFile(filepath.Join(dir, name), text, 0o644))
		if name != "shell_pkg.sv" {
			args = append(args, name)
		}
	}
	require.NoError(t, os.WriteFile(filepath.Join(dir, "top.sv"), []byte(topOf(tests)), 0o644))
	clocked, err := filepath.Abs(filepath.Join(shell, "tests", "main.cpp"))
	require.NoError(t, err)
	cmd := exec.Command("verilator", append(args, "top.sv", clocked)...)
	cmd.Dir = dir
	out, err := cmd.CombinedOutput()
	require.NoError(t, err, "%s", out)
	out, err = exec.Command(filepath.Join(dir, "obj", "Vshell_tests"), "+verilator+seed+1").CombinedOutput()
	return string(out), err
}

// TestBlocks runs the test of every block.
func TestBlocks(t *testing.T) {
	t.Parallel()
	out, err := runTests(t, shellTests, nil)
	require.NoError(t, err, "%s", out)
}
