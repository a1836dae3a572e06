// A packet goes to the output selected by its first beat. The outputs are slices of vectors.
module demux (
  input         clk,
  input         rst,
  input  [15:0] s_axis_tdata,
  input  [1:0]  s_axis_tkeep,
  input         s_axis_tvalid,
  output        s_axis_tready,
  input         s_axis_tlast,
  output [63:0] m_axis_tdata,
  output [7:0]  m_axis_tkeep,
  output [3:0]  m_axis_tvalid,
  input  [3:0]  m_axis_tready,
  output [3:0]  m_axis_tlast,
  input         enable,
  input  [1:0]  select
);
  assign s_axis_tready = 0, m_axis_tvalid = 0, m_axis_tdata = 0, m_axis_tkeep = 0, m_axis_tlast = 0;
endmodule
