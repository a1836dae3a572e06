// Two AXI4 ports with 12-bit addresses that never answer: only the guessed range matters.
module narrow (
  input a_clk, a_rst,
  input [3:0] s_a_awid, input [11:0] s_a_awaddr, input [7:0] s_a_awlen, input [2:0] s_a_awsize, input [1:0] s_a_awburst, input s_a_awvalid, output s_a_awready,
  input [31:0] s_a_wdata, input [3:0] s_a_wstrb, input s_a_wlast, input s_a_wvalid, output s_a_wready,
  output [3:0] s_a_bid, output [1:0] s_a_bresp, output s_a_bvalid, input s_a_bready,
  input [3:0] s_a_arid, input [11:0] s_a_araddr, input [7:0] s_a_arlen, input [2:0] s_a_arsize, input [1:0] s_a_arburst, input s_a_arvalid, output s_a_arready,
  output [3:0] s_a_rid, output [31:0] s_a_rdata, output [1:0] s_a_rresp, output s_a_rlast, output s_a_rvalid, input s_a_rready,
  input b_clk, b_rst,
  input [3:0] s_b_awid, input [11:0] s_b_awaddr, input [7:0] s_b_awlen, input [2:0] s_b_awsize, input [1:0] s_b_awburst, input s_b_awvalid, output s_b_awready,
  input [31:0] s_b_wdata, input [3:0] s_b_wstrb, input s_b_wlast, input s_b_wvalid, output s_b_wready,
  output [3:0] s_b_bid, output [1:0] s_b_bresp, output s_b_bvalid, input s_b_bready,
  input [3:0] s_b_arid, input [11:0] s_b_araddr, input [7:0] s_b_arlen, input [2:0] s_b_arsize, input [1:0] s_b_arburst, input s_b_arvalid, output s_b_arready,
  output [3:0] s_b_rid, output [31:0] s_b_rdata, output [1:0] s_b_rresp, output s_b_rlast, output s_b_rvalid, input s_b_rready);
  assign s_a_awready = 0;
  assign s_a_wready = 0;
  assign s_a_bid = 0;
  assign s_a_bresp = 0;
  assign s_a_bvalid = 0;
  assign s_a_arready = 0;
  assign s_a_rid = 0;
  assign s_a_rdata = 0;
  assign s_a_rresp = 0;
  assign s_a_rlast = 0;
  assign s_a_rvalid = 0;
  assign s_b_awready = 0;
  assign s_b_wready = 0;
  assign s_b_bid = 0;
  assign s_b_bresp = 0;
  assign s_b_bvalid = 0;
  assign s_b_arready = 0;
  assign s_b_rid = 0;
  assign s_b_rdata = 0;
  assign s_b_rresp = 0;
  assign s_b_rlast = 0;
  assign s_b_rvalid = 0;
endmodule
