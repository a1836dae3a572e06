/// Parser: Ethernet, VLAN, IPv4, IPv6, UDP, TCP and BTH from a frame's first 128 bytes. Three
/// stages, one a layer; accepts a new frame every cycle. nic_parse_end completes the result when
/// the frame's length is known.

module nic_parse
  import nic_int_pkg::*;
  import nic_pkg::*;
  import nic_rx_pkg::*;
#(
  // Optional parts in this build, as the bits of register CAP1.
  parameter int unsigned Parts = PartsDefault
) (
  input  logic              clk,
  input  logic [15:0]       roce_port_i,
  // Pulse: window_i is the first two beats of a frame, of which avail_i bytes are the frame's.
  input  logic              start_i,
  input  logic [2*EthW-1:0] window_i,
  input  logic [7:0]        avail_i,
  // Header fields, three cycles after start_i; held until those of the next frame.
  output rx_parse_t         parse_o,
  // Sum of the UDP pseudo header as 32-bit words, first byte lowest; valid together with parse_o.
  output logic [35:0]       pseudo_o
);
  localparam bit HasCrc32c = (Parts & PartCrc32c) != 0;
  localparam bit HasEcn    = (Parts & PartEcn) != 0;

  localparam int L3Bits  = 640;    // the longest IPv4 header and the 20 bytes after it
  localparam int L4Bits  = 160;
  localparam int WinBits = 22 * 8 + L3Bits;

  typedef struct packed {
    logic [1:0]  tags;
    logic [7:0]  l3_off;
    logic [47:0] dmac;
    logic [15:0] ethertype;
    logic [15:0] vlan_outer;
    logic [15:0] vlan_inner;
  } link_t;

  typedef struct packed {
    logic         v4;
    logic         v6;
    logic [5:0]   hl;         // header length, bytes
    logic         look;       // a transport header may follow
    logic         frag;
    logic [7:0]   proto;
    logic [7:0]   tos;
    logic [127:0] src;
    logic [127:0] dst;
    logic         ip_short;
    logic [16:0]  total;      // length of the datagram, bytes
    logic [15:0]  ecn_csum;
  } net_t;

  logic              go1_q, go2_q;
  link_t             link_q, link2_q;
  net_t              net_q;
  logic [5:0]        hl;
  logic [7:0]        avail, avail_q, avail2_q;
  logic [L3Bits-1:0] l3_q;
  logic [L4Bits-1:0] l4_q;
  logic [35:0]       sum_q, pseudo_q;
  rx_parse_t         parse_q;

  // Returns the big-endian 16-bit number whose first byte is in the low bits of b.
  function automatic logic [15:0] be16(input logic [15:0] b);
    be16 = {b[7:0], b[15:8]};
  endfunction

  function automatic logic is_tag(input logic [15:0] t);
    is_tag = t == 16'h8100 || t == 16'h88a8;
  endfunction

  // Parses Ethernet and VLAN tags: destination address, and bytes 12 to 21 of the frame.
  function automatic link_t parse_link(input logic [47:0] dmac, input logic [79:0] w);
    logic one, two;
    one = is_tag(be16(w[15:0]));
    two = one && is_tag(be16(w[47:32]));
    parse_link.tags       = {two, one && !two};
    parse_link.l3_off     = two ? 8'd22 : one ? 8'd18 : 8'd14;
    parse_link.dmac       = dmac;
    parse_link.ethertype  = be16(two ? w[79:64] : one ? w[47:32] : w[15:0]);
    parse_link.vlan_outer = one ? be16(w[31:16]) : 16'h0;
    parse_link.vlan_inner = two ? be16(w[63:48]) : 16'h0;
  endfunction

  // Returns the bytes from l3_off on.
  function automatic logic [L3Bits-1:0] l3_of(input logic [WinBits-1:112] w, input logic [1:0] t);
    l3_of = t == 2'd2 ? w[8*22 +: L3Bits] : t == 2'd1 ? w[8*18 +: L3Bits] : w[8*14 +: L3Bits];
  endfunction

  function automatic logic [1:0] tags_of(input logic [15:0] t0, input logic [15:0] t1);
    tags_of = !is_tag(be16(t0)) ? 2'd0 : is_tag(be16(t1)) ? 2'd2 : 2'd1;
  endfunction

  function automatic logic is_v4(input logic [15:0] ethertype, input logic [7:0] w,
                                 input logic [7:0] room);
    is_v4 = ethertype == 16'h0800 && w[7:4] == 4'h4 && w[3:0] >= 4'd5 &&
            room >= {2'b0, w[3:0], 2'b0};
  endfunction

  // Returns an IPv4 header checksum as it becomes when the ECN bits change from 1 or 2 to 3.
  function automatic logic [15:0] marked(input logic [15:0] csum, input logic [1:0] ecn);
    logic [16:0] sum;
    sum    = {1'b0, ~csum} + (ecn == 2'd1 ? 17'd2 : 17'd1);
    marked = ~(sum[15:0] + 16'(sum[16]));
  endfunction

  // Parses the first 40 bytes of the IP header.
  function automatic net_t parse_net(input logic [15:0] ethertype, input logic [319:0] w,
                                     input logic [7:0] room);
    parse_net.v4       = is_v4(ethertype, w[7:0], room);
    parse_net.v6       = ethertype == 16'h86dd && w[7:4] == 4'h6 && room >= 8'd40;
    parse_net.hl       = parse_net.v4 ? {w[3:0], 2'b0} : 6'd40;
    parse_net.look     = parse_net.v4 ? {w[8*6 +: 5], w[8*7 +: 8]} == 13'h0 : parse_net.v6;
    parse_net.frag     = parse_net.v4 && (w[8*6 + 5] || !parse_net.look);
    parse_net.proto    = parse_net.v4 ? w[8*9 +: 8] : parse_net.v6 ? w[8*6 +: 8] : 8'h0;
    parse_net.tos      = parse_net.v4 ? w[15:8] : parse_net.v6 ? {w[3:0], w[15:12]} : 8'h0;
    parse_net.src      = parse_net.v4 ? 128'(w[8*12 +: 32]) :
                         parse_net.v6 ? w[8*8 +: 128] : 128'h0;
    parse_net.dst      = parse_net.v4 ? 128'(w[8*16 +: 32]) :
                         parse_net.v6 ? w[8*24 +: 128] : 128'h0;
    parse_net.total    = parse_net.v4 ? 17'(be16(w[31:16])) : 17'(be16(w[47:32])) + 17'd40;
    parse_net.ecn_csum = HasEcn ? marked(be16(w[8*10 +: 16]), w[9:8]) : 16'h0;
    parse_net.ip_short = parse_net.v4 && parse_net.total < 17'(parse_net.hl);
  endfunction

  // Returns the 20 bytes after an IP header.
  function automatic logic [L4Bits-1:0] l4_of(input logic [L3Bits-1:0] w, input logic [5:0] len);
    l4_of = w[{1'b0, len, 3'b0} +: L4Bits];
  endfunction

  // Returns the sum of an IPv4 header's words.
  function automatic logic [35:0] header_sum(input logic [479:0] w);
    header_sum = '0;
    for (int i = 0; i < 15; i++) if (4'(i) < w[3:0]) header_sum += 36'(w[32*i +: 32]);
  endfunction

  // Returns whether the sum, folded to 16 bits in ones' complement, is all ones.
  function automatic logic sum_ok(input logic [35:0] s);
    logic [17:0] a;
    logic [16:0] b;
    a = 18'(s[15:0]) + 18'(s[31:16]) + 18'(s[35:32]);
    b = 17'(a[15:0]) + 17'(a[17:16]);
    sum_ok = b == 17'h0ffff || b == 17'h1fffe;
  endfunction

  // Returns the sum of the pseudo header: addresses, protocol 17, and the length as it lies in the
  // frame.
  function automatic logic [35:0] pseudo_sum(input logic [127:0] src, input logic [127:0] dst,
                                             input logic [15:0] length);
    pseudo_sum = 36'h1100 + 36'(length);
    for (int i = 0; i < 4; i++) pseudo_sum += 36'(src[32*i +: 32]) + 36'(dst[32*i +: 32]);
  endfunction

  // Returns the bytes of extension headers after the BTH (contract H7).
  function automatic logic [7:0] bth_ext(input logic [7:0] opcode);
    unique case (opcode)
      8'h06, 8'h0a, 8'h0c, 8'h26, 8'h2a, 8'h81: bth_ext = 8'd16;
      8'h0b, 8'h2b:                             bth_ext = 8'd20;
      8'h13, 8'h14:                             bth_ext = 8'd28;
      8'h12, 8'h65:                             bth_ext = 8'd12;
      8'h64:                                    bth_ext = 8'd8;
      8'h03, 8'h05, 8'h09, 8'h0d, 8'h0f, 8'h10,
      8'h11, 8'h16, 8'h17, 8'h23, 8'h25, 8'h29: bth_ext = 8'd4;
      default:                                  bth_ext = 8'd0;
    endcase
  endfunction

  // Builds the parser's result from the layers below and the 20 bytes after the IP header (l4_q).
  function automatic rx_parse_t parse_transport(input link_t k, input net_t n,
                                                input logic [7:0] room, input logic csum_ok);
    rx_parse_t   r;
    logic        udp, tcp, roce;
    logic [15:0] ul;
    logic [7:0]  doff, off;
    off  = k.l3_off + 8'(n.hl);
    udp  = n.look && n.proto == 8'd17 && room >= 8'd8;
    tcp  = n.look && n.proto == 8'd6 && room >= 8'd20;
    roce = udp && be16(l4_q[31:16]) == roce_port_i && room >= 8'd20;
    ul   = be16(l4_q[47:32]);
    doff = {2'b0, l4_q[8*12 + 4 +: 4], 2'b0};
    r    = '0;
    r.key.ip_proto   = n.proto;
    r.key.is_ipv4    = n.v4;
    r.key.is_ipv6    = n.v6;
    r.key.is_udp     = udp;
    r.key.is_tcp     = tcp;
    r.key.is_roce    = roce;
    r.key.is_frag    = n.frag;
    r.key.has_vlan   = k.tags != 2'd0;
    r.key.has_vlan2  = k.tags == 2'd2;
    r.key.ethertype  = k.ethertype;
    r.key.vlan_outer = k.vlan_outer;
    r.key.dmac       = k.dmac;
    r.key.ip_tos     = n.tos;
    r.key.src_addr   = n.src;
    r.key.dst_addr   = n.dst;
    r.tags       = k.tags;
    r.vlan_inner = k.vlan_inner;
    r.l3_off     = k.l3_off;
    r.ip_short   = n.ip_short;
    r.ip_end     = 17'(k.l3_off) + n.total;
    r.ip_csum_ok = csum_ok;
    r.ecn_csum   = n.ecn_csum;
    r.pay_alt    = n.v4 || n.v6 ? off : k.l3_off;
    if (udp || tcp) begin
      r.key.src_port = be16(l4_q[15:0]);
      r.key.dst_port = be16(l4_q[31:16]);
      r.l4_off  = off;
      r.pay_alt = off + (udp && !roce ? 8'd8 : 8'd20);
    end
    r.pay_off = r.pay_alt;
    if (tcp && doff >= 8'd20) r.pay_off = off + doff;
    if (udp) begin
      r.l4_short  = ul < 16'd8;
      r.l4_end    = 17'(off) + 17'(ul);
      r.l4_want   = l4_q[63:48] != 16'h0 && !n.frag;
      r.icrc_want = roce && ul >= 16'd24 && !n.frag;
    end
    r.pay_end = '1;
    if (HasCrc32c) begin
      if (udp) begin
        if (!r.l4_short) r.pay_end = r.l4_end - (roce ? 17'd4 : 17'd0);
      end else if ((n.v4 || n.v6) && !n.ip_short) r.pay_end = r.ip_end;
    end
    if (roce) begin
      r.key.bth_opcode = l4_q[8*8 +: 8];
      r.key.dest_qp    = {8'h0, l4_q[8*13 +: 8], be16(l4_q[8*14 +: 16])};
      r.bth_flags      = l4_q[8*9 +: 8];
      r.pkey           = be16(l4_q[8*10 +: 16]);
      r.ack_req        = l4_q[8*16 + 7];
      r.psn            = {l4_q[8*17 +: 8], be16(l4_q[8*18 +: 16])};
      r.pay_off        = r.pay_alt + bth_ext(l4_q[8*8 +: 8]);
    end
    return r;
  endfunction

  assign parse_o  = parse_q;
  assign pseudo_o = pseudo_q;
  assign avail    = avail_q - link_q.l3_off;
  assign hl       = is_v4(link_q.ethertype, l3_q[7:0], avail) ? {l3_q[3:0], 2'b0} : 6'd40;

  always_ff @(posedge clk) begin
    go1_q <= start_i;
    go2_q <= go1_q;
    if (start_i) begin
      link_q  <= parse_link(window_i[47:0], window_i[8*12 +: 80]);
      l3_q    <= l3_of(window_i[WinBits-1:112],
                       tags_of(window_i[8*12 +: 16], window_i[8*16 +: 16]));
      avail_q <= avail_i;
    end
    if (go1_q) begin
      net_q    <= parse_net(link_q.ethertype, l3_q[319:0], avail);
      sum_q    <= header_sum(l3_q[479:0]);
      l4_q     <= l4_of(l3_q, hl);
      link2_q  <= link_q;
      avail2_q <= avail - 8'(hl);
    end
    if (go2_q) begin
      parse_q  <= parse_transport(link2_q, net_q, avail2_q, sum_ok(sum_q));
      pseudo_q <= pseudo_sum(net_q.src, net_q.dst, l4_q[47:32]);
    end
  end

  // Source address and the bytes beyond the longest headers are not used.
  logic unused_bits;
  assign unused_bits = ^{window_i[2*EthW-1:WinBits], window_i[95:48], l4_q[134:128],
                         l4_q[99:96]};
endmodule
