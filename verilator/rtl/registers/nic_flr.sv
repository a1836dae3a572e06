/// Function-level reset (contract L1 to L5): waits until the work that had begun is over, then
/// resets everything but counters, ordinals and frames that are coming in.

module nic_flr (
  input  logic clk,
  input  logic rst,
  // Pulse: a function-level reset is asked for.
  input  logic start_i,
  // Earlier work is in flight; frames still arriving, which are dropped, do not count.
  input  logic work_i,
  // A function-level reset is in progress.
  output logic flr_o,
  // A function-level reset ends: what it resets goes back.
  output logic clear_o
);
  // Cycles without work: more than any hand-over between blocks, a counter's step, or the way of a
  // frame from the pins to its buffer takes.
  localparam int Quiet = 64;
  // The reset that follows, and its delay to the blocks.
  localparam int Clear = 4;
  localparam int End   = Quiet + 2 * Clear;

  logic       flr_q;
  logic [6:0] quiet_q;

  assign flr_o   = flr_q;
  assign clear_o = quiet_q >= 7'(Quiet) && quiet_q < 7'(Quiet + Clear);

  always_ff @(posedge clk) begin
    if (start_i) begin
      flr_q   <= 1'b1;
      quiet_q <= '0;
    end else if (flr_q) begin
      quiet_q <= work_i && quiet_q < 7'(Quiet) ? '0 : quiet_q + 1'b1;
      if (quiet_q == 7'(End)) begin
        flr_q   <= 1'b0;
        quiet_q <= '0;
      end
    end
    if (rst) begin
      flr_q   <= 1'b0;
      quiet_q <= '0;
    end
  end
endmodule
