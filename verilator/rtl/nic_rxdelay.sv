/// Delay line of a port: every beat appears again three cycles later, when its frame's first
/// bytes have been parsed, and Store cycles later, when the frame's checks are done.
/// The data wait in a small memory, only their marks shift.

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
  output rx_beat_t        check_beat_o,
  output logic [EthW-1:0] check_data_o,
  output rx_beat_t        store_beat_o,
  output logic [EthW-1:0] store_data_o,
  output logic            busy_o
);
  localparam int Check = 3;

  logic [EthW-1:0] mem [16];
  rx_beat_t        beat_q [1:Store];
  logic [3:0]      now_q;
  logic [3:0]      check_at, store_at;
  logic [EthW-1:0] check_data_q, store_data_q;

  assign check_at     = now_q - 4'(Check - 1);
  assign store_at     = now_q - 4'(Store - 1);
  assign check_beat_o = beat_q[Check];
  assign check_data_o = check_data_q;
  assign store_beat_o = beat_q[Store];
  assign store_data_o = store_data_q;

  always_comb begin
    busy_o = 1'b0;
    for (int i = 1; i <= Store; i++) busy_o |= beat_q[i].valid;
  end

  always_ff @(posedge clk) begin
    now_q <= now_q + 4'h1;
    beat_q[1] <= beat_i;
    for (int i = 2; i <= Store; i++) beat_q[i] <= beat_q[i-1];
    if (beat_i.valid) mem[now_q] <= data_i;
    if (beat_q[Check-1].valid) check_data_q <= mem[check_at];
    if (beat_q[Store-1].valid) store_data_q <= mem[store_at];
    if (rst) begin
      now_q <= '0;
      for (int i = 1; i <= Store; i++) beat_q[i].valid <= 1'b0;
    end
  end
endmodule
