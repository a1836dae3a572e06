/// Takes words of the link apart into bytes, the lowest first.
/// Latency: a cycle. Promises: every byte once, in order.
/// Asserts: nothing; shell_width_test sends bytes through links of several widths.

module shell_narrow #(
  // Bytes of a word.
  parameter int Bytes = 8
) (
  input  logic               clk,
  input  logic               rst,
  // Words of the link.
  input  logic               valid_i,
  output logic               ready_o,
  input  logic [8*Bytes-1:0] data_i,
  // Bytes.
  output logic               valid_o,
  input  logic               ready_i,
  output logic [7:0]         byte_o
);
  localparam int Cw = $clog2(Bytes + 1);

  logic [8*Bytes-1:0] data_q;
  logic [Cw-1:0]      left_q;

  assign ready_o = left_q == '0 || (left_q == Cw'(1) && ready_i);
  assign valid_o = left_q != '0;
  assign byte_o  = data_q[7:0];

  always_ff @(posedge clk) begin
    if (valid_o && ready_i) begin
      data_q <= (8 * Bytes)'({8'h0, data_q} >> 8);
      left_q <= left_q - 1'b1;
    end
    if (valid_i && ready_o) begin
      data_q <= data_i;
      left_q <= Cw'(Bytes);
    end
    if (rst) left_q <= '0;
  end
endmodule
