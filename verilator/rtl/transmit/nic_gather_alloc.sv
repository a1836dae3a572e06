/// Gives each checked entry a frame slot and lines of the gather buffer, and requests its pieces,
/// one read request a cycle; remembers the address of each piece in the buffer.

`include "nic_assert.svh"

module nic_gather_alloc
  import nic_pkg::SegMax, nic_int_pkg::*, nic_tx_pkg::*;
#(
  // Frame slots, a power of two.
  parameter int Slots = 256,
  // Lines of 128 bytes, a power of two.
  parameter int Lines = 512,
  localparam int Sw = $clog2(Slots),
  localparam int Lw = $clog2(Lines)
) (
  input  logic          clk,
  input  logic          rst,
  // Checked entries of the port.
  input  logic          valid_i,
  output logic          ready_o,
  input  tx_ent_t       ent_i,
  // Pulse: an entry takes slot slot_o, with lines from line_o on.
  output logic          alloc_o,
  output logic [Sw-1:0] slot_o,
  output logic [Lw-1:0] line_o,
  // Number of bytes that the reads of this entry return.
  output logic [13:0]   bytes_o,
  // Pulse: the frame of the oldest slot is leaving: frees the slot.
  input  logic          slot_free_i,
  // Number of the oldest lines freed in this cycle.
  input  logic [1:0]    lines_free_i,
  // High while some slot is in use.
  output logic          any_o,
  output rd_req_t       rd_req_o,
  output logic          rd_req_valid_o,
  input  logic          rd_req_ready_i,
  // Read request to look up (slot and piece); base_o: buffer address of its first byte.
  input  logic [Sw+2:0] look_i,
  output logic [Lw+6:0] base_o
);
  logic [Lw+6:0]    base_mem [SegMax * Slots];   // indexed by slot and piece
  logic [Sw-1:0]    slot_q;
  logic [Sw:0]      used_slots_q;
  logic [Lw-1:0]    line_q;
  logic [Lw:0]      used_lines_q;

  // The entry whose pieces are being requested.
  logic [3:0]              left_q;
  logic [2:0]              piece_q;
  logic [SegMax-1:0][13:0] len_q;
  logic [SegMax-1:0][63:0] addr_q;
  logic [Sw-1:0]    iss_slot_q;
  logic [Lw+6:0]    dst_q;

  rd_req_t          req_q;
  logic             req_valid_q;

  logic [7:0]       need;
  logic [Lw:0]      lines_left;
  logic             fits, issue, take, unused_ent;

  assign unused_ent     = ^ent_i;
  assign need           = lines_of(ent_i.f);
  assign lines_left     = (Lw + 1)'(Lines) - used_lines_q;
  assign fits           = used_slots_q != (Sw + 1)'(Slots) && (Lw + 1)'(need) <= lines_left;
  assign issue          = left_q != 4'd0 && (!req_valid_q || rd_req_ready_i);
  assign ready_o        = fits && (left_q == 4'd0 || (left_q == 4'd1 && issue));
  assign take           = valid_i && ready_o;
  assign alloc_o        = take;
  assign slot_o         = slot_q;
  assign line_o         = line_q;
  assign bytes_o        = ent_i.nseg == 4'd0 ? 14'd0 : ent_i.f.len - 14'(ent_i.f.inl_len);
  assign any_o          = used_slots_q != '0;
  assign rd_req_o       = req_q;
  assign rd_req_valid_o = req_valid_q;
  assign base_o         = base_mem[look_i];

  always_ff @(posedge clk) begin
    if (take) begin
      slot_q     <= slot_q + 1'b1;
      line_q     <= line_q + Lw'(need);
      left_q     <= ent_i.nseg;
      piece_q    <= 3'd0;
      len_q      <= ent_i.seg_len;
      addr_q     <= ent_i.seg_addr;
      iss_slot_q <= slot_q;
      dst_q      <= {line_q, 7'd0} + (Lw + 7)'(ent_i.f.inl_len);
    end else if (issue) begin
      left_q  <= left_q - 4'd1;
      piece_q <= piece_q + 3'd1;
      dst_q   <= dst_q + (Lw + 7)'(len_q[0]);
      len_q   <= {14'd0, len_q[SegMax-1:1]};
      addr_q  <= {64'd0, addr_q[SegMax-1:1]};
    end
    if (issue) begin
      req_q <= '{addr: addr_q[0], len: len_q[0], cookie: 16'({iss_slot_q, piece_q})};
      base_mem[{iss_slot_q, piece_q}] <= dst_q;
    end
    if (issue)               req_valid_q <= 1'b1;
    else if (rd_req_ready_i) req_valid_q <= 1'b0;
    used_slots_q <= used_slots_q + (Sw + 1)'(take) - (Sw + 1)'(slot_free_i);
    used_lines_q <= used_lines_q + (take ? (Lw + 1)'(need) : '0) - (Lw + 1)'(lines_free_i);
    if (rst) begin
      slot_q       <= '0;
      used_slots_q <= '0;
      line_q       <= '0;
      used_lines_q <= '0;
      left_q       <= '0;
      req_valid_q  <= 1'b0;
    end
  end

  `NIC_HELD(a_req_held, rd_req_valid_o, rd_req_ready_i, rd_req_o)
endmodule
