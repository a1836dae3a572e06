// A demultiplexer without registers.
module demux (
  input         clk,
  input         rst,
  input         s_valid,
  output        s_ready,
  input         s_to,
  input  [15:0] s_data,
  output        m0_valid,
  input         m0_ready,
  output [15:0] m0_data,
  output        m1_valid,
  input         m1_ready,
  output [15:0] m1_data
);
  assign m0_valid = s_valid && !s_to;
  assign m1_valid = s_valid && s_to;
  assign s_ready  = s_to ? m1_ready : m0_ready;
  assign m0_data  = s_data;
  assign m1_data  = s_data;

  wire unused = &{1'b0, clk, rst};
endmodule
