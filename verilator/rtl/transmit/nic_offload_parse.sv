/// Examines the headers that an entry's offloads name, once per frame: checks the conditions of
/// contract T7, computes ranges and the sums over headers, and the masks for the frame's first 128
/// bytes.

module nic_offload_parse
  import nic_tx_pkg::*;
(
  input  logic           clk,
  // Pulse: a frame's first beat.
  input  logic           valid_i,
  input  tx_frame_t      frame_i,
  // First 60 bytes from l3_off on.
  input  logic [479:0]   l3_i,
  // Bytes 4 to 7 of the UDP header: length and checksum.
  input  logic [31:0]    l4_i,
  // Result, from the next cycle on until that of the next frame.
  output tx_par_t        par_o,
  // Masks for the ICRC of the frame's first 128 bytes: AND first, then XOR.
  output logic [1023:0]  crc_and_o,
  output logic [1023:0]  crc_xor_o,
  // AND mask for the UDP sum of the frame's first 128 bytes.
  output logic [1023:0]  sum_and_o
);
  // Masks of the IP header fields that the ICRC takes as ones (IPv6: low nibble of byte 0, as
  // well).
  localparam logic [95:0] OnesV4 = 96'hffff00ff_00000000_0000ff00;
  localparam logic [95:0] OnesV6 = 96'h00000000_ff000000_ffffff0f;

  tx_par_t       par_q;
  logic [1023:0] crc_and_q, crc_xor_q, sum_and_q;

  assign par_o     = par_q;
  assign crc_and_o = crc_and_q;
  assign crc_xor_o = crc_xor_q;
  assign sum_and_o = sum_and_q;

  // Returns the sum of thirty 16-bit words, folded. The words have their first byte low, so the sum
  // comes out with its bytes swapped: checksums are kept in this order, that of the frame.
  function automatic logic [15:0] sum30(input logic [479:0] d);
    logic [31:0] s;
    s = 32'd0;
    for (int i = 0; i < 30; i++) s = s + {16'd0, d[16*i +: 16]};
    sum30 = fold(s);
  endfunction

  // Returns the IPv4 header with its checksum zeroed, and the two bytes of a UDP checksum field at
  // byte q of it (beyond 59: not in the header).
  function automatic logic [479:0] header(input logic [479:0] d, input logic [5:0] bytes,
                                          input logic [7:0] q, input logic cut);
    header = d & LowBytes[{2'b00, bytes}][479:0];
    header[95:80] = 16'd0;
    if (cut && q < 8'd60) header[9'(q) * 9'd8 +: 8] = 8'd0;
    if (cut && q + 8'd1 < 8'd60) header[(9'(q) + 9'd1) * 9'd8 +: 8] = 8'd0;
  endfunction

  // Returns whether position or range of the CRC-32C violates contract X1. ip_end: end of the IPv4
  // header; stop: end of the bytes that a CRC-32C may cover.
  function automatic logic crc_bad(input tx_frame_t f, input logic [13:0] ip_end,
                                   input logic [13:0] stop);
    logic [14:0] off, start, after;
    logic        unused_f;
    unused_f = ^f;
    off      = 15'(f.ofl.crc_off);
    start    = 15'(f.ofl.crc_start);
    after    = off + 15'd4;
    crc_bad  = off == start || (off > start && after > 15'(stop)) ||
               (off < start && (after > start || start >= 15'(stop))) ||
               (f.ofl.ip_csum && off < 15'(ip_end)) ||
               ((f.ofl.udp_csum || f.ofl.udp_zero) && off < 15'(f.ofl.l4) + 15'd8) ||
               (f.ofl.icrc && off < 15'(f.ofl.l4) + 15'd20);
  endfunction

  function automatic tx_par_t parse(input tx_frame_t f, input logic [479:0] ip,
                                    input logic [31:0] udp);
    logic [3:0]  ver, ihl;
    logic [5:0]  hl;
    logic [13:0] l3, l4, in128;
    logic [15:0] u;
    logic [13:0] stop;
    logic [13:0] g128;                 // bytes gathered, at most 128
    logic        v4, v6, u_fits, l4_fits, bad_ip, bad_udp, bad_icrc, cut, unused_f;
    logic [7:0]  q;
    unused_f = ^f;
    ver      = ip[7:4];
    ihl      = ip[3:0];
    hl       = {ihl, 2'b00};
    l3       = 14'(f.ofl.l3);
    l4       = 14'(f.ofl.l4);
    in128    = f.len < 14'd128 ? f.len : 14'd128;
    g128     = f.len - 14'(f.app) < in128 ? f.len - 14'(f.app) : in128;
    u        = {udp[7:0], udp[15:8]};
    v4       = ver == 4'd4;
    v6       = ver == 4'd6;
    u_fits   = 17'(l4) + 17'(u) <= 17'(f.len);
    l4_fits  = l4 + 14'd8 <= in128;
    bad_ip   = l3 + 14'd20 > f.len || !v4 || ihl < 4'd5 || l3 + 14'(hl) > in128;
    bad_udp  = !l4_fits || !u_fits || u < 16'd8 || l3 >= l4 ||
               !((v4 && l3 + 14'd20 <= in128) || (v6 && l3 + 14'd40 <= in128));
    bad_icrc = !((v4 && ihl >= 4'd5 && l4 == l3 + 14'(hl)) || (v6 && l4 == l3 + 14'd40)) ||
               l4 + 14'd20 > g128 || u < 16'd24 || !u_fits ||
               (f.app != 3'd0 && 17'(l4) + 17'(u) != 17'(f.len));
    cut      = f.ofl.udp_csum || f.ofl.udp_zero;
    q        = f.ofl.l4 + 8'd6 - f.ofl.l3;

    parse          = '0;
    parse.bad      = (f.ofl.ip_csum && bad_ip) || (f.ofl.udp_csum && bad_udp) ||
                     (f.ofl.udp_zero && !l4_fits) || (f.ofl.icrc && bad_icrc);
    stop           = f.ofl.icrc ? l4 + u[13:0] - 14'd4 : f.len;
    if (f.ofl.crc && crc_bad(f, l3 + 14'(hl), stop)) parse.bad = 1'b1;
    parse.icrc     = f.ofl.icrc && !parse.bad;
    parse.udp_csum = f.ofl.udp_csum && !parse.bad;
    parse.udp_zero = f.ofl.udp_zero && !parse.bad;
    parse.ip_csum  = f.ofl.ip_csum && !parse.bad;
    parse.swap     = f.ofl.l4[0];
    parse.odd_end  = u[0];
    parse.last     = l4 + u[13:0] - (f.ofl.icrc ? 14'd4 : 14'd0);
    parse.crc      = f.ofl.crc && !parse.bad;
    parse.crc_pos  = f.ofl.crc_off;
    parse.crc_from = f.ofl.crc_start;
    parse.crc_upto = f.ofl.crc_off > f.ofl.crc_start ? f.ofl.crc_off : stop;
    if (parse.last > f.ofl.crc_off) begin
      parse.crc_summed = parse.last - f.ofl.crc_off < 14'd4 ?
                         3'(parse.last - f.ofl.crc_off) : 3'd4;
    end
    parse.udp_pos  = f.ofl.l4[6:0] + 7'd6;
    parse.ip_pos   = f.ofl.l3[6:0] + 7'd10;
    if (parse.udp_csum) begin
      parse.udp_base = sum30({v4 ? {368'd0, ip[159:96]} : {176'd0, ip[319:64]},
                              u[7:0], u[15:8], 16'h1100, ~udp[31:16]});
    end
    if (parse.ip_csum) begin
      parse.ip_base  = sum30(header(ip, hl, q, cut));
      parse.ovl_lo   = parse.udp_csum && 8'(q) < 8'(hl) && q != 8'd10 && q != 8'd11;
      parse.ovl_hi   = parse.udp_csum && q + 8'd1 < 8'(hl) && q != 8'd9 && q != 8'd10;
      parse.ovl_swap = q[0];
    end
  endfunction

  always_ff @(posedge clk) begin
    tx_par_t       p;
    logic [95:0]   ones;
    logic [6:0]    l3;
    logic [1023:0] a, x;
    if (valid_i) begin
      p = '0;
      if (frame_i.len != 14'd0 && (frame_i.ofl.ip_csum || frame_i.ofl.udp_csum ||
                                   frame_i.ofl.udp_zero || frame_i.ofl.icrc ||
                                   frame_i.ofl.crc)) begin
        p = parse(frame_i, l3_i, l4_i);
      end
      par_q <= p;
      if (p.icrc) begin
        ones = l3_i[5] ? OnesV6 : OnesV4;
        // Set to ones: the UDP checksum and, six bytes on, BTH byte 4; then the IP header's variant
        // fields.
        l3 = frame_i.ofl.l3[6:0];
        a  = 1024'(in_dw(96'hff_00000000_ffff, p.udp_pos[1:0])) << {p.udp_pos[6:2], 5'b0};
        x  = 1024'(in_dw(ones ^ 96'(nic_crc32_pkg::IcrcSeed), l3[1:0])) << {l3[6:2], 5'b0} | a;
        a  = 1024'(in_dw(ones, l3[1:0])) << {l3[6:2], 5'b0} | a;
        a  = ~(a | LowBytes[{1'b0, l3}]);
        crc_and_q <= a;
        crc_xor_q <= x;
      end
      if (p.udp_csum) sum_and_q <= ~LowBytes[{1'b0, frame_i.ofl.l4[6:0]}];
    end
  end
endmodule
