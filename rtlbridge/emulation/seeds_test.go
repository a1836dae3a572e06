package emulation

import (
	"os"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
)

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
	{"edges that coincide rise together", "shell_clocks_test", "shell_clocks.sv",
		"next[k] = left_q[k] == least;", "next[k] = left_q[k] == least && (k == 0 || left_q[0] != least);"},
	{"edges follow periods and phases", "shell_clocks_test", "shell_clocks.sv",
		"left_q[k] - least_q", "left_q[k]"},
	{"pins are sampled once they have their noise", "shell_clocks_test", "shell_clocks.sv",
		"state_q == Settle && !wait_i ?", "state_q == Settle ?"},
	{"a clock stands still while the agent has more beats", "shell_in_test", "shell_in.sv",
		"old || (!have && more_q)", "old"},
	{"a beat is offered in its cycle or later", "shell_in_test", "shell_in.sv",
		"head_cycle <= cycle_i && may_begin_i", "may_begin_i"},
	{"a transaction waits for those that it is coupled to", "shell_in_test", "shell_in.sv",
		"head_cycle <= cycle_i && may_begin_i", "head_cycle <= cycle_i"},
	{"idle pins get noise", "shell_in_test", "shell_in.sv",
		"noise_wait_o <= poison_i;", "noise_wait_o <= 1'b0;"},
	{"stall bits of outputs are those of the tick", "shell_out_test", "shell_out.sv",
		"if (masks_i) mask_q <= mask_i;", "if (masks_i) mask_q <= mask_i >> 1;"},
	{"changes of a stalled beat are reported", "shell_out_test", "shell_out.sv",
		"(valid_i && !same)", "(valid_i && !stalled_q)"},
	{"a transaction takes one credit", "shell_out_test", "shell_out.sv",
		"limited_i && !half_q)", "limited_i && half_q)"},
	{"a withdrawn beat is reported", "shell_out_test", "shell_out.sv",
		" || (stalled_q && !valid_i)", ""},
	{"a reset ends the transaction of an output", "shell_out_test", "shell_out.sv",
		"if (drop_i) {ready_q, half_q, stalled_q, late_q}", "if (drop_i) {ready_q, stalled_q, late_q}"},
	{"no event of an output is lost where a queue is full", "shell_out_test", "shell_out.sv",
		"stop_o  = !room", "stop_o  = 1'b0"},
	{"every change of observed signals is reported", "shell_observe_test", "shell_observe.sv",
		"if (sample_i) shown_q",
		"if (change && room) shown_q[0] <= pins_i[0];\n    else if (sample_i) shown_q"},
	{"no change is lost where a queue is full", "shell_observe_test", "shell_observe.sv",
		"stop_o = !room", "stop_o = 1'b0"},
	{"noise is loaded once", "shell_noise_test", "shell_noise.sv",
		"if (want_i != '0 && load_o == '0)", "if (want_i != '0)"},
	{"words of noise differ", "shell_noise_test", "shell_noise.sv",
		"^ {45'h0, word_q, 3'b0}", "^ {61'h0, word_q[2:0]}"},
	{"messages end where they end", "shell_commands_test", "shell_commands.sv",
		"16'(BeatHead - 1)", "16'(BeatHead)"},
	{"a message that is not known is a fault", "shell_commands_test", "shell_commands.sv",
		"default:  fault_o <= 1'b1;", "default:  state_q <= Code;"},
	{"the end of a grant comes behind its events", "shell_report_test", "shell_report.sv",
		"end else if (any) begin", "end else if (any && !done_q) begin"},
	{"a fault is told once", "shell_report_test", "shell_report.sv",
		"told_q  <= 1'b1;", "told_q  <= 1'b0;"},
	{"an event without payload has none", "shell_report_test", "shell_report.sv",
		"event_i[first][SlotBits+EventPayload] ? Bytes[first] : 16'd0", "Bytes[first]"},
	{"no byte of a word is lost", "shell_width_test #(.Bytes(8))", "shell_narrow.sv",
		"(left_q == Cw'(1) && ready_i)", "left_q == Cw'(1)"},
	{"a word has all of its bytes", "shell_width_test #(.Bytes(8))", "shell_widen.sv",
		"count_q == Cw'(Bytes - 1)", "count_q == Cw'(Bytes - 2)"},
	{"a frame is filled up with zeros", "shell_width_test #(.Bytes(8))", "shell_widen.sv",
		"else if (count_q < Cw'(i)) data_q[i] <= '0;", ""},
	{"no byte waits for the next frame", "shell_width_test #(.Bytes(8))", "shell_widen.sv",
		"full_q  <= last_i || count_q", "full_q  <= count_q"},
	{"no payload is overwritten before it was acknowledged", "shell_link_test", "shell_link_tx.sv",
		"fill_q - base_q < 8'(Slots)", "fill_q - next_q < 8'(Slots)"},
	{"a frame that is lost is sent again", "shell_link_test", "shell_link_tx.sv",
		"if (nacked_i || timer_q == 32'(ResendCycles))", "if (nacked_i)"},
	{"a frame of another session changes nothing", "shell_host_test", "shell_link_rx.sv",
		"next  = ours && kind", "next  = kind"},
	{"a frame out of order changes nothing", "shell_host_test", "shell_link_rx.sv",
		"FrameData && seq == expect_o;", "FrameData;"},
	{"a session under way does not begin again", "shell_host_test", "shell_link_rx.sv",
		"session != '0 && !ours;", "session != '0;"},
	{"a session that is not known is lost", "shell_host_test", "shell_link_rx.sv",
		"good && !ours && kind[1:0] != FrameReset", "good && !ours && kind[1:0] == FrameLost"},
	{"a session begins with everything cleared", "shell_host_test", "shell_host.sv",
		".clk, .rst(reset),\n    .valid_i(in_valid)", ".clk, .rst,\n    .valid_i(in_valid)"},
	{"a trace keeps its first samples", "shell_trace_test", "shell_trace.sv",
		" && !count_q[Aw]", ""},
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
