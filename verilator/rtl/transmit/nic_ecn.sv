/// Sets the ECN bits in frames of queues with an ecn_mode, in the bytes as gathered (contract E2):
/// a register stage between gather buffer and offloads. Only a frame's first line is changed.

module nic_ecn
  import nic_tx_pkg::*;
(
  input  logic          clk,
  input  logic          rst,
  // Lines of the frame to be sent, inline bytes merged in. Frame and flags (first, last, two beats)
  // come from nic_gather_read.
  input  logic          ln_valid_i,
  input  logic          ln_first_i,
  input  logic          ln_last_i,
  input  logic          ln_two_i,
  input  tx_frame_t     ln_frame_i,
  input  logic [1023:0] ln_data_i,
  // The same lines one cycle later, with the ECN bits set.
  output logic          ln_valid_o,
  output logic          ln_first_o,
  output logic          ln_last_o,
  output logic          ln_two_o,
  output tx_frame_t     ln_frame_o,
  output logic [1023:0] ln_data_o
);
  // EtherTypes, first byte in the low bits.
  localparam logic [15:0] TypeV4 = 16'h0008, TypeV6 = 16'hdd86;

  // A change of the first 12 bytes of the IP header: bits set in mask are replaced by those of
  // data.
  typedef struct packed {
    logic [95:0] mask;
    logic [95:0] data;
  } patch_t;

  logic          valid_q, first_q, last_q, two_q;
  tx_frame_t     frame_q;
  logic [1023:0] line_q;
  logic [111:0]  head_q;               // EtherType and first 12 bytes of the IP header

  assign ln_valid_o = valid_q;
  assign ln_first_o = first_q;
  assign ln_last_o  = last_q;
  assign ln_two_o   = two_q;
  assign ln_frame_o = frame_q;

  always_ff @(posedge clk) begin
    logic [135:0]  head;
    logic [6:0]    at;
    valid_q <= ln_valid_i && !rst;
    if (ln_valid_i) begin
      first_q <= ln_first_i;
      last_q  <= ln_last_i;
      two_q   <= ln_two_i;
      if (ln_first_i) begin
        frame_q         <= ln_frame_i;
        if (ln_frame_i.ofl.ecn != 2'd0) begin
          at   = ln_frame_i.ofl.l3[6:0] - 7'd2;
          head = 136'(ln_data_i >> {at[6:2], 5'b0});
          unique case (at[1:0])
            2'd1:    head_q <= head[119:8];
            2'd2:    head_q <= head[127:16];
            2'd3:    head_q <= head[135:24];
            default: head_q <= head[111:0];
          endcase
        end
      end
      line_q <= ln_data_i;
    end
  end

  // Returns the change: the ECN bits, and for IPv4 the header checksum.
  function automatic patch_t patch(input logic [111:0] h, input tx_frame_t f);
    logic [7:0]  in128, was, now;
    logic [15:0] sum;
    logic        v4, v6, unused_f;
    unused_f = ^{h[95:32], f};
    in128    = f.len < 14'd128 ? f.len[7:0] : 8'd128;
    v4       = h[15:0] == TypeV4 && h[23:20] == 4'd4 && 9'(f.ofl.l3) + 9'd20 <= 9'(in128);
    v6       = h[15:0] == TypeV6 && h[23:20] == 4'd6 && 9'(f.ofl.l3) + 9'd40 <= 9'(in128);
    was      = h[31:24];
    now      = v4 ? {was[7:2], f.ofl.ecn} : {was[7:6], f.ofl.ecn, was[3:0]};
    sum      = ~add1c(add1c(~h[111:96], ~h[31:16]), {now, h[23:16]});
    patch    = '0;
    if ((v4 || v6) && f.ofl.l3 >= 8'd14 && now != was) begin
      patch.mask = {v4 ? 16'hffff : 16'h0, 64'd0, 16'hff00};
      patch.data = {v4 ? sum : 16'h0, 64'd0, now, 8'd0};
    end
  endfunction

  function automatic logic [1023:0] patched(input logic [1023:0] line, input patch_t p,
                                            input logic [6:0] l3);
    logic [1023:0] mask, data;
    mask    = 1024'(in_dw(p.mask, l3[1:0])) << {l3[6:2], 5'b0};
    data    = 1024'(in_dw(p.data, l3[1:0])) << {l3[6:2], 5'b0};
    patched = (line & ~mask) | data;
  endfunction

  always_comb begin
    ln_data_o = line_q;
    if (first_q && frame_q.ofl.ecn != 2'd0) begin
      ln_data_o = patched(line_q, patch(head_q, frame_q), frame_q.ofl.l3[6:0]);
    end
  end
endmodule
