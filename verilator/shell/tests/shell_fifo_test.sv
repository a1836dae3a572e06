/// Tests shell_fifo: words come out in order, and the queue is full and empty exactly when it
/// should be.

module shell_fifo_test #(
  // Words held.
  parameter int Depth = 1
) (
  input  logic clk,
  input  logic rst,
  // High once the test has passed.
  output logic done_o
);
  logic        in_valid, in_ready, out_valid, out_ready;
  logic [7:0]  out_data;
  logic [31:0] wr, rd;

  shell_fifo #(.Width(8), .Depth(Depth)) u_fifo (
    .clk, .rst,
    .in_valid_i(in_valid), .in_ready_o(in_ready), .in_data_i(wr[7:0]),
    .out_valid_o(out_valid), .out_ready_i(out_ready), .out_data_o(out_data)
  );

  always_ff @(posedge clk) begin
    in_valid  <= $urandom_range(2) != 0;
    out_ready <= $urandom_range(2) != 0;
    if (in_valid && in_ready) wr <= wr + 1;
    if (out_valid && out_ready) rd <= rd + 1;
    if (!rst) begin
      if (out_valid && out_ready && out_data != rd[7:0]) $fatal(1, "shell_fifo_test: data");
      if (in_ready != (wr - rd != Depth)) $fatal(1, "shell_fifo_test: in_ready_o");
      if (out_valid != (wr != rd)) $fatal(1, "shell_fifo_test: out_valid_o");
    end
    if (rst) {wr, rd} <= '0;
  end

  assign done_o = rd > 500;
endmodule
