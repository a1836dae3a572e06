/// Passes results from a block that cannot be held back to a stream that can: each result has a
/// place reserved before its work begins, so none is lost however long the stream is held back.

`include "nic_assert.svh"

module blk_credit #(
  // Size of a result in bytes.
  parameter int OutBytes = 8,
  // Requests in the block plus results that wait, at most; a power of two.
  parameter int Depth = 16
) (
  input  logic                  clk,
  input  logic                  rst,
  // room_o: a request may begin. take_i: pulse: one begins.
  output logic                  room_o,
  input  logic                  take_i,
  // High: no request is in the block, and no result leaves it.
  output logic                  idle_o,
  // Pulse: data_i is the result of the oldest request.
  input  logic                  done_i,
  input  logic [8*OutBytes-1:0] data_i,
  output logic [8*OutBytes-1:0] m_axis_rsp_tdata,
  output logic                  m_axis_rsp_tvalid,
  input  logic                  m_axis_rsp_tready
);
  localparam int Cw = $clog2(Depth) + 1;

  logic [Cw-1:0] owed_q, inside_q;
  logic          left, fifo_ready;

  assign room_o = owed_q != Cw'(Depth);
  assign idle_o = inside_q == '0;
  assign left   = m_axis_rsp_tvalid && m_axis_rsp_tready;

  nic_fifo #(.Width(8 * OutBytes), .Depth(Depth)) u_fifo (
    .clk, .rst,
    .in_valid_i  (done_i),
    .in_ready_o  (fifo_ready),
    .in_data_i   (data_i),
    .out_valid_o (m_axis_rsp_tvalid),
    .out_ready_i (m_axis_rsp_tready),
    .out_data_o  (m_axis_rsp_tdata)
  );

  always_ff @(posedge clk) begin
    owed_q   <= owed_q + Cw'(take_i) - Cw'(left);
    inside_q <= inside_q + Cw'(take_i) - Cw'(done_i);
    if (rst) begin
      owed_q   <= '0;
      inside_q <= '0;
    end
  end

  `NIC_ASSERT(a_room, done_i |-> fifo_ready)
  `NIC_ASSERT(a_owed, done_i |-> inside_q != '0)
  `NIC_ASSERT(a_take, take_i |-> room_o)
endmodule
