/// Clock gate: passes the clock's high phases that begin while enabled. The latch is open while the
/// clock is low, so that the enable may settle until the edge and never cuts a high phase short.

module nic_clkgate (
  input  logic clk,
  input  logic enable_i,
  output logic clk_o
);
  logic open;

  always_latch begin
    if (!clk) open = enable_i;
  end

  assign clk_o = clk && open;
endmodule
