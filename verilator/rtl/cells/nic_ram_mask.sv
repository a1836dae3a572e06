/// Memory with a write port with bit enables and a read port.
/// Latency: a word is at rdata_o in the cycle after re_i and stays there until the next read. One
/// write and one read a cycle.
/// Promises: a read of a word that is written in the same cycle returns the old value. Words are
/// undefined until they are written. Addresses must be below Depth.
/// Asserts: nothing; it has no reset.

module nic_ram_mask #(
  // Width of a word in bits.
  parameter int Width = 1024,
  // Number of words.
  parameter int Depth = 256,
  localparam int Aw = $clog2(Depth)
) (
  input  logic             clk,
  // Write port: writes the bits of the word that are one in the mask.
  input  logic             we_i,
  input  logic [Aw-1:0]    waddr_i,
  input  logic [Width-1:0] wdata_i,
  input  logic [Width-1:0] wmask_i,
  // Read port.
  input  logic             re_i,
  input  logic [Aw-1:0]    raddr_i,
  // The word read last.
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
