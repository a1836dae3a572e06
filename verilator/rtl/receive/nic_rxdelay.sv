/// Delay line of a port: every beat appears again three cycles later, when its frame's first bytes
/// have been parsed, and Store cycles later, when the frame's checks are done. The data wait in a
/// small memory; only the valid bits are shifted.

module nic_rxdelay
  import nic_int_pkg::*;
  import nic_rx_pkg::*;
#(
  // Cycles until the checks are done, 15 at most.
  parameter int Store = 9
) (
  input  logic            clk,
  input  logic            rst,
  input  rx_beat_t        beat_i,
  input  logic [EthW-1:0] data_i,
  // Beats for the checks, aligned with the parser's result.
  output rx_beat_t        check_beat_o,
  output logic [EthW-1:0] check_data_o,
  // Beats for the buffer, aligned with the checks' results.
  output rx_beat_t        store_beat_o,
  output logic [EthW-1:0] store_data_o,
  output logic            busy_o
);
  localparam int Check = 3;

  // Beats and their data, by cycle of arrival modulo 16.
  rx_beat_t        beat_mem [16];
  logic [EthW-1:0] data_mem [16];
  logic [Store:1]  valid_q;
  logic [3:0]      now_q;
  logic [3:0]      check_at, store_at;
  rx_beat_t        check_beat_q, store_beat_q;
  logic [EthW-1:0] check_data_q, store_data_q;

  assign check_at     = now_q - 4'(Check - 1);
  assign store_at     = now_q - 4'(Store - 1);
  assign check_data_o = check_data_q;
  assign store_data_o = store_data_q;
  assign busy_o       = valid_q != '0;

  always_comb begin
    check_beat_o       = check_beat_q;
    check_beat_o.valid = valid_q[Check];
    store_beat_o       = store_beat_q;
    store_beat_o.valid = valid_q[Store];
  end

  always_ff @(posedge clk) begin
    if (beat_i.valid || busy_o) now_q <= now_q + 4'h1;
    valid_q <= {valid_q[Store-1:1], beat_i.valid};
    if (beat_i.valid) begin
      beat_mem[now_q] <= beat_i;
      data_mem[now_q] <= data_i;
    end
    if (valid_q[Check-1]) begin
      check_beat_q <= beat_mem[check_at];
      check_data_q <= data_mem[check_at];
    end
    if (valid_q[Store-1]) begin
      store_beat_q <= beat_mem[store_at];
      store_data_q <= data_mem[store_at];
    end
    if (rst) begin
      now_q   <= '0;
      valid_q <= '0;
    end
  end
endmodule
