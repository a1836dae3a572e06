/// Ends a frame's offloads: rewinds the CRC, adds the ICRC to the UDP sum, and both to the IPv4
/// sum where they overlap. One frame a cycle, ten cycles deep.

module nic_offload_fin
  import nic_pkg::*, nic_tx_pkg::*;
(
  input  logic        clk,
  input  logic        rst,
  // The frame whose last beat goes into the CRC and sum engines in this cycle.
  input  logic        valid_i,
  input  tx_frame_t   frame_i,
  input  tx_par_t     par_i,
  // Their results, four cycles later.
  input  logic [31:0] crc_i,
  input  logic [15:0] sum_i,
  output logic        valid_o,
  output tx_out_t     out_o
);
  // Stages; frames between them wait in a memory.
  localparam int Depth = 10;
  localparam int Aw    = 4;

  typedef struct packed {
    tx_frame_t f;
    tx_par_t   p;
  } hold_t;

  logic [Depth:1]  v_q;
  hold_t           hold_mem [1 << Aw];
  logic [Aw-1:0]   wr_q, rewind_q, sum_q, ip_q, out_q;   // next frame of each stage
  tx_par_t         par4, par7, par9;
  hold_t           last;
  logic [15:0]     sum5_q, sum6_q, sum7_q;
  logic [31:0]     crc7, icrc8_q, icrc9_q, icrc10_q;
  logic [17:0]     total8_q;
  logic            zero8_q;
  logic [15:0]     udp9_q, udp10_q, ip10_q;
  logic            unused_hold;

  assign par4        = hold_mem[rewind_q].p;
  assign par7        = hold_mem[sum_q].p;
  assign par9        = hold_mem[ip_q].p;
  assign last        = hold_mem[out_q];
  assign unused_hold = ^{par4, par7, par9, last};

  nic_crc32_back u_back (
    .clk, .valid_i(v_q[4] && par4.icrc), .crc_i, .bytes_i(6'd0 - par4.last[5:0]), .crc_o(crc7)
  );

  always_ff @(posedge clk) begin
    logic [15:0] w;
    logic [31:0] c;
    v_q <= {v_q[Depth-1:1], valid_i};
    if (valid_i) begin
      hold_mem[wr_q] <= '{f: frame_i, p: par_i};
      wr_q           <= wr_q + 1'b1;
    end
    if (v_q[4])     rewind_q <= rewind_q + 1'b1;
    if (v_q[7])     sum_q    <= sum_q + 1'b1;
    if (v_q[9])     ip_q     <= ip_q + 1'b1;
    if (v_q[Depth]) out_q    <= out_q + 1'b1;

    if (v_q[4]) sum5_q <= sum_i;
    if (v_q[5]) sum6_q <= sum5_q;
    if (v_q[6]) sum7_q <= sum6_q;

    // UDP: bytes from the header on, pseudo header, ICRC.
    if (v_q[7]) begin
      c        = par7.icrc ? ~crc7 : 32'd0;
      w        = add1c(c[15:0], c[31:16]);
      if (par7.odd_end) w = {w[7:0], w[15:8]};
      icrc8_q  <= c;
      zero8_q  <= par7.udp_zero;
      total8_q <= 18'(par7.udp_base) + 18'(w) +
                  (par7.swap ? {2'b0, sum7_q[7:0], sum7_q[15:8]} : {2'b0, sum7_q});
    end
    if (v_q[8]) begin
      icrc9_q <= icrc8_q;
      w       = ~fold(32'(total8_q));
      udp9_q  <= zero8_q ? 16'd0 : w == 16'd0 ? 16'hffff : w;
    end
    // IPv4 header: what of the UDP checksum stands in it.
    if (v_q[9]) begin
      icrc10_q <= icrc9_q;
      udp10_q  <= udp9_q;
      w        = {par9.ovl_hi ? udp9_q[15:8] : 8'd0, par9.ovl_lo ? udp9_q[7:0] : 8'd0};
      ip10_q   <= ~add1c(par9.ip_base, par9.ovl_swap ? {w[7:0], w[15:8]} : w);
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
    out_o          = '0;
    out_o.id       = last.f.id;
    if (last.p.bad && last.f.id.status == 8'(StatusOk)) out_o.id.status = StatusBadOffload;
    out_o.port     = last.f.port;
    out_o.len      = last.f.len;
    out_o.icrc     = last.p.icrc;
    out_o.icrc_pos = last.p.last;
    out_o.icrc_val = icrc10_q;
    out_o.udp      = last.p.udp_csum || last.p.udp_zero;
    out_o.udp_pos  = last.p.udp_pos;
    out_o.udp_val  = udp10_q;
    out_o.ip       = last.p.ip_csum;
    out_o.ip_pos   = last.p.ip_pos;
    out_o.ip_val   = ip10_q;
  end
endmodule
