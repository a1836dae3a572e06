/// Requests of one beat into a block without back-pressure, and its results out again. A request
/// that says so is taken when the block is empty, and is the only one in it.

module blk_flow #(
  // Bytes of a result.
  parameter int OutBytes = 8
) (
  input  logic                  clk,
  input  logic                  rst,
  input  logic                  s_tvalid,
  output logic                  s_tready,
  // The request that is offered wants to be alone.
  input  logic                  alone_i,
  output logic                  take_o,
  input  logic                  done_i,
  input  logic [8*OutBytes-1:0] data_i,
  output logic [8*OutBytes-1:0] m_tdata,
  output logic                  m_tlast,
  output logic                  m_tvalid,
  input  logic                  m_tready
);
  logic alone_q;
  logic room, idle;

  assign s_tready = room && (idle || !(alone_i || alone_q));
  assign take_o   = s_tvalid && s_tready;
  assign m_tlast  = 1'b1;

  blk_credit #(.OutBytes(OutBytes)) u_credit (
    .clk, .rst,
    .room_o (room),
    .take_i (take_o),
    .idle_o (idle),
    .done_i, .data_i, .m_tdata, .m_tvalid, .m_tready
  );

  always_ff @(posedge clk) begin
    if (take_o) alone_q <= alone_i;
    if (rst) alone_q <= 1'b0;
  end
endmodule
