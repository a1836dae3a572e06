/// Takes complete frames out of the gather buffer in the order of their slots, a line of 128 bytes
/// (two beats) at a time, without a pause between frames; a frame of length 0 passes as a token.

module nic_gather_read
  import nic_tx_pkg::*;
#(
  // Lines of 128 bytes, a power of two.
  parameter int Lines = 512,
  localparam int Lw = $clog2(Lines)
) (
  input  logic          clk,
  input  logic          rst,
  // The frame in the oldest slot, when it is complete, and its end with the status of its reads.
  input  logic          valid_i,
  input  tx_frame_t     frame_i,
  input  logic [383:0]  inl_i,
  input  logic [7:0]    status_i,
  output logic          take_o,
  // The next stage has room for a longest frame.
  input  logic          room_i,
  output logic          re_o,
  output logic [Lw-1:0] line_o,
  // A cycle after the read: a line's first beat is due; the beat after it follows at once.
  output logic          ln_valid_o,
  output logic          ln_first_o,
  output logic          ln_last_o,
  output logic          ln_two_o,
  output tx_frame_t     ln_frame_o,
  output logic [383:0]  ln_inl_o
);
  logic          act_q, gap_q;
  logic [7:0]    left_q;               // beats after those of the lines read so far
  logic [Lw-1:0] line_q;
  logic          valid_q, first_q, last_q, two_q;
  tx_frame_t     frame_q;
  logic [383:0]  inl_q;
  logic [7:0]    beats, avail;
  logic          read, empty;

  assign empty      = frame_i.len == 14'd0;
  assign beats      = 8'((frame_i.len + 14'd63) >> 6);
  assign take_o     = valid_i && room_i && !act_q && !gap_q;
  assign avail      = act_q ? left_q : beats;
  assign read       = !gap_q && (act_q || (take_o && !empty));
  assign re_o       = read;
  assign line_o     = line_q;
  assign ln_valid_o = valid_q;
  assign ln_first_o = first_q;
  assign ln_last_o  = last_q;
  assign ln_two_o   = two_q;
  assign ln_frame_o = frame_q;
  assign ln_inl_o   = inl_q;

  always_ff @(posedge clk) begin
    valid_q <= read || take_o;
    gap_q   <= read && avail > 8'd1;
    if (read || take_o) begin
      first_q <= take_o;
      two_q   <= avail > 8'd1;
      last_q  <= avail <= 8'd2;
      act_q   <= avail > 8'd2;
      left_q  <= avail - 8'd2;
    end
    if (read) line_q <= line_q + 1'b1;
    if (take_o) begin
      frame_q <= frame_i;
      inl_q   <= inl_i;
      if (status_i != 8'd0) frame_q.id.status <= status_i;
    end
    if (rst) begin
      valid_q <= 1'b0;
      act_q   <= 1'b0;
      gap_q   <= 1'b0;
      line_q  <= '0;
    end
  end
endmodule
