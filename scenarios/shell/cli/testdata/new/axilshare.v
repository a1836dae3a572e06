// Two managers share two subordinates. The ports of each side are slices of vectors.
module axilshare (
  input clk,
  input rst,
  input [31:0] s_axil_awaddr,
  input [1:0] s_axil_awvalid,
  output [1:0] s_axil_awready,
  input [63:0] s_axil_wdata,
  input [7:0] s_axil_wstrb,
  input [1:0] s_axil_wvalid,
  output [1:0] s_axil_wready,
  output [3:0] s_axil_bresp,
  output [1:0] s_axil_bvalid,
  input [1:0] s_axil_bready,
  input [31:0] s_axil_araddr,
  input [1:0] s_axil_arvalid,
  output [1:0] s_axil_arready,
  output [63:0] s_axil_rdata,
  output [3:0] s_axil_rresp,
  output [1:0] s_axil_rvalid,
  input [1:0] s_axil_rready,
  output [31:0] m_axil_awaddr,
  output [1:0] m_axil_awvalid,
  input [1:0] m_axil_awready,
  output [63:0] m_axil_wdata,
  output [7:0] m_axil_wstrb,
  output [1:0] m_axil_wvalid,
  input [1:0] m_axil_wready,
  input [3:0] m_axil_bresp,
  input [1:0] m_axil_bvalid,
  output [1:0] m_axil_bready,
  output [31:0] m_axil_araddr,
  output [1:0] m_axil_arvalid,
  input [1:0] m_axil_arready,
  input [63:0] m_axil_rdata,
  input [3:0] m_axil_rresp,
  input [1:0] m_axil_rvalid,
  output [1:0] m_axil_rready
);
  assign s_axil_awready = 0;
  assign s_axil_wready = 0;
  assign s_axil_bresp = 0;
  assign s_axil_bvalid = 0;
  assign s_axil_arready = 0;
  assign s_axil_rdata = 0;
  assign s_axil_rresp = 0;
  assign s_axil_rvalid = 0;
  assign m_axil_awaddr = 0;
  assign m_axil_awvalid = 0;
  assign m_axil_wdata = 0;
  assign m_axil_wstrb = 0;
  assign m_axil_wvalid = 0;
  assign m_axil_bready = 0;
  assign m_axil_araddr = 0;
  assign m_axil_arvalid = 0;
  assign m_axil_rready = 0;
endmodule
