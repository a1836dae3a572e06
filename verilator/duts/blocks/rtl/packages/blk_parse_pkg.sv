/// Results of the parser by itself. Fields without meaning are zero.

package blk_parse_pkg;
  import nic_pkg::*;
  import nic_rx_pkg::*;

  typedef struct packed {
    logic [15:0] trim_at;    // where pad and ICRC begin, if trims
    logic [7:0]  trims;
    logic [15:0] ecn_csum;   // IPv4 with ECN 1 or 2
    logic [39:0] pseudo;     // of UDP, as the end
    logic [23:0] l4_end;
    logic [15:0] crc_to;     // bytes under a CRC-32C; both zero for none
    logic [15:0] crc_from;
    logic [23:0] psn;
    logic [7:0]  ack_req;
    logic [15:0] pkey;
    logic [7:0]  bth_flags;
    logic [7:0]  icrc;       // to be judged
    logic [7:0]  l4_csum;    // to be judged
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

  // Inputs of the checkers, at a frame's last beat.
  function automatic parse_res_t told(input rx_parse_t parse, input logic [35:0] pseudo,
                                      input logic [13:0] len);
    logic [16:0] upto;
    logic        unused_bits;
    unused_bits = ^parse;
    upto = parse.pay_end < 17'(len) ? parse.pay_end : 17'(len);
    told = '0;
    if (!parse.key.is_frag && 14'(parse.pay_off) <= len && 17'(parse.pay_off) < upto) begin
      told.crc_from = 16'(parse.pay_off);
      told.crc_to   = upto[15:0];
    end
    if (parse.key.is_udp) begin
      told.pseudo = 40'(pseudo);
      told.l4_end = 24'(parse.l4_end);
    end
    if (parse.key.is_ipv4 && ^parse.key.ip_tos[1:0]) told.ecn_csum = parse.ecn_csum;
  endfunction

  // The same with the results of the next cycle.
  function automatic parse_res_t concluded(input parse_res_t early, input steer_key_t key,
                                           input rx_head_t head);
    logic unused_bits;
    unused_bits = ^head;
    concluded            = early;
    concluded.key        = key;
    concluded.tags       = 8'(head.tags);
    concluded.vlan_inner = head.vlan_inner;
    concluded.l3_off     = head.l3_off;
    concluded.l4_off     = head.l4_off;
    concluded.pay_off    = 16'(head.pay_off);
    concluded.l3_type    = 8'(head.l3_type);
    concluded.l4_type    = 8'(head.l4_type);
    concluded.ip_csum    = 8'(head.ip_csum);
    concluded.l4_csum    = 8'(head.l4_csum != VerdictNotChecked);
    concluded.icrc       = 8'(head.icrc != VerdictNotChecked);
    concluded.bth_flags  = head.bth_flags;
    concluded.pkey       = head.pkey;
    concluded.ack_req    = 8'(head.ack_req);
    concluded.psn        = head.psn;
    concluded.trims      = 8'(head.trim);
    if (head.trim) concluded.trim_at = 16'(head.trim_at);
  endfunction
endpackage
