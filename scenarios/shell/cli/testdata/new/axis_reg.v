// A register of a packet stream, with identifiers beside the data.
module axis_reg #(parameter DATA_WIDTH = 64, parameter KEEP_WIDTH = DATA_WIDTH / 8) (
  input  wire                  clk,
  input  wire                  rst,
  input  wire [DATA_WIDTH-1:0] s_axis_tdata,
  input  wire [KEEP_WIDTH-1:0] s_axis_tkeep,
  input  wire                  s_axis_tvalid,
  output wire                  s_axis_tready,
  input  wire                  s_axis_tlast,
  input  wire [7:0]            s_axis_tid,
  input  wire                  s_axis_tuser,
  output wire [DATA_WIDTH-1:0] m_axis_tdata,
  output wire [KEEP_WIDTH-1:0] m_axis_tkeep,
  output wire                  m_axis_tvalid,
  input  wire                  m_axis_tready,
  output wire                  m_axis_tlast,
  output wire [7:0]            m_axis_tid,
  output wire                  m_axis_tuser
);
  assign m_axis_tdata = s_axis_tdata, m_axis_tkeep = s_axis_tkeep, m_axis_tvalid = s_axis_tvalid;
  assign s_axis_tready = m_axis_tready, m_axis_tlast = s_axis_tlast, m_axis_tid = s_axis_tid;
  assign m_axis_tuser = s_axis_tuser;
  wire unused = clk ^ rst;
endmodule
