/// First-in first-out queue of any depth, one word included.
/// Latency: a word that is written is at the output in the next cycle.
/// Promises: in_ready_o is high while fewer than Depth words are held, out_valid_o while one is;
/// neither depends on an input of the same cycle.
/// Asserts: nothing; a writer looks at in_ready_o, as shell_clocks does by stopping the clocks.

module shell_fifo #(
  // Width of a word in bits.
  parameter int Width = 8,
  // Words held, 1 at least.
  parameter int Depth = 2
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
  localparam int Aw = Depth > 1 ? $clog2(Depth) : 1;

  if (Depth < 1) begin : g_bad_depth
    $fatal(1, "shell_fifo: Depth must be 1 at least");
  end

  logic [Width-1:0] mem [Depth];
  logic [Aw-1:0]    wr_q, rd_q;
  logic [Aw:0]      count_q;
  logic             write, read;

  assign out_valid_o = count_q != '0;
  assign in_ready_o  = count_q != (Aw + 1)'(Depth);
  assign out_data_o  = mem[rd_q];
  assign write       = in_valid_i && in_ready_o;
  assign read        = out_valid_o && out_ready_i;

  always_ff @(posedge clk) begin
    if (write) begin
      mem[wr_q] <= in_data_i;
      wr_q      <= wr_q == Aw'(Depth - 1) ? '0 : wr_q + 1'b1;
    end
    if (read) rd_q <= rd_q == Aw'(Depth - 1) ? '0 : rd_q + 1'b1;
    if (write && !read) count_q <= count_q + 1'b1;
    if (read && !write) count_q <= count_q - 1'b1;
    if (rst) begin
      wr_q    <= '0;
      rd_q    <= '0;
      count_q <= '0;
    end
  end
endmodule
