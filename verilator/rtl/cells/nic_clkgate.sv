/// Clock gate: passes the high phases of the clock that begin while enabled. The latch is open
/// while the clock is low, so the enable may settle until the edge and never cuts a high phase
/// short.
/// Latency: an enable in a cycle lets the edge at its end pass.
/// Promises: whole high phases only; every one while test_en_i is high.
/// A technology's clock-gating cell replaces latch and AND if NICTWIN_ICG is defined as the name of
/// a module with these ports: clk_i, en_i, test_en_i, clk_o.
/// Asserts: nothing; a test counts the edges.

module nic_clkgate (
  // Clock to be gated.
  input  logic clk,
  // High: the next high phase of the clock passes.
  input  logic enable_i,
  // Scan test mode: high lets every high phase pass. Tied to 0 until scan chains are inserted,
  // which then drive it.
  input  logic test_en_i,
  // Gated clock.
  output logic clk_o
);
`ifdef NICTWIN_ICG
  `NICTWIN_ICG u_icg (.clk_i(clk), .en_i(enable_i), .test_en_i, .clk_o);
`else
  logic open;

  always_latch begin
    if (!clk) open = enable_i || test_en_i;
  end

  assign clk_o = clk && open;
`endif
endmodule
