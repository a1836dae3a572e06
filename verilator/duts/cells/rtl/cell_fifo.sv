/// Test device for nic_fifo, 8 words deep. Step: push (bit 0), pop (bit 1), word (bits 15:4).
/// Observed: ready (bit 0), valid (bit 1) and, while valid, the word at the output.

module cell_fifo (
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

  logic        ready, valid;
  logic [11:0] word;

  assign seen = {valid ? word : 12'h0, 2'b00, valid, ready};

  nic_fifo #(.Width(12), .Depth(8)) u_cell (
    .clk, .rst,
    .in_valid_i(step[0]), .in_ready_o(ready), .in_data_i(step[15:4]),
    .out_valid_o(valid), .out_ready_i(step[1]), .out_data_o(word)
  );

  logic unused_bits;
  assign unused_bits = ^step[3:2];
endmodule
