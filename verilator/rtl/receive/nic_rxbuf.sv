/// Receive buffer of a port: a ring of 64 B lines in two banks, and a FIFO of the frames in it.
/// Lines of a frame that is dropped on arrival are freed at once; all others are freed by the
/// reader, in the order of the frames.

`include "nic_assert.svh"

module nic_rxbuf
  import nic_int_pkg::*;
  import nic_rx_pkg::*;
(
  input  logic             clk,
  input  logic             rst,
  // Beat of a frame.
  input  rx_beat_t         beat_i,
  input  logic [EthW-1:0]  data_i,
  // High: the beat is not written, because its frame will be dropped.
  input  logic             skip_i,
  // With the last beat: high if the frame is not kept.
  input  logic             drop_i,
  input  rx_info_t         info_i,
  // With the last beat: high if a line of the frame found no room.
  output logic             overflow_o,
  // Frames that are kept, in the order of arrival.
  output logic             frame_valid_o,
  input  logic             frame_ready_i,
  output rx_place_t        frame_place_o,
  output rx_info_t         frame_info_o,
  // Read of lines read_line_i and the next; data from the next cycle on.
  input  logic             read_i,
  input  logic [LineW-1:0] read_line_i,
  output logic [EthW-1:0]  even_o,
  output logic [EthW-1:0]  odd_o,
  // Pulse: frees free_lines_i lines.
  input  logic             free_i,
  input  logic [7:0]       free_lines_i,
  // Number of lines in use.
  output logic [LineW:0]   used_o,
  // High while a frame is in the buffer.
  output logic             busy_o
);
  localparam int Aw = LineW - 1;

  logic [EthW-1:0]  even [BufLines/2];
  logic [EthW-1:0]  odd [BufLines/2];
  logic [EthW-1:0]  even_q, odd_q;
  logic [LineW-1:0] head_q, tail_q;    // first line of the arriving frame, next line to write
  logic [LineW:0]   used_q;            // lines in use, the arriving frame's included
  logic [7:0]       lines_q;           // lines of the arriving frame
  logic             lost_q;            // a line of the arriving frame found no room

  logic             want, lost, write, keep, over;
  logic [7:0]       lines;
  logic [LineW:0]   given;
  logic             fifo_ready;

  always_comb begin
    want  = beat_i.valid && !skip_i && beat_i.bytes != 7'h0 && !lost_q;
    lost  = lost_q || (want && used_q == (LineW+1)'(BufLines));
    write = want && !lost;
    lines = lines_q + 8'(write);
    over  = beat_i.last || lost;
    given = free_i ? (LineW+1)'(free_lines_i) : '0;
  end

  assign keep = beat_i.valid && beat_i.last && !drop_i && !lost;

  assign overflow_o = lost;
  assign used_o     = used_q;
  assign even_o     = even_q;
  assign odd_o      = odd_q;
  assign busy_o     = used_q != '0 || frame_valid_o;

  always_ff @(posedge clk) begin
    if (write && !tail_q[0]) even[tail_q[LineW-1:1]] <= data_i;
    if (write && tail_q[0])  odd[tail_q[LineW-1:1]]  <= data_i;

    used_q <= used_q - given;
    if (beat_i.valid) begin
      lost_q  <= lost && !beat_i.last;
      lines_q <= over ? 8'h0 : lines;
      if (over && !keep) begin
        tail_q <= head_q;
        used_q <= used_q - (LineW+1)'(lines_q) - given;
      end else begin
        tail_q <= tail_q + LineW'(write);
        used_q <= used_q + (LineW+1)'(write) - given;
        if (keep) head_q <= tail_q + LineW'(write);
      end
    end

    if (read_i) begin
      even_q <= even[read_line_i[LineW-1:1] + Aw'(read_line_i[0])];
      odd_q  <= odd[read_line_i[LineW-1:1]];
    end

    if (rst) begin
      head_q  <= '0;
      tail_q  <= '0;
      used_q  <= '0;
      lines_q <= '0;
      lost_q  <= 1'b0;
    end
  end

  // Each frame has at least one line, so this FIFO has room whenever the buffer has.
  nic_ram_fifo #(
    .Width ($bits(rx_place_t) + $bits(rx_info_t)),
    .Depth (BufLines)
  ) u_frames (
    .clk, .rst,
    .in_valid_i  (keep),
    .in_ready_o  (fifo_ready),
    .in_data_i   ({head_q, lines, info_i}),
    .out_valid_o (frame_valid_o),
    .out_ready_i (frame_ready_i),
    .out_data_o  ({frame_place_o, frame_info_o})
  );

  `NIC_ASSERT(a_fifo, keep |-> fifo_ready)
  `NIC_ASSERT(a_used, used_q <= (LineW+1)'(BufLines) && used_q >= (LineW+1)'(lines_q))
  logic unused_bits;
  assign unused_bits = ^{beat_i.first, beat_i.off, beat_i.base, fifo_ready};
endmodule
