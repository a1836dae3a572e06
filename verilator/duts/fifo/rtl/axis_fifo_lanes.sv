// Several FIFOs side by side with flattened ports: lane k occupies slice k of every vector.

module axis_fifo_lanes #(
  // Number of FIFOs.
  parameter int unsigned Lanes     = 2,
  // Width of one lane's data bus in bits.
  parameter int unsigned DataWidth = 64,
  // Width of one lane's side-band word in bits.
  parameter int unsigned UserWidth = 10,
  // Derived: one keep bit per byte.
  localparam int unsigned KeepWidth = DataWidth / 8
) (
  input  logic                       clk_i,
  input  logic                       rst_ni,

  input  logic [Lanes*DataWidth-1:0] s_axis_tdata,
  input  logic [Lanes*KeepWidth-1:0] s_axis_tkeep,
  input  logic [Lanes*UserWidth-1:0] s_axis_tuser,
  input  logic [Lanes-1:0]           s_axis_tlast,
  input  logic [Lanes-1:0]           s_axis_tvalid,
  output logic [Lanes-1:0]           s_axis_tready,

  output logic [Lanes*DataWidth-1:0] m_axis_tdata,
  output logic [Lanes*KeepWidth-1:0] m_axis_tkeep,
  output logic [Lanes*UserWidth-1:0] m_axis_tuser,
  output logic [Lanes-1:0]           m_axis_tlast,
  output logic [Lanes-1:0]           m_axis_tvalid,
  input  logic [Lanes-1:0]           m_axis_tready,

  // High while a lane stores a beat.
  output logic                       busy_o
);

  logic [Lanes-1:0]       busy;
  logic [Lanes-1:0][15:0] level;

  for (genvar k = 0; k < Lanes; k++) begin : gen_lane
    axis_fifo #(
      .DataWidth(DataWidth),
      .UserWidth(UserWidth),
      .Depth    (16)
    ) u_fifo (
      .clk_i,
      .rst_ni,
      .s_axis_tdata (s_axis_tdata[k*DataWidth+:DataWidth]),
      .s_axis_tkeep (s_axis_tkeep[k*KeepWidth+:KeepWidth]),
      .s_axis_tuser (s_axis_tuser[k*UserWidth+:UserWidth]),
      .s_axis_tlast (s_axis_tlast[k]),
      .s_axis_tvalid(s_axis_tvalid[k]),
      .s_axis_tready(s_axis_tready[k]),
      .m_axis_tdata (m_axis_tdata[k*DataWidth+:DataWidth]),
      .m_axis_tkeep (m_axis_tkeep[k*KeepWidth+:KeepWidth]),
      .m_axis_tuser (m_axis_tuser[k*UserWidth+:UserWidth]),
      .m_axis_tlast (m_axis_tlast[k]),
      .m_axis_tvalid(m_axis_tvalid[k]),
      .m_axis_tready(m_axis_tready[k]),
      .defect_i     (4'd0),
      .busy_o       (busy[k]),
      .level_o      (level[k])
    );
  end

  assign busy_o = |busy || |level;

endmodule
