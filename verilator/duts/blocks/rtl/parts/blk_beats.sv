/// Passes beats of frames from a block that cannot be held back to a stream that can: the block
/// gets more work only while the buffer has room for all beats that it may still send.

`include "nic_assert.svh"

module blk_beats #(
  // Size of the buffer in beats, a power of two; and the beats that the block may still send after
  // room_o has fallen.
  parameter int Depth = 64,
  parameter int Slack = 8
) (
  input  logic         clk,
  input  logic         rst,
  // High: the block may get more work.
  output logic         room_o,
  // Beats from the block, never held back.
  input  logic         valid_i,
  input  logic         last_i,
  input  logic [6:0]   bytes_i,
  input  logic [511:0] data_i,
  // Beats from the block, as a stream.
  output logic [511:0] m_tdata,
  output logic [63:0]  m_tkeep,
  output logic         m_tlast,
  output logic         m_tvalid,
  input  logic         m_tready
);
  localparam int Cw = $clog2(Depth) + 1;

  logic [Cw-1:0] held_q;
  logic          in_ready;

  assign room_o = held_q <= Cw'(Depth - Slack);

  nic_fifo #(.Width(577), .Depth(Depth)) u_fifo (
    .clk, .rst,
    .in_valid_i  (valid_i),
    .in_ready_o  (in_ready),
    .in_data_i   ({last_i, ~({64{1'b1}} << bytes_i), data_i}),
    .out_valid_o (m_tvalid),
    .out_ready_i (m_tready),
    .out_data_o  ({m_tlast, m_tkeep, m_tdata})
  );

  always_ff @(posedge clk) begin
    held_q <= held_q + Cw'(valid_i) - Cw'(m_tvalid && m_tready);
    if (rst) held_q <= '0;
  end

  `NIC_ASSERT(a_room, valid_i |-> in_ready)
endmodule
