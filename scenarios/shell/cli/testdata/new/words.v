// Pins whose names end like those of resets, and a channel with valid only.
module words (
  input         clk,
  input         rst_n,
  input         s_valid,
  output        s_ready,
  input  [7:0]  s_data,
  input         s_first,
  input         s_burst,
  output        m_valid,
  output [7:0]  m_data,
  output        m_first
);
  assign s_ready = rst_n;
  assign m_valid = s_valid;
  assign m_data  = s_data;
  assign m_first = s_first && !s_burst;
endmodule
