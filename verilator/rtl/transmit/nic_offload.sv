/// First pass over a gathered frame: beats go unchanged to the output buffer, while header checks,
/// UDP sum, ICRC and IPv4 sum are computed beside them. Never stalls; no gap between frames. The
/// result follows the frame's last beat.

module nic_offload
  import nic_pkg::*, nic_tx_pkg::*;
#(
  // Optional parts in this build, as the bits of register CAP1.
  parameter int unsigned Parts = PartsDefault
) (
  input  logic          clk,
  input  logic          rst,
  // Lines of 128 bytes from nic_gather_read; the data stay for the line's second beat.
  input  logic          ln_valid_i,
  input  logic          ln_first_i,
  input  logic          ln_last_i,
  input  logic          ln_two_i,
  input  tx_frame_t     ln_frame_i,
  input  logic [1023:0] ln_data_i,
  // Beats of the frame, zero beyond its length.
  output logic          beat_valid_o,
  output logic [511:0]  beat_o,
  // Pulse: result of a frame, or of an entry without one (length 0).
  output logic          out_valid_o,
  output tx_out_t       out_o
);
  // Stage A: splits lines into beats and extracts the headers.
  logic         second_q;             // the line's second beat comes next
  logic         a_valid_q, a_first_q, a_last_q, a_data_q;
  logic [511:0] a_beat_q;
  logic [7:0]   a_index_q;
  logic [479:0] a_l3_q;
  logic [31:0]  a_l4_q;   // UDP length and checksum
  tx_frame_t    a_frame_q;
  // Stage B: beats, while nic_offload_parse judges the headers.
  logic          b_valid_q, b_first_q, b_last_q;
  logic [511:0]  b_beat_q;
  tx_frame_t     b_frame_q;
  logic [7:0]    b_index_q;            // number of the beat in its frame
  tx_par_t       par;
  logic [1023:0] crc_and, crc_xor, sum_and;
  // Stage C: masked beats, at the inputs of the CRC and sum engines.
  logic         c_end_q, c_crc_q, c_sum_q, c_first_q;
  logic [511:0] c_crc_beat_q, c_sum_beat_q;
  tx_frame_t    c_frame_q;
  tx_par_t      c_par_q;
  logic [31:0]  crc;
  logic [15:0]  sum;
  logic         unused_crc_valid;

  assign beat_valid_o = a_valid_q && a_data_q;
  assign beat_o       = a_beat_q;

  always_ff @(posedge clk) begin
    logic [503:0]  from_l3;
    logic [55:0]   from_l4;
    logic [511:0]  beat;
    logic          last;
    logic [7:0]    index;
    logic [13:0]   gathered;
    second_q    <= ln_valid_i && ln_two_i && !rst;
    a_valid_q   <= (ln_valid_i || second_q) && !rst;
    last        = ln_last_i && (second_q || !ln_two_i);
    if (ln_valid_i || second_q) begin
      a_first_q <= ln_valid_i && ln_first_i;
      a_last_q  <= last;
      a_data_q  <= ln_frame_i.len != 14'd0;
      beat      = second_q ? ln_data_i[1023:512] : ln_data_i[511:0];
      if (ln_valid_i && ln_first_i) begin
        // Shift the headers down, by DWs and then by bytes.
        a_frame_q <= ln_frame_i;
        if (ln_frame_i.ofl.ip_csum || ln_frame_i.ofl.udp_csum || ln_frame_i.ofl.udp_zero ||
            ln_frame_i.ofl.icrc) begin
          from_l3 = 504'(ln_data_i >> {ln_frame_i.ofl.l3[7:2], 5'b0});
          from_l4 = 56'(ln_data_i >> {ln_frame_i.ofl.l4[7:2], 5'b0} >> 32);
          unique case (ln_frame_i.ofl.l3[1:0])
            2'd1:    a_l3_q <= from_l3[487:8];
            2'd2:    a_l3_q <= from_l3[495:16];
            2'd3:    a_l3_q <= from_l3[503:24];
            default: a_l3_q <= from_l3[479:0];
          endcase
          unique case (ln_frame_i.ofl.l4[1:0])
            2'd1:    a_l4_q <= from_l4[39:8];
            2'd2:    a_l4_q <= from_l4[47:16];
            2'd3:    a_l4_q <= from_l4[55:24];
            default: a_l4_q <= from_l4[31:0];
          endcase
        end
      end
      if (last && ln_frame_i.len[5:0] != 6'd0) begin
        beat = beat & LowBytes[{2'b00, ln_frame_i.len[5:0]}][511:0];
      end
      // Zero the appended bytes in the beat where they begin and in those after it.
      index     = ln_valid_i && ln_first_i ? 8'd0 : a_index_q + 8'd1;
      a_index_q <= index;
      if (ln_frame_i.app != 3'd0) begin
        gathered = ln_frame_i.len - 14'(ln_frame_i.app);
        if (index == gathered[13:6]) beat = beat & LowBytes[{2'b00, gathered[5:0]}][511:0];
        if (index > gathered[13:6])  beat = '0;
      end
      a_beat_q <= beat;
    end
  end

  nic_offload_parse u_parse (
    .clk, .valid_i(a_valid_q && a_first_q), .frame_i(a_frame_q), .l3_i(a_l3_q), .l4_i(a_l4_q),
    .par_o(par), .crc_and_o(crc_and), .crc_xor_o(crc_xor), .sum_and_o(sum_and)
  );

  always_ff @(posedge clk) begin
    b_valid_q <= a_valid_q && !rst;
    if (a_valid_q) begin
      b_first_q <= a_first_q;
      b_last_q  <= a_last_q;
      b_index_q <= a_first_q ? 8'd0 : b_index_q + 8'd1;
      if (a_first_q) b_frame_q <= a_frame_q;
      if (a_frame_q.ofl.udp_csum || a_frame_q.ofl.icrc || a_frame_q.ofl.crc) b_beat_q <= a_beat_q;
    end
  end

  // Mask the covered bytes of a beat and pass them to the CRC and the checksum.
  always_ff @(posedge clk) begin
    logic [511:0] d;
    logic         covered;
    logic [13:0]  pos;
    covered   = {b_index_q, 6'd0} < par.last;
    c_end_q   <= b_valid_q && b_last_q && !rst;
    c_crc_q   <= b_valid_q && par.icrc && covered && !rst;
    c_sum_q   <= b_valid_q && par.udp_csum && covered && !rst;
    c_first_q <= b_first_q;
    if (b_valid_q && b_last_q) begin
      c_frame_q <= b_frame_q;
      c_par_q   <= par;
    end
    if (b_valid_q && covered && (par.icrc || par.udp_csum)) begin
      d = b_beat_q;
      if (b_index_q == par.last[13:6]) d = d & LowBytes[{2'b00, par.last[5:0]}][511:0];
      if (par.crc) begin
        for (int i = 0; i < 4; i++) begin
          pos = par.crc_pos + 14'(i);
          if (pos[13:6] == b_index_q) d[{pos[5:0], 3'b0} +: 8] = 8'd0;
        end
      end
      if (par.icrc) begin
        c_crc_beat_q <= b_index_q == 8'd0 ? (d & crc_and[511:0]) ^ crc_xor[511:0] :
                        b_index_q == 8'd1 ? (d & crc_and[1023:512]) ^ crc_xor[1023:512] : d;
      end
      if (par.udp_csum) begin
        c_sum_beat_q <= b_index_q == 8'd0 ? d & sum_and[511:0] :
                        b_index_q == 8'd1 ? d & sum_and[1023:512] : d;
      end
    end
  end

  nic_crc32 u_crc (
    .clk, .rst, .valid_i(c_crc_q), .first_i(c_first_q), .data_i(c_crc_beat_q),
    .valid_o(unused_crc_valid), .crc_o(crc)
  );

  nic_offload_sum u_sum (
    .clk, .rst, .valid_i(c_sum_q), .first_i(c_first_q), .data_i(c_sum_beat_q), .sum_o(sum)
  );

  nic_offload_fin #(.Parts(Parts)) u_fin (
    .clk, .rst, .valid_i(c_end_q), .frame_i(c_frame_q), .par_i(c_par_q), .crc_i(crc), .sum_i(sum),
    .beat_valid_i(b_valid_q), .beat_index_i(b_index_q), .beat_i(b_beat_q), .beat_par_i(par),
    .valid_o(out_valid_o), .out_o
  );
endmodule
