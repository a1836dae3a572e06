/// Requests and internal records of blk_rxdma; byte 0 of a packet is in the low bits.

package blk_rxdma_pkg;
  import nic_int_pkg::*;
  import nic_pkg::*;
  import nic_rx_pkg::*;

  localparam int Ports = 2;
  localparam int Depth = 8;                // requests in flight, at most

  // Header fields of a frame.
  typedef struct packed {
    logic [23:0] rsvd;
    logic [7:0]  trims;      // 1: pad and ICRC begin at trim_at
    logic [15:0] trim_at;
    logic [15:0] udp_len;    // from it the reference computes trims and trim_at
    logic [31:0] psn;
    logic [31:0] dest_qp;
    logic [15:0] ecn_csum;
    logic [7:0]  ack_req;
    logic [7:0]  bth_flags;
    logic [15:0] pkey;
    logic [15:0] dst_port;
    logic [15:0] src_port;
    logic [7:0]  bth_opcode;
    logic [7:0]  ip_tos;
    logic [15:0] ethertype;
    logic [7:0]  ip_proto;
    logic [7:0]  pay_off;
    logic [15:0] vlan_inner;
    logic [15:0] vlan_outer;
    logic [7:0]  l4_off;
    logic [7:0]  l3_off;
    logic [7:0]  icrc;
    logic [7:0]  l4_csum;
    logic [7:0]  ip_csum;
    logic [7:0]  l4_len_bad;
    logic [7:0]  ip_len_bad;
    logic [7:0]  roce;
    logic [7:0]  frag;
    logic [7:0]  tags;
    logic [7:0]  l4_type;
    logic [7:0]  l3_type;
  } head_op_t;

  // Request: a frame or an Event (kind 1), with the state of its queue and its descriptor.
  typedef struct packed {
    head_op_t    head;
    rx_desc_t    desc;
    logic [63:0] cq_base;
    logic [7:0]  trim;
    logic [7:0]  flr;        // 1: a function-level reset is in progress
    logic [15:0] cqi;
    logic [15:0] ci;
    logic [15:0] pi;
    logic [15:0] event_index;
    logic [15:0] pay_buf_size;
    logic [15:0] hdr_buf_size;
    logic [15:0] split_len;
    logic [7:0]  ecn_mode;
    logic [7:0]  crc_mode;
    logic [7:0]  log_size;
    logic [7:0]  split_mode;
    logic [31:0] crc_value;
    logic [31:0] hash;
    logic [31:0] port_seq;
    logic [31:0] account_seq;
    logic [7:0]  event_status;
    logic [7:0]  crc_verdict;
    logic [7:0]  crc_drop;
    logic [7:0]  rule;
    logic [7:0]  ruled;
    logic [7:0]  slow;
    logic [7:0]  account_en;
    logic [7:0]  attr;
    logic [15:0] mps;
    logic [15:0] line;       // line of the receive buffer where the frame begins
    logic [15:0] queue_f;
    logic [15:0] len;
    logic [7:0]  late;       // cycles until the descriptor has arrived
    logic [7:0]  state;
    logic [7:0]  port;
    logic [7:0]  kind;
  } op_t;

  // Outcome of a request at nic_rxtake: kept, dropped with a cause, or an Event.
  typedef struct packed {
    logic             event_f;
    logic [Ports-1:0] drop;
    logic [4:0]       cause;
    logic             settled;
    logic             passed;
  } fate_t;

  // Buffer lines that nic_rxdma frees for a frame.
  typedef struct packed {
    logic [Ports-1:0] of;
    logic [Ports-1:0] kept;
    logic [7:0]       lines;
  } freed_t;

  // A beat of a request's writes; done: its last one.
  typedef struct packed {
    logic             done;
    logic [15:0]      queue_f;
    logic [Ports-1:0] delivered;
    tlp_beat_t        tlp;
  } beat_t;

  function automatic rx_ctx_t ctx_of(input op_t o);
    logic unused_bits;
    unused_bits = ^o;
    ctx_of = '{split_mode: split_mode_e'(o.split_mode), log_size: o.log_size[3:0],
               split_len: o.split_len, hdr_buf_size: o.hdr_buf_size,
               pay_buf_size: o.pay_buf_size, crc_mode: o.crc_mode[1:0],
               ecn_mode: o.ecn_mode[0], trim: o.trim[0], cq_base: o.cq_base};
  endfunction

  function automatic rx_head_t head_of(input head_op_t h);
    logic unused_bits;
    unused_bits = ^h;
    head_of = '{l3_type: l3_type_e'(h.l3_type[1:0]), l4_type: l4_type_e'(h.l4_type[1:0]),
                tags: h.tags[1:0], frag: h.frag[0], roce: h.roce[0], ip_len_bad: h.ip_len_bad[0],
                l4_len_bad: h.l4_len_bad[0], ip_csum: verdict_e'(h.ip_csum[1:0]),
                l4_csum: verdict_e'(h.l4_csum[1:0]), icrc: verdict_e'(h.icrc[1:0]),
                vlan_outer: h.vlan_outer, vlan_inner: h.vlan_inner, l3_off: h.l3_off,
                l4_off: h.l4_off, pay_off: h.pay_off, ethertype: h.ethertype,
                ip_proto: h.ip_proto, ip_tos: h.ip_tos, src_port: h.src_port,
                dst_port: h.dst_port, bth_opcode: h.bth_opcode, bth_flags: h.bth_flags,
                pkey: h.pkey, dest_qp: h.dest_qp[23:0], ack_req: h.ack_req[0],
                psn: h.psn[23:0], ecn_csum: h.ecn_csum, trim: h.trims[0],
                trim_at: h.trim_at[13:0]};
  endfunction

  function automatic rx_frame_t frame_of(input op_t o);
    logic unused_bits;
    unused_bits      = ^o;
    frame_of         = '0;
    frame_of.port    = o.port[0];
    frame_of.place   = '{line: o.line[LineW-1:0], lines: 8'((o.len + 16'd63) >> 6)};
    frame_of.slow    = o.slow[0];
    frame_of.account_seq          = o.account_seq;
    frame_of.info.len             = o.len[13:0];
    frame_of.info.port_seq        = o.port_seq;
    frame_of.info.queue_f         = o.queue_f;
    frame_of.info.ruled           = o.ruled[0];
    frame_of.info.rule            = o.rule;
    frame_of.info.hash            = o.hash;
    frame_of.info.draw.account_en = o.account_en[0];
    frame_of.info.crc = '{drop: o.crc_drop[0], verdict: verdict_e'(o.crc_verdict[1:0]),
                          value: o.crc_value};
    frame_of.info.head = head_of(o.head);
  endfunction
endpackage
