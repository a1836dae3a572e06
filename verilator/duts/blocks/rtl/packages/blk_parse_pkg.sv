/// Results of blk_parse. Fields that do not apply to a frame are zero.

package blk_parse_pkg;
  import nic_pkg::*;
  import nic_rx_pkg::*;

  typedef struct packed {
    logic [15:0] trim_at;    // offset of pad and ICRC, if trims is set
    logic [7:0]  trims;
    logic [15:0] ecn_csum;   // for IPv4 with ECN 1 or 2
    logic [39:0] pseudo;     // sum of the pseudo header; it and l4_end are set for UDP only
    logic [23:0] l4_end;
    logic [15:0] crc_to;     // range of the CRC-32C, from crc_from on; both zero: none
    logic [15:0] crc_from;
    logic [23:0] psn;
    logic [7:0]  ack_req;
    logic [15:0] pkey;
    logic [7:0]  bth_flags;
    logic [7:0]  icrc;       // 1: the ICRC must be checked
    logic [7:0]  l4_csum;    // 1: the UDP checksum must be checked
    logic [7:0]  ip_csum;
    logic [7:0]  l4_type;
    logic [7:0]  l3_type;
    logic [15:0] pay_off;
    logic [7:0]  l4_off;
    logic [7:0]  l3_off;
    logic [15:0] vlan_inner;
    logic [7:0]  tags;
    steer_key_t  key;
  } parse_res_t;

  // Returns the fields that the checkers get, at a frame's last beat.
  function automatic parse_res_t checker_inputs(input rx_parse_t parse, input logic [35:0] pseudo,
                                      input logic [13:0] len);
    logic [16:0] upto;
    logic        unused_bits;
    unused_bits = ^parse;
    upto = parse.pay_end < 17'(len) ? parse.pay_end : 17'(len);
    checker_inputs = '0;
    if (!parse.key.is_frag && 14'(parse.pay_off) <= len && 17'(parse.pay_off) < upto) begin
      checker_inputs.crc_from = 16'(parse.pay_off);
      checker_inputs.crc_to   = upto[15:0];
    end
    if (parse.key.is_udp) begin
      checker_inputs.pseudo = 40'(pseudo);
      checker_inputs.l4_end = 24'(parse.l4_end);
    end
    if (parse.key.is_ipv4 && ^parse.key.ip_tos[1:0]) checker_inputs.ecn_csum = parse.ecn_csum;
  endfunction

  // Adds the results of nic_parse_end, which come one cycle later.
  function automatic parse_res_t with_end_results(input parse_res_t early, input steer_key_t key,
                                           input rx_head_t head);
    logic unused_bits;
    unused_bits = ^head;
    with_end_results            = early;
    with_end_results.key        = key;
    with_end_results.tags       = 8'(head.tags);
    with_end_results.vlan_inner = head.vlan_inner;
    with_end_results.l3_off     = head.l3_off;
    with_end_results.l4_off     = head.l4_off;
    with_end_results.pay_off    = 16'(head.pay_off);
    with_end_results.l3_type    = 8'(head.l3_type);
    with_end_results.l4_type    = 8'(head.l4_type);
    with_end_results.ip_csum    = 8'(head.ip_csum);
    with_end_results.l4_csum    = 8'(head.l4_csum != VerdictNotChecked);
    with_end_results.icrc       = 8'(head.icrc != VerdictNotChecked);
    with_end_results.bth_flags  = head.bth_flags;
    with_end_results.pkey       = head.pkey;
    with_end_results.ack_req    = 8'(head.ack_req);
    with_end_results.psn        = head.psn;
    with_end_results.trims      = 8'(head.trim);
    if (head.trim) with_end_results.trim_at = 16'(head.trim_at);
  endfunction
endpackage
