/// Takes complete frames out of the gather buffer in the order of their slots, a line of 128 bytes
/// (two beats) at a time, without a gap between frames; an entry without a frame passes as a frame
/// of length 0.

module nic_gather_read
  import nic_tx_pkg::*;
#(
  // Lines of 128 bytes, a power of two.
  parameter int Lines = 512,
  localparam int Lw = $clog2(Lines)
) (
  input  logic          clk,
  input  logic          rst,
  // High if the frame of the oldest slot is complete.
  input  logic          valid_i,
  // Frame of the oldest slot.
  input  tx_frame_t     frame_i,
  // Number of lines that the frame occupies in the buffer.
  input  logic [7:0]    lines_i,
  // Inline bytes of frame_i.
  input  logic [InlW-1:0] inl_i,
  // Status of the reads of frame_i's pieces.
  input  logic [7:0]    status_i,
  // Pulse: the frame begins to leave.
  output logic          take_o,
  // High if the next stage has room for the longest frame.
  input  logic          room_i,
  // Reads line line_o.
  output logic          re_o,
  output logic [Lw-1:0] line_o,
  // Number of the oldest lines freed in this cycle.
  output logic [1:0]    lines_free_o,
  // First beat of a line, one cycle after its read; with ln_two_o the second follows in the next
  // cycle.
  output logic          ln_valid_o,
  output logic          ln_first_o,
  output logic          ln_last_o,
  output logic          ln_two_o,
  output tx_frame_t     ln_frame_o,
  // Inline bytes for the beginning of the line.
  output logic [1023:0] ln_inl_o,
  output logic [7:0]    ln_inl_len_o
);
  logic          act_q, gap_q;
  logic [7:0]    left_q;               // beats after the lines read so far
  logic [Lw-1:0] line_q;
  logic          valid_q, first_q, last_q, two_q;
  tx_frame_t     frame_q;
  logic [1023:0] inl_q;
  logic [7:0]    inl_len_q, rest_len_q;  // inline bytes in the current line; in the one after it
  logic [InlW-1025:0] rest_q;
  logic [7:0]    beats, avail;
  logic          read, empty;
  // The frame occupies one line more than its bytes need; the extra line is freed with the last.
  logic          spare_q, spare;

  assign empty      = frame_i.len == 14'd0;
  assign beats      = 8'((frame_i.len + 14'd63) >> 6);
  assign take_o     = valid_i && room_i && !act_q && !gap_q;
  assign avail      = act_q ? left_q : beats;
  assign read       = !gap_q && (act_q || (take_o && !empty));
  assign re_o       = read;
  assign line_o     = line_q;
  assign spare      = act_q ? spare_q : lines_i != (beats + 8'd1) >> 1;
  assign lines_free_o = !read ? 2'd0 : avail <= 8'd2 && spare ? 2'd2 : 2'd1;
  assign ln_valid_o = valid_q;
  assign ln_first_o = first_q;
  assign ln_last_o  = last_q;
  assign ln_two_o   = two_q;
  assign ln_frame_o = frame_q;
  assign ln_inl_o   = inl_q;
  assign ln_inl_len_o = inl_len_q;

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
    line_q <= line_q + Lw'(lines_free_o);
    if (take_o) begin
      spare_q <= spare;
      frame_q <= frame_i;
      inl_q   <= inl_i[1023:0];
      rest_q  <= inl_i[InlW-1:1024];
      inl_len_q  <= frame_i.inl_len < 8'd128 ? frame_i.inl_len : 8'd128;
      rest_len_q <= frame_i.inl_len < 8'd128 ? 8'd0 : frame_i.inl_len - 8'd128;
      if (status_i != 8'd0) frame_q.id.status <= status_i;
    end else if (read) begin
      inl_len_q  <= rest_len_q;
      rest_len_q <= 8'd0;
      if (rest_len_q != 8'd0) inl_q <= 1024'(rest_q);
    end
    if (rst) begin
      valid_q <= 1'b0;
      act_q   <= 1'b0;
      gap_q   <= 1'b0;
      line_q  <= '0;
    end
  end
endmodule
