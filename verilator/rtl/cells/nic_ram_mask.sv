/// Memory with one write port with bit enables and one read port whose output is a register.
/// A read of the word that is being written returns the old word.

module nic_ram_mask #(
  // Bits of a word.
  parameter int Width = 1024,
  // Words.
  parameter int Depth = 256,
  localparam int Aw = $clog2(Depth)
) (
  input  logic             clk,
  input  logic             we_i,
  input  logic [Aw-1:0]    waddr_i,
  input  logic [Width-1:0] wdata_i,
  input  logic [Width-1:0] wmask_i,
  input  logic             re_i,
  input  logic [Aw-1:0]    raddr_i,
  output logic [Width-1:0] rdata_o
);
  logic [Width-1:0] mem [Depth];
  logic [Width-1:0] rdata_q;

  assign rdata_o = rdata_q;

  always_ff @(posedge clk) begin
    if (re_i) rdata_q <= mem[raddr_i];
    if (we_i) mem[waddr_i] <= (mem[waddr_i] & ~wmask_i) | (wdata_i & wmask_i);
  end
endmodule
