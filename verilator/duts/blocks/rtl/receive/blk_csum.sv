/// Test device for nic_csum. Request: a frame and its parser results; result: whether its UDP
/// checksum is checked and right.

module blk_csum
  import nic_int_pkg::*;
  import nic_rx_pkg::*;
(
  input  logic            clk,
  input  logic            rst,
  input  logic [EthW-1:0] s_axis_req_tdata,
  input  logic [EthB-1:0] s_axis_req_tkeep,
  input  logic [87:0]     s_axis_req_tuser,
  input  logic            s_axis_req_tlast,
  input  logic            s_axis_req_tvalid,
  output logic            s_axis_req_tready,
  output logic [15:0]     m_axis_rsp_tdata,
  output logic            m_axis_rsp_tlast,
  output logic            m_axis_rsp_tvalid,
  input  logic            m_axis_rsp_tready
);
  typedef struct packed {
    logic [39:0] pseudo;
    logic [23:0] upto;
    logic [7:0]  from;
    logic [7:0]  judge;      // 1: the frame's lengths are valid, so that the result counts
    logic [7:0]  want;
  } said_t;

  said_t    said, ended;
  rx_beat_t beat;
  logic     ok, judged;

  assign said   = said_t'(s_axis_req_tuser);
  assign judged = ended.want[0] && ended.judge[0];

  blk_frames #(.SideBytes(11), .OutBytes(2), .Latency(3)) u_frames (
    .clk, .rst,
    .s_axis_req_tkeep, .s_axis_req_tuser, .s_axis_req_tlast, .s_axis_req_tvalid, .s_axis_req_tready,
    .beat_o(beat), .side_o(ended), .data_i({7'h0, judged && ok, 7'h0, judged}),
    .m_axis_rsp_tdata, .m_axis_rsp_tlast, .m_axis_rsp_tvalid, .m_axis_rsp_tready
  );

  nic_csum u_csum (
    .clk,
    .beat_i   (beat),
    .data_i   (s_axis_req_tdata),
    .want_i   (said.want[0]),
    .from_i   (said.from),
    .upto_i   (said.upto[16:0]),
    .pseudo_i (said.pseudo[35:0]),
    .ok_o     (ok)
  );

  logic unused_bits;
  assign unused_bits = ^{said, ended};
endmodule
