/// Plays a cell cycle by cycle. A request has 32 steps of 16 bits: each drives the cell's inputs
/// for one cycle, and the outputs observed in that cycle are a step of the result. Between
/// requests, for two cycles or more, the inputs are zero.

module cell_player (
  input  logic         clk,
  input  logic         rst,
  input  logic [511:0] s_axis_req_tdata,
  input  logic         s_axis_req_tlast,
  input  logic         s_axis_req_tvalid,
  output logic         s_axis_req_tready,
  // The cell's inputs.
  output logic [15:0]  step_o,
  // The cell's outputs in the cycle of step_o.
  input  logic [15:0]  seen_i,
  output logic [511:0] m_axis_rsp_tdata,
  output logic         m_axis_rsp_tlast,
  output logic         m_axis_rsp_tvalid,
  input  logic         m_axis_rsp_tready
);
  logic [511:0] steps_q, seen_q;
  logic [5:0]   left_q;
  logic         full_q, unused_last;

  assign s_axis_req_tready = left_q == 6'd0 && !full_q;
  assign step_o            = left_q == 6'd0 ? 16'h0 : steps_q[15:0];
  assign m_axis_rsp_tdata  = seen_q;
  assign m_axis_rsp_tlast  = 1'b1;
  assign m_axis_rsp_tvalid = full_q;
  assign unused_last       = s_axis_req_tlast;

  always_ff @(posedge clk) begin
    if (s_axis_req_tvalid && s_axis_req_tready) begin
      steps_q <= s_axis_req_tdata;
      left_q  <= 6'd32;
    end
    if (left_q != 6'd0) begin
      steps_q <= steps_q >> 16;
      seen_q  <= {seen_i, seen_q[511:16]};
      left_q  <= left_q - 6'd1;
      full_q  <= left_q == 6'd1;
    end
    if (m_axis_rsp_tvalid && m_axis_rsp_tready) full_q <= 1'b0;
    if (rst) begin
      left_q <= '0;
      full_q <= 1'b0;
    end
  end
endmodule
