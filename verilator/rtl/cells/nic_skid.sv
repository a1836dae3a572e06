/// Register slice of a stream (skid buffer): valid, data and ready all leave from registers.
/// Latency: a word that is accepted is at the output in the next cycle. One in and one out a cycle.
/// Promises: no combinational path from an input to an output. It holds two words: the second
/// register catches the word that comes in the cycle in which the output stalls.
/// Asserts: a word offered at the output stays until it is accepted (a_held).

`include "nic_assert.svh"

module nic_skid #(
  // Width of a word in bits.
  parameter int Width = 32
) (
  // Clock, and reset: synchronous, active high.
  input  logic             clk,
  input  logic             rst,
  // Input: in_data_i is accepted in a cycle with in_valid_i and in_ready_o.
  input  logic             in_valid_i,
  output logic             in_ready_o,
  input  logic [Width-1:0] in_data_i,
  // Output: out_data_o is accepted in a cycle with out_valid_o and out_ready_i.
  output logic             out_valid_o,
  input  logic             out_ready_i,
  output logic [Width-1:0] out_data_o
);
  logic             out_valid_q, spare_valid_q;
  logic [Width-1:0] out_q, spare_q;

  assign in_ready_o  = !spare_valid_q;
  assign out_valid_o = out_valid_q;
  assign out_data_o  = out_q;

  always_ff @(posedge clk) begin
    if (out_ready_i || !out_valid_q) begin
      out_valid_q   <= spare_valid_q || in_valid_i;
      spare_valid_q <= 1'b0;
      if (spare_valid_q) out_q <= spare_q;
      else if (in_valid_i) out_q <= in_data_i;
    end else if (in_valid_i && in_ready_o) begin
      spare_valid_q <= 1'b1;
      spare_q       <= in_data_i;
    end
    if (rst) begin
      out_valid_q   <= 1'b0;
      spare_valid_q <= 1'b0;
    end
  end

  `NIC_HELD(a_held, out_valid_o, out_ready_i, out_data_o)
endmodule
