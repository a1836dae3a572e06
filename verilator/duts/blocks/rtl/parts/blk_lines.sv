/// A port's receive buffer, read only; its bytes are a function of their addresses.

module blk_lines
  import nic_int_pkg::*;
  import nic_rx_pkg::*;
#(
  parameter bit Port = 1'b0
) (
  input  logic             clk,
  // Reads lines line_i and the next; data from the next cycle on.
  input  logic             read_i,
  input  logic [LineW-1:0] line_i,
  output logic [EthW-1:0]  even_o,
  output logic [EthW-1:0]  odd_o
);
  function automatic logic [EthW-1:0] bytes_of(input logic [LineW-1:0] line);
    logic [31:0] x;
    logic        unused_bits;
    unused_bits = 1'b0;
    for (int i = 0; i < EthB; i++) begin
      x = {15'h0, Port, 16'({line, 6'(i)})} * 32'h9e3779b1;
      unused_bits ^= ^x;
      bytes_of[8*i +: 8] = x[31:24];
    end
  endfunction

  always_ff @(posedge clk) begin
    if (read_i) begin
      even_o <= bytes_of({line_i[LineW-1:1] + (LineW-1)'(line_i[0]), 1'b0});
      odd_o  <= bytes_of({line_i[LineW-1:1], 1'b1});
    end
  end
endmodule
