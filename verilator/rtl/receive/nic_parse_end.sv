/// Last step of the parser: once a frame's length is known, computes the length verdicts, the end
/// of the headers, and which checksums apply. One frame every cycle.

module nic_parse_end
  import nic_pkg::*;
  import nic_rx_pkg::*;
#(
  // Number of the Ethernet port, for the steering key.
  parameter int Port = 0,
  // Optional parts in this build, as the bits of register CAP1.
  parameter int unsigned Parts = PartsDefault
) (
  input  logic        clk,
  // Pulse: a frame of len_i bytes has ended; parse_i are its headers.
  input  logic        last_i,
  input  logic [13:0] len_i,
  input  rx_parse_t   parse_i,
  // Steering key, one cycle later; held until that of the next frame.
  output steer_key_t  key_o,
  // Header fields of the frame's completion entry, in the same cycle as key_o. Verdict Ok in
  // l4_csum or icrc means only that the check applies to the frame; the check's result replaces it.
  output rx_head_t    head_o
);
  localparam bit HasTrim = (Parts & PartTrim) != 0;

  logic       ip_bad, l4_bad;
  steer_key_t key_q;
  rx_head_t   head_q;

  assign ip_bad = (parse_i.key.is_ipv4 || parse_i.key.is_ipv6) &&
                  (parse_i.ip_short || parse_i.ip_end > 17'(len_i));
  assign l4_bad = parse_i.key.is_udp && (parse_i.l4_short || parse_i.l4_end > 17'(len_i));

  function automatic rx_head_t conclude(input logic ip_len_bad, input logic l4_len_bad);
    conclude.l3_type    = parse_i.key.is_ipv4 ? L3TypeIpv4 :
                        parse_i.key.is_ipv6 ? L3TypeIpv6 : L3TypeNone;
    conclude.l4_type    = parse_i.key.is_udp ? L4TypeUdp :
                        parse_i.key.is_tcp ? L4TypeTcp : L4TypeNone;
    conclude.tags       = parse_i.tags;
    conclude.frag       = parse_i.key.is_frag;
    conclude.roce       = parse_i.key.is_roce;
    conclude.ip_len_bad = ip_len_bad;
    conclude.l4_len_bad = l4_len_bad;
    conclude.ip_csum    = !parse_i.key.is_ipv4 ? VerdictNotChecked :
                        parse_i.ip_csum_ok ? VerdictOk : VerdictBad;
    conclude.l4_csum    = parse_i.l4_want && !l4_len_bad ? VerdictOk : VerdictNotChecked;
    conclude.icrc       = parse_i.icrc_want && !l4_len_bad ? VerdictOk : VerdictNotChecked;
    conclude.vlan_outer = parse_i.key.vlan_outer;
    conclude.vlan_inner = parse_i.vlan_inner;
    conclude.l3_off     = parse_i.l3_off;
    conclude.l4_off     = parse_i.l4_off;
    conclude.pay_off    = 14'(parse_i.pay_off) <= len_i ? parse_i.pay_off : parse_i.pay_alt;
    conclude.ethertype  = parse_i.key.ethertype;
    conclude.ip_proto   = parse_i.key.ip_proto;
    conclude.ip_tos     = parse_i.key.ip_tos;
    conclude.src_port   = parse_i.key.src_port;
    conclude.dst_port   = parse_i.key.dst_port;
    conclude.bth_opcode = parse_i.key.bth_opcode;
    conclude.bth_flags  = parse_i.bth_flags;
    conclude.pkey       = parse_i.pkey;
    conclude.dest_qp    = parse_i.key.dest_qp[23:0];
    conclude.ack_req    = parse_i.ack_req;
    conclude.psn        = parse_i.psn;
    conclude.ecn_csum   = parse_i.ecn_csum;
    conclude.trim_at    = HasTrim ? parse_i.l4_end[13:0] - 14'd4 - 14'(parse_i.bth_flags[5:4]) :
                          14'd0;
    conclude.trim       = HasTrim && parse_i.icrc_want && !l4_len_bad &&
                          conclude.trim_at >= 14'(conclude.pay_off);
  endfunction

  logic unused_bits;
  assign unused_bits = ^parse_i;

  assign key_o  = key_q;
  assign head_o = head_q;

  always_ff @(posedge clk) begin
    if (last_i) begin
      head_q           <= conclude(ip_bad, l4_bad);
      key_q            <= parse_i.key;
      key_q.port       <= 8'(Port);
      key_q.ip_len_bad <= ip_bad;
      key_q.l4_len_bad <= l4_bad;
    end
  end
endmodule
