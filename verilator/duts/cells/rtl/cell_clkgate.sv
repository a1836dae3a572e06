/// Test device for nic_clkgate. Step: enable (bit 0), test enable (bit 1). Observed: rising (bits
/// 7:0) and falling edges (bits 15:8) of the gated clock since reset.

module cell_clkgate (
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

  logic       clk_g;
  logic [7:0] rises_q, falls_q;

  assign seen = {falls_q, rises_q};

  nic_clkgate u_cell (
    .clk, .enable_i(rst || step[0]), .test_en_i(step[1]), .clk_o(clk_g)
  );

  always_ff @(posedge clk_g) begin
    rises_q <= rst ? 8'd0 : rises_q + 8'd1;
  end

  // The high phase of reset's last cycle ends after reset.
  always_ff @(negedge clk_g) begin
    falls_q <= rst ? 8'hff : falls_q + 8'd1;
  end

  logic unused_bits;
  assign unused_bits = ^step[15:2];
endmodule
