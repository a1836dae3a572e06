/// Test device for nic_ram_mask, 8 words of 4 bits. Step: write (bit 0) with mask (bits 15:12),
/// data (11:8) and address (4:2); read (bit 1) at address (7:5). Observed: the word read last (bits
/// 3:0), 0 before the first read.

module cell_ram_mask (
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

  logic       read_q;
  logic [3:0] word;

  assign seen = {12'h0, read_q ? word : 4'h0};

  nic_ram_mask #(.Width(4), .Depth(8)) u_cell (
    .clk,
    .we_i(step[0]), .waddr_i(step[4:2]), .wdata_i(step[11:8]), .wmask_i(step[15:12]),
    .re_i(step[1]), .raddr_i(step[7:5]), .rdata_o(word)
  );

  always_ff @(posedge clk) begin
    if (step[1]) read_q <= 1'b1;
    if (rst) read_q <= 1'b0;
  end
endmodule
