/// Test device for nic_parse and nic_parse_end, behind nic_rxin and nic_rxdelay, which align a
/// frame's beats with the parser's results.

module blk_parse
  import nic_int_pkg::*;
  import nic_pkg::*;
  import nic_rx_pkg::*;
  import blk_parse_pkg::*;
(
  input  logic            clk,
  input  logic            rst,
  input  logic [EthW-1:0] s_axis_req_tdata,
  input  logic [EthB-1:0] s_axis_req_tkeep,
  input  logic [15:0]     s_axis_req_tuser,     // ROCE_PORT
  input  logic            s_axis_req_tlast,
  input  logic            s_axis_req_tvalid,
  output logic            s_axis_req_tready,
  output logic [767:0]    m_axis_rsp_tdata,
  output logic            m_axis_rsp_tlast,
  output logic            m_axis_rsp_tvalid,
  input  logic            m_axis_rsp_tready
);
  logic [15:0]     roce_q;
  logic            mid_q, room, idle, take, ended_q;
  rx_beat_t        beat, check, unused_store;
  logic [EthW-1:0] data, next, unused_check_data, unused_store_data;
  logic [7:0]      avail;
  rx_parse_t       parse;
  logic [35:0]     pseudo;
  logic [13:0]     len;
  steer_key_t      key;
  rx_head_t        head;
  parse_res_t      early_q;
  logic            unused_in_busy, unused_delay_busy;
  logic [31:0]     unused_bytes;

  // ROCE_PORT may change only while no frame is in the block.
  assign s_axis_req_tready = mid_q || (room && (idle || s_axis_req_tuser == roce_q));
  assign take              = s_axis_req_tvalid && s_axis_req_tready;

  nic_rxin u_in (
    .clk, .rst,
    .rx_enable_i       (1'b1),
    .s_axis_eth_tdata  (s_axis_req_tdata),
    .s_axis_eth_tkeep  (s_axis_req_tkeep),
    .s_axis_eth_tlast  (s_axis_req_tlast),
    .s_axis_eth_tvalid (take),
    .beat_o  (beat),
    .data_o  (data),
    .next_o  (next),
    .avail_o (avail),
    .bytes_o (unused_bytes),
    .busy_o  (unused_in_busy)
  );

  nic_rxdelay u_delay (
    .clk, .rst,
    .beat_i       (beat),
    .data_i       (data),
    .check_beat_o (check),
    .check_data_o (unused_check_data),
    .store_beat_o (unused_store),
    .store_data_o (unused_store_data),
    .busy_o       (unused_delay_busy)
  );

  nic_parse u_parse (
    .clk,
    .roce_port_i (roce_q),
    .start_i     (beat.valid && beat.first),
    .window_i    ({next, data}),
    .avail_i     (avail),
    .parse_o     (parse),
    .pseudo_o    (pseudo)
  );

  assign len = check.base + 14'(check.bytes);

  nic_parse_end u_end (
    .clk,
    .last_i  (check.valid && check.last),
    .len_i   (len),
    .parse_i (parse),
    .key_o   (key),
    .head_o  (head)
  );

  blk_credit #(.OutBytes(96)) u_credit (
    .clk, .rst,
    .room_o (room),
    .take_i (take && !mid_q),
    .idle_o (idle),
    .done_i (ended_q),
    .data_i (768'(with_end_results(early_q, key, head))),
    .m_axis_rsp_tdata, .m_axis_rsp_tvalid, .m_axis_rsp_tready
  );

  assign m_axis_rsp_tlast = 1'b1;

  always_ff @(posedge clk) begin
    if (take) mid_q <= !s_axis_req_tlast;
    if (take && !mid_q) roce_q <= s_axis_req_tuser;
    ended_q <= check.valid && check.last;
    if (check.valid && check.last) early_q <= checker_inputs(parse, pseudo, len);
    if (rst) begin
      mid_q   <= 1'b0;
      ended_q <= 1'b0;
    end
  end

  logic unused_bits;
  assign unused_bits = ^check;
endmodule
