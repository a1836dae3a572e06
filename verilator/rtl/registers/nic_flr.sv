/// Function-level reset (contract L1 to L5): waits until all work that had begun has ended, then
/// resets everything but counters, ordinals and arriving frames.

module nic_flr (
  input  logic clk,
  input  logic rst,
  // Pulse: a function-level reset is requested.
  input  logic start_i,
  // High while earlier work is in flight. Frames still arriving will be dropped and do not count.
  input  logic work_i,
  // High during a function-level reset.
  output logic flr_o,
  // High for Clear cycles near the end of a function-level reset: resets everything but counters,
  // ordinals and arriving frames.
  output logic clear_o
);
  // Cycles without work before the reset: more than a hand-over between blocks, a counter's step,
  // or a frame's passage from the pins to its buffer takes.
  localparam int Quiet = 64;
  // Length of clear_o in cycles, and its latency to the blocks.
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
