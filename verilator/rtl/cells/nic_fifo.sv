/// First-in first-out queue in registers or distributed memory.
/// Latency: a word that is written is at the output in the next cycle. One in and one out a cycle.
/// Promises: in_ready_o is high while fewer than Depth words are held, out_valid_o while one is;
/// neither depends on an input of the same cycle, so a full queue accepts no word in a cycle in
/// which one is read.
/// The head is read without a register: keep Width x Depth small, or use the data only behind an
/// enable.
/// Asserts: a word offered at the output stays until it is read (a_held).

`include "nic_assert.svh"

module nic_fifo #(
  // Width of a word in bits.
  parameter int Width = 32,
  // Words held, a power of two.
  parameter int Depth = 16
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
    $fatal(1, "nic_fifo: Depth must be a power of two, 2 at least");
  end

  logic [Width-1:0] mem [Depth];
  logic [Aw:0]      wr_q, rd_q;

  assign out_valid_o = wr_q != rd_q;
  assign in_ready_o  = wr_q != {~rd_q[Aw], rd_q[Aw-1:0]};
  assign out_data_o  = mem[rd_q[Aw-1:0]];

  always_ff @(posedge clk) begin
    if (in_valid_i && in_ready_o) begin
      mem[wr_q[Aw-1:0]] <= in_data_i;
      wr_q <= wr_q + 1'b1;
    end
    if (out_valid_o && out_ready_i) rd_q <= rd_q + 1'b1;
    if (rst) begin
      wr_q <= '0;
      rd_q <= '0;
    end
  end

  `NIC_HELD(a_held, out_valid_o, out_ready_i, out_data_o)
endmodule
