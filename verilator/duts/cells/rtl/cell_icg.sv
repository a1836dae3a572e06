/// What a technology's clock gate looks like to nic_clkgate (macro NICTWIN_ICG): a latch and an
/// AND, the test enable before the latch.

module cell_icg (
  // Clock.
  input  logic clk_i,
  // Enable, settled before clk_i rises.
  input  logic en_i,
  // Test enable: the gate stays open.
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
