/// Model of a technology's clock-gating cell for nic_clkgate (macro NICTWIN_ICG): a latch and an
/// AND, with the test enable before the latch.

module cell_icg (
  // Clock.
  input  logic clk_i,
  // Enable; must be stable before clk_i rises.
  input  logic en_i,
  // Test enable: high keeps the gate open.
  input  logic test_en_i,
  // Gated clock.
  output logic clk_o
);
  logic closed;

  always_latch begin
    if (!clk_i) closed = !(en_i || test_en_i);
  end

  assign clk_o = clk_i && !closed;
endmodule
