/// CRC-32 register over a stream of 64-byte beats, one a cycle, four cycles deep.
/// The caller zeroes bytes before the covered range and XORs the start value into the first four
/// covered ones; zero bytes after the range advance the result (see nic_crc32_pkg, nic_crc32_back).

module nic_crc32 (
  input  logic         clk,
  input  logic         rst,
  // A beat; first restarts the register at zero.
  input  logic         valid_i,
  input  logic         first_i,
  input  logic [511:0] data_i,
  // The register after the beat that came four cycles ago; held while valid_o is 0.
  output logic         valid_o,
  output logic [31:0]  crc_o
);
  import nic_crc32_pkg::*;

  logic [3:0]  valid_q;
  logic [2:0]  first_q;
  logic [31:0] c0_q, c1_q, c2_q, c3_q;
  logic [31:0] e0_q, e1_q;
  logic [31:0] beat_q;
  logic [31:0] crc_q;

  assign valid_o = valid_q[3];
  assign crc_o   = crc_q;

  always_ff @(posedge clk) begin
    if (rst) valid_q <= '0;
    else     valid_q <= {valid_q[2:0], valid_i};
    first_q <= {first_q[1:0], first_i};
    if (valid_i) begin
      c0_q <= crc16b(data_i[127:0]);
      c1_q <= crc16b(data_i[255:128]);
      c2_q <= crc16b(data_i[383:256]);
      c3_q <= crc16b(data_i[511:384]);
    end
    if (valid_q[0]) begin
      e0_q <= adv16(c0_q) ^ c1_q;
      e1_q <= adv16(c2_q) ^ c3_q;
    end
    if (valid_q[1]) beat_q <= adv32(e0_q) ^ e1_q;
    if (valid_q[2]) crc_q <= (first_q[2] ? 32'h0 : adv64(crc_q)) ^ beat_q;
  end
endmodule
