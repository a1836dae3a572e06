/// Rewinds a CRC-32 register by 0..63 zero bytes: returns its value before the zero bytes that fill
/// the last beat of a range.
/// Latency: three cycles. One result a cycle.
/// Promises: crc_o stays until the next result.
/// Asserts: nothing; it cannot be held back.

module nic_crc32_back
  import nic_crc32_pkg::*;
#(
  // Reflected polynomial.
  parameter logic [31:0] Poly = PolyCrc32
) (
  input  logic        clk,
  // A register value and the number of zero bytes to rewind it by.
  input  logic        valid_i,
  input  logic [31:0] crc_i,
  input  logic [5:0]  bytes_i,
  // The result for the inputs of three cycles ago.
  output logic [31:0] crc_o
);
  localparam crc_mat_t Back1  = rew_byte(Poly);
  localparam crc_mat_t Back2  = twice(Back1);
  localparam crc_mat_t Back4  = twice(Back2);
  localparam crc_mat_t Back8  = twice(Back4);
  localparam crc_mat_t Back16 = twice(Back8);
  localparam crc_mat_t Back32 = twice(Back16);

  logic        valid1_q, valid2_q;
  logic [5:2]  bytes1_q;
  logic [5:4]  bytes2_q;
  logic [31:0] crc1_q, crc2_q, crc3_q;

  assign crc_o = crc3_q;

  always_ff @(posedge clk) begin
    logic [31:0] c;
    valid1_q <= valid_i;
    valid2_q <= valid1_q;
    if (valid_i) begin
      c = bytes_i[0] ? apply(crc_i, Back1) : crc_i;
      crc1_q   <= bytes_i[1] ? apply(c, Back2) : c;
      bytes1_q <= bytes_i[5:2];
    end
    if (valid1_q) begin
      c = bytes1_q[2] ? apply(crc1_q, Back4) : crc1_q;
      crc2_q   <= bytes1_q[3] ? apply(c, Back8) : c;
      bytes2_q <= bytes1_q[5:4];
    end
    if (valid2_q) begin
      c = bytes2_q[4] ? apply(crc2_q, Back16) : crc2_q;
      crc3_q <= bytes2_q[5] ? apply(c, Back32) : c;
    end
  end
endmodule
