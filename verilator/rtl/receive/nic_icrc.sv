/// ICRC check over a frame, one beat a cycle. Bytes that routers may change are taken as ones,
/// bytes outside the covered range as zero. The eight bytes of ones that precede the packet are
/// part of the start value, which is XORed into the first four covered bytes.

module nic_icrc
  import nic_int_pkg::*;
  import nic_rx_pkg::*;
  import nic_crc32_pkg::*;
(
  input  logic            clk,
  input  logic            rst,
  // Beats, aligned with the parser's result.
  input  rx_beat_t        beat_i,
  input  logic [EthW-1:0] data_i,
  // High if the frame has an ICRC to be checked.
  input  logic            want_i,
  // High for IPv6, low for IPv4.
  input  logic            ipv6_i,
  // First byte of the network header.
  input  logic [7:0]      l3_off_i,
  // First byte of the UDP header.
  input  logic [7:0]      l4_off_i,
  // End of the UDP datagram.
  input  logic [16:0]     upto_i,
  // High if the ICRC is right; valid six cycles after the frame's last beat.
  output logic            ok_o
);
  // Residue[n] is the register after a covered range with a right ICRC and n zero bytes.
  typedef logic [31:0] residue_t[64];
  localparam residue_t Residue = residues();

  function automatic residue_t residues();
    residues[0] = CrcResidue;
    for (int n = 1; n < 64; n++) residues[n] = adv(PolyCrc32, residues[n-1], 1);
  endfunction

  logic            use_beat, go_q, first_q;
  logic [EthW-1:0] data_q;
  logic [4:0]      last_q;
  logic [4:0][5:0] fill_q;
  logic            crc_valid;
  logic [31:0]     crc;
  logic            ok_q;

  // Returns the frame's first beat with the variant fields of the IP header set to ones.
  function automatic logic [EthW-1:0] first_beat(input logic [EthW-1:0] d);
    first_beat = d;
    if (ipv6_i) begin
      first_beat[{1'b0, l3_off_i[4:0], 3'b000} +: 4]         = 4'hf;    // traffic class
      first_beat[{1'b0, l3_off_i[4:0] + 5'd1, 3'b000} +: 24] = '1;      // flow label
      first_beat[{1'b0, l3_off_i[4:0], 3'b000} + 9'd56 +: 8] = '1;      // hop limit
    end else begin
      first_beat[{1'b0, l3_off_i[4:0] + 5'd1, 3'b000} +: 8]  = '1;      // type of service
      first_beat[{1'b0, l3_off_i[4:0] + 5'd8, 3'b000} +: 8]  = '1;      // time to live
      first_beat[{1'b0, l3_off_i[4:0], 3'b000} + 9'd80 +: 16] = '1;     // header checksum
    end
    first_beat[{1'b0, l3_off_i[4:0], 3'b000} +: 32] =
        first_beat[{1'b0, l3_off_i[4:0], 3'b000} +: 32] ^ IcrcSeed;
    first_beat[111:0] = '0;
    if (l3_off_i[4:0] >= 5'd18) first_beat[143:112] = '0;
    if (l3_off_i[4:0] >= 5'd22) first_beat[175:144] = '0;
  endfunction

  // Returns beat d with UDP checksum and BTH byte 4 set to ones if they lie in it. d is the frame's
  // beat 1 if argument `second` is high, else beat 0.
  function automatic logic [EthW-1:0] transport(input logic [EthW-1:0] d, input logic second);
    logic [6:0] csum, resv;
    csum = l4_off_i[6:0] + 7'd6;
    resv = l4_off_i[6:0] + 7'd12;
    transport = d;
    if (csum[6] == second) transport[{csum[5:0], 3'b000} +: 16] = '1;
    if (resv[6] == second) transport[{resv[5:0], 3'b000} +: 8] = '1;
  endfunction

  function automatic logic [EthW-1:0] covered(input logic [EthW-1:0] d);
    covered = d;
    if (beat_i.base[13:7] == 7'd0) covered = transport(covered, beat_i.base[6]);
    if (beat_i.first) covered = first_beat(covered);
    if (beat_i.base[13:6] == upto_i[13:6]) covered &= ~({EthW{1'b1}} << {upto_i[5:0], 3'b000});
  endfunction

  assign use_beat = beat_i.valid && want_i && 17'(beat_i.base) < upto_i;
  assign ok_o     = ok_q;

  nic_crc32 u_crc (
    .clk, .rst,
    .valid_i (go_q),
    .first_i (first_q),
    .data_i  (data_q),
    .valid_o (crc_valid),
    .crc_o   (crc)
  );

  always_ff @(posedge clk) begin
    go_q    <= use_beat;
    first_q <= beat_i.first;
    if (use_beat) data_q <= covered(data_i);

    last_q    <= {last_q[3:0], beat_i.valid && beat_i.last && want_i};
    if (last_q != '0 || beat_i.valid) fill_q <= {fill_q[3:0], 6'd0 - upto_i[5:0]};
    if (last_q[4]) ok_q <= crc == Residue[fill_q[4]];

    if (rst) begin
      go_q   <= 1'b0;
      last_q <= '0;
    end
  end

  logic unused_bits;
  assign unused_bits = ^{beat_i.off, beat_i.bytes, l3_off_i[7:5], l4_off_i[7], crc_valid};
endmodule
