/// Puts bytes together into words of the link, the first one lowest. The word that holds the last
/// byte of a frame is filled up with zeros.
/// Latency: a cycle. Promises: every byte once, in order; no byte waits for the next frame.
/// Asserts: nothing; shell_width_test sends bytes through links of several widths.

module shell_widen #(
  // Bytes of a word.
  parameter int Bytes = 8
) (
  input  logic               clk,
  input  logic               rst,
  // Bytes; last_i: the last one of a frame.
  input  logic               valid_i,
  output logic               ready_o,
  input  logic [7:0]         byte_i,
  input  logic               last_i,
  // Words of the link.
  output logic               valid_o,
  input  logic               ready_i,
  output logic [8*Bytes-1:0] data_o
);
  localparam int Cw = $clog2(Bytes + 1);

  logic [Bytes-1:0][7:0] data_q;
  logic [Cw-1:0]         count_q;
  logic                  full_q;

  assign valid_o = full_q;
  assign ready_o = !full_q;
  assign data_o  = data_q;

  always_ff @(posedge clk) begin
    if (valid_i && ready_o) begin
      for (int i = 0; i < Bytes; i++) begin
        if (count_q == Cw'(i)) data_q[i] <= byte_i;
        else if (count_q < Cw'(i)) data_q[i] <= '0;
      end
      count_q <= count_q + 1'b1;
      full_q  <= last_i || count_q == Cw'(Bytes - 1);
    end
    if (full_q && ready_i) begin
      full_q  <= 1'b0;
      count_q <= '0;
    end
    if (rst) begin
      full_q  <= 1'b0;
      count_q <= '0;
    end
  end
endmodule
