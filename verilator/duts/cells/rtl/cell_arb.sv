/// Test device for nic_arb with six requests. Step: requests (bits 5:0), take (bit 8). Observed:
/// valid (bit 0) and, while valid, the index (bits 3:1).

module cell_arb (
  input  logic         clk,
  input  logic         rst,
  input  logic [511:0] s_axis_req_tdata,
  input  logic         s_axis_req_tlast,
  input  logic         s_axis_req_tvalid,
  output logic         s_axis_req_tready,
  output logic [511:0] m_axis_rsp_tdata,
  output logic         m_axis_rsp_tlast,
  output logic         m_axis_rsp_tvalid,
  input  logic         m_axis_rsp_tready
);
  logic [15:0] step, seen;

  cell_player u_player (
    .clk, .rst,
    .s_axis_req_tdata, .s_axis_req_tlast, .s_axis_req_tvalid, .s_axis_req_tready,
    .step_o(step), .seen_i(seen),
    .m_axis_rsp_tdata, .m_axis_rsp_tlast, .m_axis_rsp_tvalid, .m_axis_rsp_tready
  );

  logic       valid;
  logic [2:0] index;

  assign seen = {12'h0, valid ? index : 3'd0, valid};

  nic_arb #(.Num(6)) u_cell (
    .clk, .rst,
    .req_i(step[5:0]), .take_i(step[8]), .valid_o(valid), .index_o(index)
  );

  logic unused_bits;
  assign unused_bits = ^{step[15:9], step[7:6]};
endmodule
