// A DMA engine that reads from a RAM what a descriptor names. One input carries only the answers to its reads.
module dmawr (
  input         clk,
  input         rst,
  input  [63:0] s_axis_desc_addr,
  input  [15:0] s_axis_desc_len,
  input         s_axis_desc_valid,
  output        s_axis_desc_ready,
  output [15:0] ram_rd_cmd_addr,
  output        ram_rd_cmd_valid,
  input         ram_rd_cmd_ready,
  input  [63:0] ram_rd_resp_data,
  input         ram_rd_resp_valid,
  output        ram_rd_resp_ready
);
  assign s_axis_desc_ready = 0, ram_rd_cmd_valid = 0, ram_rd_cmd_addr = 0, ram_rd_resp_ready = 0;
endmodule
