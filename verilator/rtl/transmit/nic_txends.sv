/// Entries of a port that wait for their end, in order: one with a frame waits until the frame's
/// last beat is accepted, one without only for the entries before it (contract T10).

module nic_txends
  import nic_tx_pkg::*;
#(
  // Entries that may wait.
  parameter int Depth = 16
) (
  input  logic        clk,
  input  logic        rst,
  // Entries of a port in order; len_i: bytes of the frame, 0 without one.
  input  logic        valid_i,
  output logic        ready_o,
  input  tx_id_t      id_i,
  input  logic [13:0] len_i,
  // Pulse: the last beat of a frame was accepted at the port.
  input  logic        left_i,
  // The oldest entry; valid when its frame has left.
  output logic        valid_o,
  input  logic        ready_i,
  output tx_id_t      id_o,
  output logic [13:0] len_o
);
  localparam int Iw = $bits(tx_id_t) + 14;

  logic       wait_valid, left_used;
  logic [4:0] left_q;                  // frames that left before their entries ended

  nic_fifo #(.Width(Iw), .Depth(Depth)) u_wait (
    .clk, .rst, .in_valid_i(valid_i), .in_ready_o(ready_o), .in_data_i({id_i, len_i}),
    .out_valid_o(wait_valid), .out_ready_i(valid_o && ready_i), .out_data_o({id_o, len_o})
  );

  assign valid_o   = wait_valid && (len_o == 14'd0 || left_q != 5'd0);
  assign left_used = valid_o && ready_i && len_o != 14'd0;

  always_ff @(posedge clk) begin
    if (left_i != left_used) left_q <= left_i ? left_q + 5'd1 : left_q - 5'd1;
    if (rst) left_q <= '0;
  end
endmodule
