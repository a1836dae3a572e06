/// Feeds requests of one beat to a block without back-pressure, and returns its results. A request
/// with alone_i waits until the block is empty, and no other is taken beside it.

module blk_flow #(
  // Size of a result in bytes.
  parameter int OutBytes = 8
) (
  input  logic                  clk,
  input  logic                  rst,
  input  logic                  s_axis_req_tvalid,
  output logic                  s_axis_req_tready,
  // High: the offered request must be alone in the block.
  input  logic                  alone_i,
  // Pulse: the offered request is taken.
  output logic                  take_o,
  // Pulse: data_i is the result of the oldest request.
  input  logic                  done_i,
  input  logic [8*OutBytes-1:0] data_i,
  output logic [8*OutBytes-1:0] m_axis_rsp_tdata,
  output logic                  m_axis_rsp_tlast,
  output logic                  m_axis_rsp_tvalid,
  input  logic                  m_axis_rsp_tready
);
  logic alone_q;
  logic room, idle;

  assign s_axis_req_tready = room && (idle || !(alone_i || alone_q));
  assign take_o            = s_axis_req_tvalid && s_axis_req_tready;
  assign m_axis_rsp_tlast  = 1'b1;

  blk_credit #(.OutBytes(OutBytes)) u_credit (
    .clk, .rst,
    .room_o (room),
    .take_i (take_o),
    .idle_o (idle),
    .done_i, .data_i, .m_axis_rsp_tdata, .m_axis_rsp_tvalid, .m_axis_rsp_tready
  );

  always_ff @(posedge clk) begin
    if (take_o) alone_q <= alone_i;
    if (rst) alone_q <= 1'b0;
  end
endmodule
