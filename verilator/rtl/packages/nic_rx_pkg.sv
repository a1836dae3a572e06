/// Types of the receive path: what each stage knows about a frame, and the writer's jobs.

package nic_rx_pkg;
  import nic_pkg::*;

  localparam int BufLines = RxBufBytes / 64;   // 64 B lines of a port's receive buffer
  localparam int LineW    = $clog2(BufLines);

  // One beat on its way through the checkers; base is the offset of its first byte in the frame.
  typedef struct packed {
    logic        valid;
    logic        first;
    logic        last;
    logic        off;      // valid if first is 1: reception was disabled when the frame began
    logic [13:0] base;     // saturates above the longest legal frame
    logic [6:0]  bytes;
  } rx_beat_t;

  // Results from a frame's first 128 bytes; nic_parse_end completes them when the length is known.
  typedef struct packed {
    logic [1:0]  tags;
    logic [15:0] vlan_inner;
    logic [7:0]  l3_off;
    logic [7:0]  l4_off;     // zero without transport
    logic [7:0]  pay_off;    // end of the headers, if within the frame
    logic [7:0]  pay_alt;    // payload offset if the headers do not end within the frame
    logic        ip_short;   // the IP length does not cover the header
    logic [16:0] ip_end;     // first byte after the IP datagram
    logic        l4_short;   // UDP length below 8
    logic [16:0] l4_end;     // first byte after the UDP datagram
    logic        ip_csum_ok;
    logic [16:0] pay_end;    // end of the payload; beyond the frame: the frame's end
    logic [15:0] ecn_csum;   // IPv4 header checksum after the ECN bits are set to 3
    logic        l4_want;    // check the UDP checksum if the UDP length is valid
    logic        icrc_want;  // check the ICRC if the UDP length is valid
    logic [7:0]  bth_flags;
    logic [15:0] pkey;
    logic        ack_req;
    logic [23:0] psn;
    steer_key_t  key;        // steering key; nic_parse_end fills in port and length verdicts
  } rx_parse_t;

  // Header fields of a frame's completion entry.
  typedef struct packed {
    l3_type_e    l3_type;
    l4_type_e    l4_type;
    logic [1:0]  tags;
    logic        frag;
    logic        roce;
    logic        ip_len_bad;
    logic        l4_len_bad;
    verdict_e    ip_csum;
    verdict_e    l4_csum;
    verdict_e    icrc;
    logic [15:0] vlan_outer;
    logic [15:0] vlan_inner;
    logic [7:0]  l3_off;
    logic [7:0]  l4_off;
    logic [7:0]  pay_off;
    logic [15:0] ethertype;
    logic [7:0]  ip_proto;
    logic [7:0]  ip_tos;
    logic [15:0] src_port;
    logic [15:0] dst_port;
    logic [7:0]  bth_opcode;
    logic [7:0]  bth_flags;
    logic [15:0] pkey;
    logic [23:0] dest_qp;
    logic        ack_req;
    logic [23:0] psn;
    logic [15:0] ecn_csum;
    logic        trim;       // RoCE pad and ICRC follow the payload, from trim_at on
    logic [13:0] trim_at;
  } rx_head_t;

  // Payload CRC-32C; computed whether the queue uses it or not.
  typedef struct packed {
    logic        drop;       // CRC is bad and RX_CTRL drops such frames
    verdict_e    verdict;
    logic [31:0] value;
  } rx_crc_t;

  // Account fields of a rule.
  typedef struct packed {
    logic        account_en;
    logic [5:0]  account;
    logic [7:0]  slow_queue;
  } rx_draw_t;

  // Result of the rule lookup.
  typedef struct packed {
    logic        hit;
    logic        to_queue;
    logic        rss;
    logic [7:0]  rule;
    logic [15:0] queue_f;
    logic [3:0]  rss_log;
    rx_draw_t    draw;
  } rx_steer_t;

  // Decision by rule or default action, with the queue after RSS.
  typedef struct packed {
    logic        hit;        // a rule matched
    logic        deliver;
    logic [7:0]  rule;
    logic [15:0] queue_f;
    logic [31:0] hash;
    rx_draw_t    draw;
  } rx_fate_t;

  // Decision and checksum results of a frame.
  typedef struct packed {
    rx_fate_t fate;
    logic     l4_ok;
    logic     icrc_ok;
  } rx_checked_t;

  // Everything known about a frame when it enters the receive buffer.
  typedef struct packed {
    logic [13:0] len;
    logic [31:0] port_seq;
    logic [15:0] queue_f;
    logic        ruled;      // a rule matched
    logic [7:0]  rule;
    logic [31:0] hash;
    rx_draw_t    draw;
    rx_crc_t     crc;
    rx_head_t    head;
  } rx_info_t;

  // Position of a frame in the receive buffer: its first line, and the number of lines.
  typedef struct packed {
    logic [LineW-1:0] line;
    logic [7:0]       lines;
  } rx_place_t;

  // A frame taken out of the receive buffer, before its queue is looked up.
  typedef struct packed {
    logic        port;
    rx_place_t   place;
    logic        slow;         // info's queue is the slow queue of its account
    logic [31:0] account_seq;
    rx_info_t    info;
  } rx_frame_t;

  // The part of a queue's context that a delivery needs.
  typedef struct packed {
    split_mode_e split_mode;
    logic [3:0]  log_size;
    logic [15:0] split_len;
    logic [15:0] hdr_buf_size;
    logic [15:0] pay_buf_size;
    logic [1:0]  crc_mode;
    logic        ecn_mode;
    logic        trim;
    logic [63:0] cq_base;
  } rx_ctx_t;

  typedef enum logic [1:0] {
    JobFrame,   // write the frame, then its completion entry
    JobDrop,    // free the frame's buffer lines
    JobEvent    // write an Event entry
  } rx_job_e;

  // A job for the writer (nic_rxdma).
  typedef struct packed {
    rx_job_e     kind;
    rx_frame_t   frame;
    logic [13:0] hdr_len;
    logic [13:0] pay_len;
    logic [63:0] cqe_addr;
    logic [15:0] index;
    status_e     status;
    logic        phase;
    logic        ecn;        // set the frame's ECN bits to 3
  } rx_job_t;

  // One beat of a write: the command of nic_rxcut to the datapath of nic_rxdma.
  typedef struct packed {
    logic        cqe;        // a completion entry, given on cqe_o; low: frame bytes
    logic        low_new;    // frame bytes begin in the chunk read last, not in the one before
    logic        ecn;        // the chunk read last is the frame's first; set its ECN bits
    logic        odd;        // chunks of this frame begin in the odd bank
    logic        port;
    logic [1:0]  skip;       // first beat: byte lanes before the first byte
    logic [7:0]  shift;      // byte of nic_rxdma's {newer, low, 4 zero bytes} that goes to lane 0
    logic [7:0]  lanes;      // number of the byte lane behind the last byte
    logic        last;
    logic [127:0] hdr;
  } rx_cmd_t;

  // Returns the completion entry of a frame or of an Event job; with_pay: fill in pay_len.
  function automatic rx_cqe_t build_cqe(input rx_job_t job, input logic with_pay);
    logic     event_f, unused_bits;
    rx_info_t info;
    event_f     = job.kind == JobEvent;
    info        = job.frame.info;
    unused_bits = ^{job, info};
    build_cqe = '0;
    build_cqe.type_f  = event_f ? CqeTypeEvent : CqeTypeRx;
    build_cqe.status  = job.status;
    build_cqe.queue_f = info.queue_f;
    build_cqe.index   = job.index;
    build_cqe.phase   = job.phase;
    if (!event_f) begin
      build_cqe.rule        = info.ruled ? 16'(info.rule) : 16'(RuleNone);
      build_cqe.port_seq    = info.port_seq;
      build_cqe.frame_len   = 16'(info.len);
      build_cqe.hdr_len     = 16'(job.hdr_len);
      build_cqe.pay_len     = with_pay ? 16'(job.pay_len) : 16'd0;
      build_cqe.l3_type     = info.head.l3_type;
      build_cqe.l4_type     = info.head.l4_type;
      build_cqe.vlan_count  = info.head.tags;
      build_cqe.frag        = info.head.frag;
      build_cqe.roce        = info.head.roce;
      build_cqe.ip_len_bad  = info.head.ip_len_bad;
      build_cqe.l4_len_bad  = info.head.l4_len_bad;
      build_cqe.ip_csum     = info.head.ip_csum;
      build_cqe.l4_csum     = info.head.l4_csum;
      build_cqe.icrc        = info.head.icrc;
      build_cqe.crc32c      = info.crc.verdict;
      build_cqe.crc32c_value = info.crc.value;
      build_cqe.port        = 8'(job.frame.port);
      build_cqe.vlan_outer  = info.head.vlan_outer;
      build_cqe.vlan_inner  = info.head.vlan_inner;
      build_cqe.l3_off      = info.head.l3_off;
      build_cqe.l4_off      = info.head.l4_off;
      build_cqe.payload_off = 16'(info.head.pay_off);
      build_cqe.rss_hash    = info.hash;
      build_cqe.slow_path   = job.frame.slow;
      build_cqe.account_seq = job.frame.account_seq;
      build_cqe.ethertype   = info.head.ethertype;
      build_cqe.ip_proto    = info.head.ip_proto;
      build_cqe.ip_tos      = info.head.ip_tos;
      build_cqe.src_port    = info.head.src_port;
      build_cqe.dst_port    = info.head.dst_port;
      build_cqe.bth_opcode  = info.head.bth_opcode;
      build_cqe.bth_flags   = info.head.bth_flags;
      build_cqe.pkey        = info.head.pkey;
      build_cqe.dest_qp     = 32'(info.head.dest_qp);
      build_cqe.psn         = {info.head.ack_req, 7'b0, info.head.psn};
    end
  endfunction
endpackage
