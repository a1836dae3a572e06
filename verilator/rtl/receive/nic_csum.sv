/// UDP checksum over a frame, one beat a cycle: pseudo header and the datagram's bytes. Sums 32-bit
/// words with the first byte lowest: this gives the ones' complement sum with its bytes swapped,
/// which is enough to check it. Headers begin at even offsets, so no 16-bit word spans two beats.

module nic_csum
  import nic_int_pkg::*;
  import nic_rx_pkg::*;
(
  input  logic            clk,
  // Beats, aligned with the parser's result.
  input  rx_beat_t        beat_i,
  input  logic [EthW-1:0] data_i,
  // High if the frame has a UDP checksum to be checked.
  input  logic            want_i,
  // Offset of the UDP header in the frame.
  input  logic [7:0]      from_i,
  // End of the UDP datagram.
  input  logic [16:0]     upto_i,
  // Sum of the pseudo header (nic_parse).
  input  logic [35:0]     pseudo_i,
  // High if the checksum is right; valid three cycles after the frame's last beat.
  output logic            ok_o
);
  logic              go_q, first_q, last_q, last2_q;
  logic [39:0]       part_q;
  logic [47:0]       acc_q;
  logic              ok_q;
  logic              all, none;
  logic [5:0]        lo, hi;

  function automatic logic [39:0] sum_of(input logic [EthW-1:0] d);
    sum_of = '0;
    for (int i = 0; i < EthW / 32; i++) sum_of += 40'(d[32*i +: 32]);
  endfunction

  // Returns a mask of bytes l to h-1 of a beat; h = 0: up to its end.
  function automatic logic [EthW-1:0] mask_of(input logic [5:0] l, input logic [5:0] h);
    mask_of = {EthW{1'b1}} << {l, 3'b0};
    if (h != 6'd0) mask_of &= ~({EthW{1'b1}} << {h, 3'b0});
  endfunction

  function automatic logic fold_ok(input logic [47:0] s);
    logic [17:0] a;
    logic [16:0] b;
    a = 18'(s[15:0]) + 18'(s[31:16]) + 18'(s[47:32]);
    b = 17'(a[15:0]) + 17'(a[17:16]);
    fold_ok = b == 17'h0ffff || b == 17'h1fffe;
  endfunction

  // The bytes of this beat that are summed: from lo up to, not including, hi (0: to the end).
  always_comb begin
    lo   = beat_i.base[13:6] == 8'(from_i[7:6]) ? from_i[5:0] : 6'd0;
    hi   = beat_i.base[13:6] == 8'(upto_i[13:6]) ? upto_i[5:0] : 6'd0;
    none = beat_i.base[13:6] < 8'(from_i[7:6]) || 17'(beat_i.base) >= upto_i;
    all  = lo == 6'd0 && hi == 6'd0;
  end

  assign ok_o = ok_q;

  always_ff @(posedge clk) begin
    go_q    <= beat_i.valid && want_i;
    first_q <= beat_i.first;
    last_q  <= beat_i.last;
    if (beat_i.valid && want_i) begin
      if (none)     part_q <= beat_i.first ? 40'(pseudo_i) : 40'h0;
      else if (all) part_q <= sum_of(data_i) + (beat_i.first ? 40'(pseudo_i) : 40'h0);
      else          part_q <= sum_of(data_i & mask_of(lo, hi)) +
                              (beat_i.first ? 40'(pseudo_i) : 40'h0);
    end

    last2_q <= go_q && last_q;
    if (go_q) acc_q <= (first_q ? 48'h0 : acc_q) + 48'(part_q);

    if (last2_q) ok_q <= fold_ok(acc_q);
  end

  logic unused_bits;
  assign unused_bits = ^{beat_i.off, beat_i.bytes};
endmodule
