/// First-in first-out queue in a memory with a registered read, for deep queues. The head is in an
/// output register, which is filled from the memory.
/// Latency: a word passes an empty queue in two cycles. One in and one out a cycle.
/// Promises: in_ready_o is high while the memory holds fewer than Depth words; neither in_ready_o
/// nor out_valid_o depends on an input of the same cycle; no word bypasses the memory.
/// Asserts: a word offered at the output stays until it is read (a_held).

`include "nic_assert.svh"

module nic_ram_fifo #(
  // Width of a word in bits.
  parameter int Width = 32,
  // Words held by the memory, a power of two; the output register holds one more.
  parameter int Depth = 512
) (
  // Clock, and reset: synchronous, active high.
  input  logic             clk,
  input  logic             rst,
  // Input: in_data_i is written in a cycle with in_valid_i and in_ready_o.
  input  logic             in_valid_i,
  output logic             in_ready_o,
  input  logic [Width-1:0] in_data_i,
  // Output: out_data_o is read in a cycle with out_valid_o and out_ready_i.
  output logic             out_valid_o,
  input  logic             out_ready_i,
  output logic [Width-1:0] out_data_o
);
  localparam int Aw = $clog2(Depth);

  if (Depth < 2 || (1 << Aw) != Depth) begin : g_bad_depth
    $fatal(1, "nic_ram_fifo: Depth must be a power of two, 2 at least");
  end

  logic [Width-1:0] mem [Depth];
  logic [Width-1:0] out_q;
  logic             out_valid_q, fetch;
  logic [Aw:0]      wr_q, rd_q;

  assign fetch       = wr_q != rd_q && (!out_valid_q || out_ready_i);
  assign in_ready_o  = wr_q != {~rd_q[Aw], rd_q[Aw-1:0]};
  assign out_valid_o = out_valid_q;
  assign out_data_o  = out_q;

  always_ff @(posedge clk) begin
    if (in_valid_i && in_ready_o) begin
      mem[wr_q[Aw-1:0]] <= in_data_i;
      wr_q <= wr_q + 1'b1;
    end
    if (fetch) begin
      out_q <= mem[rd_q[Aw-1:0]];
      rd_q  <= rd_q + 1'b1;
    end
    out_valid_q <= fetch || (out_valid_q && !out_ready_i);
    if (rst) begin
      wr_q        <= '0;
      rd_q        <= '0;
      out_valid_q <= 1'b0;
    end
  end

  `NIC_HELD(a_held, out_valid_o, out_ready_i, out_data_o)
endmodule
