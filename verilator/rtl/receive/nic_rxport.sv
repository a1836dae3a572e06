/// Ingress of one port: from the pins to the receive buffer, one beat a cycle whatever the frames'
/// lengths. A frame is kept or dropped with its last beat, nine cycles after that beat left
/// nic_rxin (twelve with part crc32c); the first drop cause in the contract's order counts.

`include "nic_assert.svh"

module nic_rxport
  import nic_int_pkg::*;
  import nic_pkg::*;
  import nic_rx_pkg::*;
#(
  // Number of this port.
  parameter int Port = 0,
  // Optional parts in this build, as the bits of register CAP1.
  parameter int unsigned Parts = PartsDefault
) (
  input  logic             clk,
  input  logic             rst,
  input  cfg_t             cfg_i,
  input  logic [EthW-1:0]  s_axis_eth_tdata,
  input  logic [EthB-1:0]  s_axis_eth_tkeep,
  input  logic             s_axis_eth_tlast,
  input  logic             s_axis_eth_tvalid,
  // Steering key of a frame; fate_i: the decision on it, five cycles later.
  output logic             key_valid_o,
  output steer_key_t       key_o,
  input  rx_fate_t         fate_i,
  // Pulse: a frame that passed the checks matched rule hit_rule_o.
  output logic             hit_valid_o,
  output logic [7:0]       hit_rule_o,
  // Frames that are kept, for reading from the receive buffer.
  output logic             frame_valid_o,
  input  logic             frame_ready_i,
  output rx_place_t        frame_place_o,
  output rx_info_t         frame_info_o,
  // Read of lines read_line_i and the next; data from the next cycle on.
  input  logic             read_i,
  input  logic [LineW-1:0] read_line_i,
  output logic [EthW-1:0]  even_o,
  output logic [EthW-1:0]  odd_o,
  // Pulse: frees free_lines_i lines of the buffer.
  input  logic             free_i,
  input  logic [7:0]       free_lines_i,
  // Number of lines in use.
  output logic [LineW:0]   used_o,
  // Which pause frames are honoured.
  input  pause_cfg_t       pause_cfg_i,
  // Pause frame that was honoured; a pulse.
  output pause_t           pause_o,
  // Pulses of the port's counters; bytes_o is added to RX_BYTES.
  output logic [31:0]      port_evt_o,
  output logic [31:0]      bytes_o,
  output logic             busy_o
);
  localparam bit HasCrc32c = (Parts & PartCrc32c) != 0;

  rx_beat_t        in_beat, check, store;
  logic [EthW-1:0] in_data, in_next, check_data, store_data;
  logic [7:0]      avail;
  logic            in_busy, delay_busy, buf_busy;

  nic_rxin u_in (
    .clk, .rst,
    .rx_enable_i (cfg_i.rx_enable),
    .s_axis_eth_tdata, .s_axis_eth_tkeep, .s_axis_eth_tlast, .s_axis_eth_tvalid,
    .beat_o  (in_beat),
    .data_o  (in_data),
    .next_o  (in_next),
    .avail_o (avail),
    .bytes_o,
    .busy_o  (in_busy)
  );

  nic_rxdelay #(.Store(HasCrc32c ? 12 : 9)) u_delay (
    .clk, .rst,
    .beat_i       (in_beat),
    .data_i       (in_data),
    .check_beat_o (check),
    .check_data_o (check_data),
    .store_beat_o (store),
    .store_data_o (store_data),
    .busy_o       (delay_busy)
  );

  // Parsing and checksum checks.
  rx_parse_t   parse;
  logic [35:0] pseudo;
  logic        check_last, l4_ok, icrc_ok;
  rx_head_t    early, head;

  assign check_last = check.valid && check.last;

  nic_parse #(.Parts(Parts)) u_parse (
    .clk,
    .roce_port_i (cfg_i.roce_port),
    .start_i     (in_beat.valid && in_beat.first),
    .window_i    ({in_next, in_data}),
    .avail_i     (avail),
    .parse_o     (parse),
    .pseudo_o    (pseudo)
  );

  nic_parse_end #(.Port(Port), .Parts(Parts)) u_parse_end (
    .clk,
    .last_i  (check_last),
    .len_i   (check.base + 14'(check.bytes)),
    .parse_i (parse),
    .key_o,
    .head_o  (early)
  );

  nic_csum u_csum (
    .clk,
    .beat_i   (check),
    .data_i   (check_data),
    .want_i   (parse.l4_want),
    .from_i   (parse.l4_off),
    .upto_i   (parse.l4_end),
    .pseudo_i (pseudo),
    .ok_o     (l4_ok)
  );

  nic_icrc u_icrc (
    .clk, .rst,
    .beat_i   (check),
    .data_i   (check_data),
    .want_i   (parse.icrc_want),
    .ipv6_i   (parse.key.is_ipv6),
    .l3_off_i (parse.l3_off),
    .l4_off_i (parse.l4_off),
    .upto_i   (parse.l4_end),
    .ok_o     (icrc_ok)
  );

  logic       ends;
  logic [2:0] l4_ok_q;

  assign ends = store.valid && store.last;

  rx_checked_t checked;
  rx_crc_t     crc;

  nic_rxcheck #(.Parts(Parts)) u_check (
    .clk, .rst,
    .drop_i    (cfg_i.drop_crc32c),
    .beat_i    (check),
    .data_i    (check_data),
    .parse_i   (parse),
    .checked_i ('{fate: fate_i, l4_ok: l4_ok_q[2], icrc_ok: icrc_ok}),
    .ends_i    (ends),
    .checked_o (checked),
    .crc_o     (crc)
  );

  // Header fields, known early, wait here for the results of the checks.
  logic       ended_q;
  logic       head_valid, head_ready;

  assign key_valid_o = ended_q;

  nic_fifo #(.Width($bits(rx_head_t)), .Depth(HasCrc32c ? 16 : 8)) u_heads (
    .clk, .rst,
    .in_valid_i  (ended_q),
    .in_ready_o  (head_ready),
    .in_data_i   (early),
    .out_valid_o (head_valid),
    .out_ready_i (ends),
    .out_data_o  (head)
  );

  always_ff @(posedge clk) begin
    ended_q    <= check_last;
    l4_ok_q    <= {l4_ok_q[1:0], l4_ok};
    if (rst) ended_q <= 1'b0;
  end

  // Decision on the frame whose last beat reaches the buffer in this cycle.
  logic        off, off_q, overflow, drop, ruled;
  logic        bad_l4, bad_icrc, drop_ip, drop_l4, drop_icrc;
  logic [13:0] len;
  logic [31:0] seq_q;
  rx_info_t    info;
  logic [31:0] evt, evt_q;
  logic        pause;

  // A function-level reset drops the frame that is arriving, even if its next beat comes after the
  // reset.
  assign off = (store.first ? store.off : off_q) || cfg_i.flr;
  assign len = store.base + 14'(store.bytes);

  assign bad_l4   = head.l4_csum == VerdictOk && !checked.l4_ok;
  assign bad_icrc = head.icrc == VerdictOk && !checked.icrc_ok;

  always_comb begin
    info = '0;
    if (ends) begin
      info.len      = len;
      info.port_seq = seq_q;
      info.ruled    = checked.fate.hit;
      info.rule     = checked.fate.rule;
      info.queue_f  = checked.fate.queue_f;
      info.hash     = checked.fate.hash;
      info.draw     = checked.fate.draw;
      info.crc      = crc;
      info.head     = head;
      if (bad_l4)   info.head.l4_csum = VerdictBad;
      if (bad_icrc) info.head.icrc    = VerdictBad;
    end
  end

  assign drop_ip   = cfg_i.drop_ip_csum && head.ip_csum == VerdictBad;
  assign drop_l4   = cfg_i.drop_l4_csum && bad_l4;
  assign drop_icrc = cfg_i.drop_icrc && bad_icrc;

  always_comb begin
    evt   = '0;
    ruled = 1'b0;
    if (ends) begin
      if      (off)                   evt[CntRxDropDisabled] = 1'b1;
      else if (len < 14'(FrameMin))   evt[CntRxDropRunt]     = 1'b1;
      else if (len > 14'(FrameMax))   evt[CntRxDropOversize] = 1'b1;
      else if (pause)                 evt[CntRxPause]        = 1'b1;
      else if (overflow)              evt[CntRxDropOverflow] = 1'b1;
      else if (drop_ip)               evt[CntRxDropIpCsum]   = 1'b1;
      else if (drop_l4)               evt[CntRxDropL4Csum]   = 1'b1;
      else if (drop_icrc)             evt[CntRxDropIcrc]     = 1'b1;
      else if (!checked.fate.hit)           evt[CntRxDropNoRule]   = !checked.fate.deliver;
      else begin
        ruled = 1'b1;
        evt[CntRxDropRule] = !checked.fate.deliver;
      end
      drop = |evt;
      evt[CntRxFrames] = 1'b1;
    end else begin
      drop = 1'b0;
    end
  end

  assign port_evt_o  = evt_q;
  assign hit_valid_o = ruled;
  assign hit_rule_o  = checked.fate.rule;
  assign busy_o      = in_busy || delay_busy || buf_busy;

  always_ff @(posedge clk) begin
    if (store.valid || cfg_i.flr) off_q <= off;
    if (ends) seq_q <= seq_q + 32'h1;
    evt_q <= evt;
    if (rst) begin
      seq_q <= '0;
      evt_q <= '0;
    end
  end

  nic_rxbuf u_buf (
    .clk, .rst,
    .beat_i     (store),
    .data_i     (store_data),
    .skip_i     (off || pause || store.base >= 14'(FrameMax)),
    .drop_i     (drop),
    .info_i     (info),
    .overflow_o (overflow),
    .frame_valid_o, .frame_ready_i, .frame_place_o, .frame_info_o,
    .read_i, .read_line_i, .even_o, .odd_o,
    .free_i, .free_lines_i, .used_o,
    .busy_o     (buf_busy)
  );

  // Pause frames are recognised here and not stored.
  if ((Parts & PartPause) != 0) begin : g_pause
    nic_pause_rx u_pause (
      .clk, .rst,
      .cfg_i    (pause_cfg_i),
      .beat_i   (store),
      .data_i   (store_data),
      .match_o  (pause),
      .honour_i (evt[CntRxPause]),
      .pause_o
    );
  end else begin : g_no_pause
    logic unused_pause;
    assign unused_pause = ^pause_cfg_i;
    assign pause        = 1'b0;
    assign pause_o      = '0;
  end

  `NIC_ASSERT(a_head, ends |-> head_valid)
  logic unused_bits;
  assign unused_bits = ^{head_ready, head_valid, cfg_i};
endmodule
