/// Completes a frame's offloads: rewinds the ICRC, adds it to the UDP sum, and the UDP checksum to
/// the IPv4 sum where their fields overlap. One frame a cycle, ten cycles deep; eight more with
/// part crc32c, whose CRC is first added to ICRC and UDP sum.

module nic_offload_fin
  import nic_pkg::*, nic_tx_pkg::*;
#(
  // Optional parts in this build, as the bits of register CAP1.
  parameter int unsigned Parts = PartsDefault
) (
  input  logic        clk,
  input  logic        rst,
  // Pulse: the last beat of frame_i goes into the CRC and sum engines.
  input  logic        valid_i,
  input  tx_frame_t   frame_i,
  input  tx_par_t     par_i,
  // Result of the ICRC engine, four cycles later.
  input  logic [31:0] crc_i,
  // Result of the sum engine, four cycles later.
  input  logic [15:0] sum_i,
  // The beat that reaches the CRC and sum engines in the next cycle.
  input  logic         beat_valid_i,
  input  logic [7:0]   beat_index_i,
  input  logic [511:0] beat_i,
  input  tx_par_t      beat_par_i,
  // Pulse: a frame with the results to patch into it.
  output logic        valid_o,
  output tx_out_t     out_o
);
  // Sum: stage at which a frame's ICRC and the UDP sum of its bytes are known; Depth: last stage. A
  // frame waits in hold_mem from the first stage to the last.
  localparam bit HasCrc = (Parts & PartCrc32c) != 0;
  localparam int Sum    = HasCrc ? 15 : 7;
  localparam int Depth  = Sum + 3;
  localparam int Aw     = HasCrc ? 5 : 4;

  typedef struct packed {
    tx_frame_t f;
    tx_par_t   p;
  } hold_t;

  logic [Depth:1]  v_q;
  hold_t           hold_mem [1 << Aw];
  logic [Aw-1:0]   wr_q, rewind_q, sum_q, ip_q, out_q;   // each stage's next slot
  tx_par_t         par4, par_sum, par_ip;
  hold_t           last;
  logic [15:0]     sum5_q, sum6_q, sum7_q;
  logic [31:0]     crc7, crc_sum;
  logic [15:0]     sum_sum;
  // Registers of the stages Sum + 1, Sum + 2 and Sum + 3, by their number.
  logic [31:0]     icrc1_q, icrc2_q, icrc3_q;
  logic [17:0]     total1_q;
  logic            zero1_q;
  logic [15:0]     udp2_q, udp3_q, ip3_q;
  logic [31:0]     c32, c32_3;
  logic            unused_hold;

  // Read the frame at each stage that holds one.
  always_comb begin
    par4    = '0;
    par_sum = '0;
    par_ip  = '0;
    last    = '0;
    if (v_q[4])     par4    = hold_mem[rewind_q].p;
    if (v_q[Sum])   par_sum = hold_mem[sum_q].p;
    if (v_q[Sum+2]) par_ip  = hold_mem[ip_q].p;
    if (v_q[Depth]) last    = hold_mem[out_q];
  end

  assign unused_hold = ^{par4, par_sum, par_ip, last};

  nic_crc32_back u_back (
    .clk, .valid_i(v_q[4] && par4.icrc), .crc_i, .bytes_i(6'd0 - par4.last[5:0]), .crc_o(crc7)
  );

  // Add the CRC-32C's contribution to ICRC and UDP sum.
  if (HasCrc) begin : g_crc
    logic [Aw-1:0] join_q;
    tx_par_t       par7;
    logic [31:0]   c32_1_q, c32_2_q, c32_3_q;

    always_comb begin
      par7 = '0;
      if (v_q[7]) par7 = hold_mem[join_q].p;
    end
    assign c32_3 = c32_3_q;

    nic_offload_crc u_crc (
      .clk, .rst, .beat_valid_i, .beat_index_i, .beat_i, .beat_par_i, .back_i(v_q[4]),
      .back_par_i(par4), .join_i(v_q[7]), .join_par_i(par7), .icrc_i(crc7), .sum_i(sum7_q),
      .icrc_o(crc_sum), .sum_o(sum_sum), .crc_o(c32)
    );

    always_ff @(posedge clk) begin
      if (v_q[7])       join_q  <= join_q + 1'b1;
      if (v_q[Sum])     c32_1_q <= c32;
      if (v_q[Sum + 1]) c32_2_q <= c32_1_q;
      if (v_q[Sum + 2]) c32_3_q <= c32_2_q;
      if (rst) join_q <= '0;
    end
  end else begin : g_no_crc
    logic unused_beat;
    assign unused_beat = ^{beat_valid_i, beat_index_i, beat_i, beat_par_i, c32};
    assign c32         = '0;
    assign c32_3       = '0;
    assign crc_sum     = crc7;
    assign sum_sum     = sum7_q;
  end

  always_ff @(posedge clk) begin
    logic [15:0] w;
    logic [31:0] c;
    v_q <= {v_q[Depth-1:1], valid_i};
    if (valid_i) begin
      hold_mem[wr_q] <= '{f: frame_i, p: par_i};
      wr_q           <= wr_q + 1'b1;
    end
    if (v_q[4])     rewind_q <= rewind_q + 1'b1;
    if (v_q[Sum])   sum_q    <= sum_q + 1'b1;
    if (v_q[Sum+2]) ip_q     <= ip_q + 1'b1;
    if (v_q[Depth]) out_q    <= out_q + 1'b1;

    if (v_q[4]) sum5_q <= sum_i;
    if (v_q[5]) sum6_q <= sum5_q;
    if (v_q[6]) sum7_q <= sum6_q;

    // UDP checksum: sum of the bytes from the UDP header on, pseudo header, ICRC.
    if (v_q[Sum]) begin
      c        = par_sum.icrc ? ~crc_sum : 32'd0;
      w        = add1c(c[15:0], c[31:16]);
      if (par_sum.odd_end) w = {w[7:0], w[15:8]};
      icrc1_q  <= c;
      zero1_q  <= par_sum.udp_zero;
      total1_q <= 18'(par_sum.udp_base) + 18'(w) +
                  (par_sum.swap ? {2'b0, sum_sum[7:0], sum_sum[15:8]} : {2'b0, sum_sum});
    end
    if (v_q[Sum+1]) begin
      icrc2_q <= icrc1_q;
      w       = ~fold(32'(total1_q));
      udp2_q  <= zero1_q ? 16'd0 : w == 16'd0 ? 16'hffff : w;
    end
    // IPv4 checksum: add those bytes of the UDP checksum field that lie in the IPv4 header.
    if (v_q[Sum+2]) begin
      icrc3_q <= icrc2_q;
      udp3_q  <= udp2_q;
      w        = {par_ip.ovl_hi ? udp2_q[15:8] : 8'd0, par_ip.ovl_lo ? udp2_q[7:0] : 8'd0};
      ip3_q   <= ~add1c(par_ip.ip_base, par_ip.ovl_swap ? {w[7:0], w[15:8]} : w);
    end
    if (rst) begin
      v_q      <= '0;
      wr_q     <= '0;
      rewind_q <= '0;
      sum_q    <= '0;
      ip_q     <= '0;
      out_q    <= '0;
    end
  end

  assign valid_o = v_q[Depth];

  always_comb begin
    out_o = '0;
    if (v_q[Depth]) begin
      out_o.id       = last.f.id;
      if (last.p.bad && last.f.id.status == 8'(StatusOk)) out_o.id.status = StatusBadOffload;
      out_o.len      = last.f.len;
      out_o.icrc     = last.p.icrc;
      out_o.icrc_pos = last.p.last;
      out_o.icrc_val = icrc3_q;
      out_o.crc      = last.p.crc;
      out_o.crc_pos  = last.p.crc_pos;
      out_o.crc_val  = c32_3;
      out_o.udp      = last.p.udp_csum || last.p.udp_zero;
      out_o.udp_pos  = last.p.udp_pos;
      out_o.udp_val  = udp3_q;
      out_o.ip       = last.p.ip_csum;
      out_o.ip_pos   = last.p.ip_pos;
      out_o.ip_val   = ip3_q;
    end
  end
endmodule
