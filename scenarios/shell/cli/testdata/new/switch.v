// tdest selects the output of a packet.
module switch (
  input         clk,
  input         rst,
  input  [15:0] s_axis_tdata,
  input  [1:0]  s_axis_tvalid,
  output [1:0]  s_axis_tready,
  input  [1:0]  s_axis_tlast,
  input  [7:0]  s_axis_tdest,
  output [31:0] m_axis_tdata,
  output [3:0]  m_axis_tvalid,
  input  [3:0]  m_axis_tready,
  output [3:0]  m_axis_tlast,
  output [15:0] m_axis_tdest
);
  assign s_axis_tready = 0, m_axis_tvalid = 0, m_axis_tdata = 0, m_axis_tlast = 0, m_axis_tdest = 0;
endmodule
