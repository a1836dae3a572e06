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
	"shell_link_test", "shell_trace_test",
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

// seededBug is a bug that one of the tests must find.
type seededBug struct{ promise, test, file, from, to string }

var seededBugs = []seededBug{
	{"a frame with a wrong CRC changes nothing", "shell_link_test", "shell_link_rx.sv",
		"judge_q && given_q == ~crc_q", "judge_q"},
	{"no beat is lost where a queue is full", "shell_fifo_test #(.Depth(3))", "shell_fifo.sv",
		"count_q != (Aw + 1)'(Depth)", "count_q <= (Aw + 1)'(Depth)"},
	{"a clock stands still while a transactor stops it", "shell_clocks_test", "shell_clocks.sv",
		"else if (!stop_i) state_q", "else state_q"},
	{"stall bits are those of the tick", "shell_in_test", "shell_in.sv",
		"if (masks_i) mask_q <= mask_i;", "if (masks_i) mask_q <= mask_i >> 1;"},
	{"a reset drops the beats of earlier epochs", "shell_in_test", "shell_in.sv",
		"epoch_q <= epoch_q + 1'b1;\n      if", "if"},
	{"no event is lost where a queue is full", "shell_in_test", "shell_in.sv",
		"(!have && more_q) || !event_room", "(!have && more_q)"},
	{"a clock rises as often as was granted", "shell_clocks_test", "shell_clocks.sv",
		"over     = slots_q == '0", "over     = slots_q <= 1"},
	{"stall bits of outputs are those of the tick", "shell_out_test", "shell_out.sv",
		"if (masks_i) mask_q <= mask_i;", "if (masks_i) mask_q <= mask_i >> 1;"},
	{"changes of a stalled beat are reported", "shell_out_test", "shell_out.sv",
		"(valid_i && !same)", "(valid_i && !stalled_q)"},
	{"a transaction takes one credit", "shell_out_test", "shell_out.sv",
		"limited_i && !half_q)", "limited_i && half_q)"},
	{"every change of observed signals is reported", "shell_observe_test", "shell_observe.sv",
		"if (sample_i) shown_q",
		"if (change && room) shown_q[0] <= pins_i[0];\n    else if (sample_i) shown_q"},
	{"words of noise differ", "shell_noise_test", "shell_noise.sv",
		"^ {45'h0, word_q, 3'b0}", "^ {61'h0, word_q[2:0]}"},
	{"messages end where they end", "shell_commands_test", "shell_commands.sv",
		"16'(BeatHead - 1)", "16'(BeatHead)"},
	{"an event without payload has none", "shell_report_test", "shell_report.sv",
		"event_i[first][SlotBits+EventPayload] ? Bytes[first] : 16'd0", "Bytes[first]"},
	{"no byte of a word is lost", "shell_width_test #(.Bytes(8))", "shell_narrow.sv",
		"(left_q == Cw'(1) && ready_i)", "left_q == Cw'(1)"},
	{"a frame is filled up with zeros", "shell_width_test #(.Bytes(8))", "shell_widen.sv",
		"count_q == Cw'(Bytes - 1)", "count_q == Cw'(Bytes - 2)"},
	{"no payload is overwritten before it was acknowledged", "shell_link_test", "shell_link_tx.sv",
		"fill_q - base_q < 8'(Slots)", "fill_q - next_q < 8'(Slots)"},
	{"a trace begins in the chosen cycle", "shell_trace_test", "shell_trace.sv",
		"cycle_i >= from_i", "cycle_i > from_i"},
}

// TestSeededBugs checks that the tests of the blocks find a bug for each promise of the shell. All are tried by make
// emulation-test.
func TestSeededBugs(t *testing.T) {
	t.Parallel()
	bugs := seededBugs
	if os.Getenv("NICTWIN_LONG") == "" {
		bugs = bugs[:1]
	}
	for i := range bugs {
		b := &bugs[i]
		t.Run(strings.ReplaceAll(b.promise, " ", "-"), func(t *testing.T) {
			out, err := runTests(t, []string{b.test}, b)
			require.Error(t, err)
			name, _, _ := strings.Cut(b.test, " ")
			require.True(t, strings.Contains(out, name+":") || strings.Contains(out, "not done"), out)
		})
	}
}
