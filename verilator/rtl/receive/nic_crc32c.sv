/// CRC-32C of a frame's payload, one beat a cycle: from the end of the headers to the end of the
/// datagram or of the frame (contract X3). Bytes outside the range are taken as zero; the register
/// is rewound over those after it at the end.

module nic_crc32c
  import nic_int_pkg::*;
  import nic_pkg::*;
  import nic_rx_pkg::*;
  import nic_crc32_pkg::*;
(
  input  logic            clk,
  input  logic            rst,
  // Beats, aligned with the parser's result.
  input  rx_beat_t        beat_i,
  input  logic [EthW-1:0] data_i,
  // High if the frame has a range to be checked.
  input  logic            want_i,
  // Offset of the range's first byte in the frame.
  input  logic [7:0]      from_i,
  // End of the range; if beyond the frame, the range ends with the frame.
  input  logic [16:0]     upto_i,
  // CRC of the range, nine cycles after the frame's last beat; 0 if the range is empty.
  output logic [31:0]     value_o,
  // In the same cycle as value_o: whether the range's last four bytes are the CRC of those before
  // them (contract X4).
  output verdict_e        verdict_o
);
  // The shortest range that can be checked: one byte and the four of its CRC.
  localparam int CheckMin = 5;
  localparam crc_lead_t Lead = leads(PolyCrc32c);

  logic            start, use_beat, go_q, first_q;
  logic [5:0]      lo, hi;
  logic [13:0]     here;                 // end of the frame's bytes so far
  logic [16:0]     upto;
  logic [EthW-1:0] data_q;

  always_comb begin
    here     = '0;
    upto     = '0;
    start    = 1'b0;
    use_beat = 1'b0;
    lo       = '0;
    hi       = '0;
    if (beat_i.valid && want_i) begin
      here     = beat_i.base + 14'(beat_i.bytes);
      upto     = upto_i < 17'(here) ? upto_i : 17'(here);
      start    = beat_i.base[13:6] == 8'(from_i[7:6]);
      use_beat = beat_i.base[13:6] >= 8'(from_i[7:6]) && 14'(from_i) < here &&
                 17'(from_i) < upto && 17'(beat_i.base) < upto;
      if (start) lo = from_i[5:0];
      if (upto[16:6] == 11'(beat_i.base[13:6])) hi = upto[5:0];
    end
  end

  // Returns the beat with bytes outside lo .. hi-1 zeroed (hi 0: to its end), and with the start
  // value XORed in where the range begins.
  function automatic logic [EthW-1:0] covered(input logic [EthW-1:0] d);
    covered = d;
    if (lo != 6'd0) covered &= {EthW{1'b1}} << {lo, 3'b0};
    if (hi != 6'd0) covered &= ~({EthW{1'b1}} << {hi, 3'b0});
    if (start) covered[31:0] = covered[31:0] ^ Lead[lo];
  endfunction

  always_ff @(posedge clk) begin
    go_q <= use_beat;
    if (use_beat) begin
      first_q <= start;
      data_q  <= covered(data_i);
    end
    if (rst) go_q <= 1'b0;
  end

  logic        crc_valid;
  logic [31:0] crc, back;

  nic_crc32 #(.Poly(PolyCrc32c)) u_crc (
    .clk, .rst,
    .valid_i (go_q),
    .first_i (first_q),
    .data_i  (data_q),
    .valid_o (crc_valid),
    .crc_o   (crc)
  );

  // Range of a frame, known with its last beat; delayed by the depth of the CRC engine and the
  // rewind.
  typedef struct packed {
    logic       some;        // the range is not empty
    logic       check;       // the range has CheckMin bytes or more
    logic [5:0] fill;        // zero bytes after the range in its last beat
  } range_t;

  localparam int Engine = 5, Back = 3;

  logic [Engine+Back-1:0] last_q;
  range_t                 range;
  range_t [Engine+Back-1:0] range_q;

  always_comb begin
    range = '0;
    if (beat_i.valid && beat_i.last) begin
      range.some  = want_i && 14'(from_i) <= here && 17'(from_i) < upto;
      range.check = range.some && 17'(from_i) + 17'(CheckMin) <= upto;
      range.fill  = 6'd0 - upto[5:0];
    end
  end

  nic_crc32_back #(.Poly(PolyCrc32c)) u_back (
    .clk,
    .valid_i (last_q[Engine-1]),
    .crc_i   (crc),
    .bytes_i (range_q[Engine-1].fill),
    .crc_o   (back)
  );

  logic [31:0] value_q;
  verdict_e    verdict_q;

  assign value_o   = value_q;
  assign verdict_o = verdict_q;

  always_ff @(posedge clk) begin
    last_q <= {last_q[Engine+Back-2:0], beat_i.valid && beat_i.last};
    if (last_q != '0 || (beat_i.valid && beat_i.last)) begin
      range_q <= {range_q[Engine+Back-2:0], range};
    end
    if (last_q[Engine+Back-1]) begin
      value_q   <= range_q[Engine+Back-1].some ? ~back : 32'h0;
      verdict_q <= !range_q[Engine+Back-1].check ? VerdictNotChecked :
                   ~back == 32'(Crc32cResidue)   ? VerdictOk : VerdictBad;
    end
    if (rst) last_q <= '0;
  end

  logic unused_bits;
  assign unused_bits = ^{beat_i.first, beat_i.off, crc_valid};
endmodule
