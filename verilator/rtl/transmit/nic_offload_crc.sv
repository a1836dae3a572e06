/// CRC-32C of a frame's data (contract X1, X2). It sees the same beats as the ICRC and UDP sum
/// engines, which take its four bytes as zero, and adds the contribution of these bytes to their
/// results. One frame a cycle; frames without a CRC-32C pass with the same latency.

module nic_offload_crc
  import nic_tx_pkg::*, nic_crc32_pkg::*;
(
  input  logic         clk,
  input  logic         rst,
  // Beat of a frame whose headers have been parsed.
  input  logic         beat_valid_i,
  input  logic [7:0]   beat_index_i,
  input  logic [511:0] beat_i,
  input  tx_par_t      beat_par_i,
  // Pulse, five cycles after a frame's last beat: rewinds its CRC-32C to the end of its range.
  input  logic         back_i,
  input  tx_par_t      back_par_i,
  // Pulse, three cycles after back_i: ICRC register and UDP sum of the frame are at the inputs.
  input  logic         join_i,
  input  tx_par_t      join_par_i,
  input  logic [31:0]  icrc_i,
  input  logic [15:0]  sum_i,
  // ICRC register eight cycles after join_i, with the CRC-32C's bytes included.
  output logic [31:0]  icrc_o,
  // UDP sum eight cycles after join_i, with the CRC-32C's bytes included.
  output logic [15:0]  sum_o,
  // CRC-32C of the frame, in the same cycle as icrc_o.
  output logic [31:0]  crc_o
);
  // Cycles that a frame waits for its CRC-32C to be advanced; results come in order.
  localparam int Wait = 7;
  localparam int Aw   = 3;

  localparam crc_lead_t Lead = leads(PolyCrc32c);

  typedef struct packed {
    logic        any;
    logic        odd;
    logic [2:0]  summed;     // number of the four bytes that the UDP sum covers
    logic [31:0] icrc;
    logic [15:0] sum;
    logic [31:0] crc;
  } wait_t;

  logic          go_q, first_q;
  logic [511:0]  beat_q;
  logic          unused_valid;
  logic [31:0]   reg_end, crc, shifted;
  wait_t         wait_mem [1 << Aw];
  logic [Aw-1:0] wr_q, rd_q;
  logic [Wait:1] v_q;
  wait_t         w;
  logic [31:0]   icrc_q, crc_q;
  logic [15:0]   sum_q;
  logic          unused_par;

  assign unused_par = ^{beat_par_i, back_par_i, join_par_i};

  // The engines' clock stops Awake cycles after the last activity of a frame with a CRC-32C.
  localparam logic [3:0] Awake = 4'd15;        // cycles, more than the latency of each engine

  logic       clk_g, some;
  logic [3:0] awake_q;

  assign some = (beat_valid_i && beat_par_i.crc) || (back_i && back_par_i.crc) ||
                (join_i && join_par_i.crc);

  nic_clkgate u_gate (
    .clk, .test_en_i(1'b0), .clk_o(clk_g),
    .enable_i(rst || some || awake_q != 4'd0)
  );

  always_ff @(posedge clk_g) begin
    if (some)                 awake_q <= Awake;
    else if (awake_q != 4'd0) awake_q <= awake_q - 4'd1;
    if (rst) awake_q <= '0;
  end

  // Mask the covered bytes of a beat, and XOR in the start value where the range begins.
  always_ff @(posedge clk_g) begin
    logic [511:0] d;
    logic         begins;
    begins  = beat_index_i == beat_par_i.crc_from[13:6];
    go_q    <= beat_valid_i && beat_par_i.crc && beat_index_i >= beat_par_i.crc_from[13:6] &&
               {beat_index_i, 6'd0} < beat_par_i.crc_upto && !rst;
    first_q <= begins;
    if (beat_valid_i && beat_par_i.crc) begin
      d = beat_i;
      if (beat_index_i == beat_par_i.crc_upto[13:6]) begin
        d = d & LowBytes[{2'b00, beat_par_i.crc_upto[5:0]}][511:0];
      end
      if (begins) begin
        d       = d & ~LowBytes[{2'b00, beat_par_i.crc_from[5:0]}][511:0];
        d[31:0] = d[31:0] ^ Lead[beat_par_i.crc_from[5:0]];
      end
      beat_q <= d;
    end
  end

  nic_crc32 #(.Poly(PolyCrc32c)) u_crc (
    .clk(clk_g), .rst, .valid_i(go_q), .first_i(first_q), .data_i(beat_q), .valid_o(unused_valid),
    .crc_o(reg_end)
  );

  nic_crc32_back #(.Poly(PolyCrc32c)) u_back (
    .clk(clk_g), .valid_i(back_i && back_par_i.crc), .crc_i(reg_end),
    .bytes_i(6'd0 - back_par_i.crc_upto[5:0]), .crc_o(crc)
  );

  nic_crc32_fwd #(.Poly(PolyCrc32)) u_fwd (
    .clk(clk_g), .valid_i(join_i && join_par_i.crc && join_par_i.icrc), .crc_i(~crc),
    .bytes_i(join_par_i.last - join_par_i.crc_pos), .crc_o(shifted)
  );

  assign w      = wait_mem[rd_q];
  assign icrc_o = icrc_q;
  assign sum_o  = sum_q;
  assign crc_o  = crc_q;

  always_ff @(posedge clk) begin
    logic [31:0] c;
    logic [15:0] s;
    v_q <= {v_q[Wait-1:1], join_i};
    if (join_i) begin
      wait_mem[wr_q] <= '{any: join_par_i.crc, odd: join_par_i.crc_pos[0],
                          summed: join_par_i.crc_summed, icrc: icrc_i, sum: sum_i, crc: ~crc};
      wr_q           <= wr_q + 1'b1;
    end
    if (v_q[Wait]) begin
      rd_q   <= rd_q + 1'b1;
      icrc_q <= w.any ? w.icrc ^ shifted : w.icrc;
      crc_q  <= w.crc;
      c      = w.crc & LowBytes[{5'd0, w.summed}][31:0];
      s      = add1c(c[15:0], c[31:16]);
      if (w.odd) s = {s[7:0], s[15:8]};
      sum_q  <= w.any ? add1c(w.sum, s) : w.sum;
    end
    if (rst) begin
      v_q  <= '0;
      wr_q <= '0;
      rd_q <= '0;
    end
  end
endmodule
