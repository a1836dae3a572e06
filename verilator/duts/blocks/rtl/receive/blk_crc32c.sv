/// Test device for nic_crc32c. Request: a frame and its range; result: the range's CRC-32C and
/// verdict.

module blk_crc32c
  import nic_int_pkg::*;
  import nic_pkg::*;
  import nic_rx_pkg::*;
(
  input  logic            clk,
  input  logic            rst,
  input  logic [EthW-1:0] s_axis_req_tdata,
  input  logic [EthB-1:0] s_axis_req_tkeep,
  input  logic [39:0]     s_axis_req_tuser,
  input  logic            s_axis_req_tlast,
  input  logic            s_axis_req_tvalid,
  output logic            s_axis_req_tready,
  output logic [39:0]     m_axis_rsp_tdata,
  output logic            m_axis_rsp_tlast,
  output logic            m_axis_rsp_tvalid,
  input  logic            m_axis_rsp_tready
);
  typedef struct packed {
    logic [23:0] upto;
    logic [7:0]  from;
    logic [7:0]  want;
  } said_t;

  said_t       said;
  logic [39:0] unused_ended;
  rx_beat_t    beat;
  logic [31:0] value;
  verdict_e    verdict;

  assign said = said_t'(s_axis_req_tuser);

  blk_frames #(.SideBytes(5), .OutBytes(5), .Latency(9)) u_frames (
    .clk, .rst,
    .s_axis_req_tkeep, .s_axis_req_tuser, .s_axis_req_tlast, .s_axis_req_tvalid, .s_axis_req_tready,
    .beat_o(beat), .side_o(unused_ended), .data_i({value, 8'(verdict)}),
    .m_axis_rsp_tdata, .m_axis_rsp_tlast, .m_axis_rsp_tvalid, .m_axis_rsp_tready
  );

  nic_crc32c u_crc32c (
    .clk, .rst,
    .beat_i    (beat),
    .data_i    (s_axis_req_tdata),
    .want_i    (said.want[0]),
    .from_i    (said.from),
    .upto_i    (said.upto[16:0]),
    .value_o   (value),
    .verdict_o (verdict)
  );

  logic unused_bits;
  assign unused_bits = ^said;
endmodule
