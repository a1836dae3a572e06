/// Test device for nic_offload. Request: a gathered frame in lines of two beats; result: its beats,
/// and one more beat with the values to patch into them.

module blk_offload
  import nic_tx_pkg::*;
(
  input  logic          clk,
  input  logic          rst,
  input  logic [1023:0] s_axis_req_tdata,
  input  logic [127:0]  s_axis_req_tkeep,
  input  logic [511:0]  s_axis_req_tuser,
  input  logic          s_axis_req_tlast,
  input  logic          s_axis_req_tvalid,
  output logic          s_axis_req_tready,
  output logic [511:0]  m_axis_rsp_tdata,
  output logic          m_axis_rsp_tlast,
  output logic          m_axis_rsp_tvalid,
  input  logic          m_axis_rsp_tready
);
  localparam int Frames = 16;

  typedef struct packed {
    logic [383:0] inl;       // inline bytes
    logic [15:0]  rsvd;
    logic [15:0]  crc_start;
    logic [15:0]  crc_off;
    logic [7:0]   l4;
    logic [7:0]   l3;
    logic [7:0]   flags;     // bits from the lowest: IPv4 sum, UDP sum, UDP zero, ICRC, CRC-32C
    logic [7:0]   status;    // status of an entry without a frame (length 0)
    logic [7:0]   inl_len;
    logic [7:0]   rsvd1;
    logic [15:0]  len;
    logic [15:0]  rsvd0;
  } said_t;

  typedef struct packed {
    logic [15:0] ip_val;
    logic [7:0]  ip_pos;
    logic [7:0]  ip;
    logic [15:0] udp_val;
    logic [7:0]  udp_pos;
    logic [7:0]  udp;
    logic [31:0] crc_val;
    logic [15:0] crc_pos;
    logic [7:0]  crc;
    logic [31:0] icrc_val;
    logic [15:0] icrc_pos;
    logic [7:0]  icrc;
    logic [15:0] len;
    logic [7:0]  status;
  } patch_t;

  // A line; its data stay for its second beat.
  typedef struct packed {
    logic          first;
    logic          last;
    logic          two;
    tx_frame_t     frame;
    logic [1023:0] data;
  } line_t;

  said_t         said;
  tx_frame_t     frame;
  line_t         line_q;
  logic          first_q, valid_q, second_q, take, room, beat_valid, out_valid;
  logic [511:0]  beat, held;
  logic          held_valid, told, left;
  logic [64:0]   unused_held;
  tx_out_t       out;
  patch_t        patch, patch_held;
  logic          patch_valid, unused_patch_ready;
  logic          count_ready, count_valid;
  logic [7:0]    count, got_q;         // beats of the frame that leaves; beats of it already sent

  assign said = said_t'(s_axis_req_tuser);
  assign take = s_axis_req_tvalid && s_axis_req_tready;
  // A line of two beats occupies two cycles.
  assign s_axis_req_tready = room && !second_q && (count_ready || !first_q);

  always_comb begin
    frame           = '0;
    frame.id.status = said.status;
    frame.len       = said.len[13:0];
    frame.inl_len   = said.inl_len;
    frame.ofl       = '{ip_csum: said.flags[0], udp_csum: said.flags[1], udp_zero: said.flags[2],
                        icrc: said.flags[3], crc: said.flags[4], ecn: 2'd0, l3: said.l3,
                        l4: said.l4, crc_off: said.crc_off[13:0], crc_start: said.crc_start[13:0]};
    patch           = '{status: out.id.status, len: 16'(out.len), icrc: 8'(out.icrc),
                        icrc_pos: 16'(out.icrc_pos), icrc_val: out.icrc_val, crc: 8'(out.crc),
                        crc_pos: 16'(out.crc_pos), crc_val: out.crc_val, udp: 8'(out.udp),
                        udp_pos: 8'(out.udp_pos), udp_val: out.udp_val, ip: 8'(out.ip),
                        ip_pos: 8'(out.ip_pos), ip_val: out.ip_val};
  end

  nic_offload u_offload (
    .clk, .rst,
    .ln_valid_i (valid_q), .ln_first_i(line_q.first), .ln_last_i(line_q.last),
    .ln_two_i   (line_q.two), .ln_frame_i(line_q.frame),
    .ln_data_i  (line_q.data),
    .beat_valid_o (beat_valid), .beat_o(beat), .out_valid_o(out_valid), .out_o(out)
  );

  // Beats and patches have separate buffers; a frame's beats leave first, then its patch.
  blk_beats u_beats (
    .clk, .rst,
    .room_o(room), .valid_i(beat_valid), .last_i(1'b0), .bytes_i(7'd64), .data_i(beat),
    .m_tdata(held), .m_tkeep(unused_held[63:0]), .m_tlast(unused_held[64]),
    .m_tvalid(held_valid), .m_tready(left && !told)
  );

  nic_fifo #(.Width($bits(patch_t)), .Depth(Frames)) u_patches (
    .clk, .rst, .in_valid_i(out_valid), .in_ready_o(unused_patch_ready), .in_data_i(patch),
    .out_valid_o(patch_valid), .out_ready_i(left && told), .out_data_o(patch_held)
  );

  nic_fifo #(.Width(8), .Depth(Frames)) u_counts (
    .clk, .rst,
    .in_valid_i(take && first_q), .in_ready_o(count_ready),
    .in_data_i(8'((said.len + 16'd63) >> 6)),
    .out_valid_o(count_valid), .out_ready_i(left && told), .out_data_o(count)
  );

  assign told              = got_q == count;
  assign m_axis_rsp_tvalid = count_valid && (told ? patch_valid : held_valid);
  assign m_axis_rsp_tdata  = told ? 512'(patch_held) : held;
  assign m_axis_rsp_tlast  = told;
  assign left              = m_axis_rsp_tvalid && m_axis_rsp_tready;

  always_ff @(posedge clk) begin
    valid_q  <= take;
    second_q <= take && s_axis_req_tkeep[64];
    if (take) begin
      first_q <= s_axis_req_tlast;
      line_q  <= '{first: first_q, last: s_axis_req_tlast, two: s_axis_req_tkeep[64],
                   frame: frame,
                   data: with_inline(s_axis_req_tdata, 1024'(said.inl),
                                     first_q ? said.inl_len : 8'd0)};
    end
    if (left) got_q <= told ? 8'd0 : got_q + 8'd1;
    if (rst) begin
      valid_q  <= 1'b0;
      second_q <= 1'b0;
      first_q  <= 1'b1;
      got_q    <= 8'd0;
    end
  end

  logic unused_bits;
  assign unused_bits = ^{said, out, s_axis_req_tkeep};
endmodule
