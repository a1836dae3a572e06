/// Test device for nic_ecn. Request: a gathered frame, in lines of two beats; result: the beats
/// that leave.

module blk_ecn
  import nic_tx_pkg::*;
(
  input  logic          clk,
  input  logic          rst,
  input  logic [1023:0] s_axis_req_tdata,
  input  logic [127:0]  s_axis_req_tkeep,
  input  logic [447:0]  s_axis_req_tuser,
  input  logic          s_axis_req_tlast,
  input  logic          s_axis_req_tvalid,
  output logic          s_axis_req_tready,
  output logic [511:0]  m_axis_rsp_tdata,
  output logic [63:0]   m_axis_rsp_tkeep,
  output logic          m_axis_rsp_tlast,
  output logic          m_axis_rsp_tvalid,
  input  logic          m_axis_rsp_tready
);
  typedef struct packed {
    logic [383:0] inl;       // inline bytes
    logic [23:0]  rsvd;
    logic [7:0]   inl_len;
    logic [15:0]  len;
    logic [7:0]   l3;
    logic [7:0]   ecn;
  } said_t;

  said_t         said;
  tx_frame_t     frame, left;
  logic          first_q, second_q, room, take, two;
  logic          ln_valid, ln_first, ln_last, ln_two, half_q, last;
  logic [1023:0] ln_data;
  logic [511:0]  beat;

  assign said = said_t'(s_axis_req_tuser);
  assign two  = s_axis_req_tkeep[64];
  assign take = s_axis_req_tvalid && s_axis_req_tready;
  // A line of two beats occupies two cycles.
  assign s_axis_req_tready = room && !second_q;

  always_comb begin
    frame         = '0;
    frame.len     = said.len[13:0];
    frame.inl_len = said.inl_len;
    frame.ofl.ecn = said.ecn[1:0];
    frame.ofl.l3  = said.l3;
  end

  nic_ecn u_ecn (
    .clk, .rst,
    .ln_valid_i (take),
    .ln_first_i (first_q),
    .ln_last_i  (s_axis_req_tlast),
    .ln_two_i   (two),
    .ln_frame_i (frame),
    .ln_data_i  (with_inline(s_axis_req_tdata, 1024'(said.inl),
                              first_q ? said.inl_len : 8'd0)),
    .ln_valid_o (ln_valid),
    .ln_first_o (ln_first),
    .ln_last_o  (ln_last),
    .ln_two_o   (ln_two),
    .ln_frame_o (left),
    .ln_data_o  (ln_data)
  );

  // The second half of a line is sent one cycle after the first: that is when the offloads, too,
  // read it. Bytes beyond the frame are undefined.
  assign last = ln_last && (half_q || !ln_two);
  assign beat = half_q ? ln_data[1023:512] : ln_data[511:0];

  logic [6:0] bytes;
  assign bytes = last && left.len[5:0] != 6'd0 ? 7'(left.len[5:0]) : 7'd64;

  blk_beats u_beats (
    .clk, .rst,
    .room_o  (room),
    .valid_i (ln_valid || half_q),
    .last_i  (last),
    .bytes_i (bytes),
    .data_i  (beat & LowBytes[{1'b0, bytes}][511:0]),
    .m_tdata(m_axis_rsp_tdata), .m_tkeep(m_axis_rsp_tkeep), .m_tlast(m_axis_rsp_tlast),
    .m_tvalid(m_axis_rsp_tvalid), .m_tready(m_axis_rsp_tready)
  );

  always_ff @(posedge clk) begin
    second_q <= take && two;
    half_q   <= ln_valid && ln_two;
    if (take) first_q <= s_axis_req_tlast;
    if (rst) begin
      first_q  <= 1'b1;
      second_q <= 1'b0;
      half_q   <= 1'b0;
    end
  end

  logic unused_bits;
  assign unused_bits = ^{said, left, ln_first, s_axis_req_tkeep};
endmodule
