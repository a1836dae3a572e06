/// CRC-32 register over a stream of 64-byte beats.
/// Latency: four cycles from a beat to the register after it. One beat a cycle.
/// Promises: crc_o stays until the next valid_o. The caller applies start value and range: it
/// zeroes the bytes before the range and XORs the start value into the first four bytes of the
/// range; zero bytes after the range advance the register (nic_crc32_back rewinds it).
/// Asserts: nothing; it cannot be held back.

module nic_crc32
  import nic_crc32_pkg::*;
#(
  // Reflected polynomial.
  parameter logic [31:0] Poly = PolyCrc32
) (
  input  logic         clk,
  input  logic         rst,
  // A beat; first_i restarts the register at zero.
  input  logic         valid_i,
  input  logic         first_i,
  input  logic [511:0] data_i,
  // The register after the beat that came four cycles ago; held while valid_o is 0.
  output logic         valid_o,
  output logic [31:0]  crc_o
);
  localparam crc_cols_t Cols = byte_cols(Poly);
  localparam crc_tab_t T1 = byte_tab(Cols, 1);
  localparam crc_tab_t T2 = byte_tab(Cols, 2);
  localparam crc_tab_t T3 = byte_tab(Cols, 3);
  localparam crc_tab_t T4 = byte_tab(Cols, 4);
  localparam crc_tab_t T5 = byte_tab(Cols, 5);
  localparam crc_tab_t T6 = byte_tab(Cols, 6);
  localparam crc_tab_t T7 = byte_tab(Cols, 7);
  localparam crc_tab_t T8 = byte_tab(Cols, 8);
  localparam crc_tab_t T9 = byte_tab(Cols, 9);
  localparam crc_tab_t T10 = byte_tab(Cols, 10);
  localparam crc_tab_t T11 = byte_tab(Cols, 11);
  localparam crc_tab_t T12 = byte_tab(Cols, 12);
  localparam crc_tab_t T13 = byte_tab(Cols, 13);
  localparam crc_tab_t T14 = byte_tab(Cols, 14);
  localparam crc_tab_t T15 = byte_tab(Cols, 15);
  localparam crc_tab_t T16 = byte_tab(Cols, 16);
  localparam crc_tab_t T29 = byte_tab(Cols, 29);
  localparam crc_tab_t T30 = byte_tab(Cols, 30);
  localparam crc_tab_t T31 = byte_tab(Cols, 31);
  localparam crc_tab_t T32 = byte_tab(Cols, 32);
  localparam crc_tab_t T61 = byte_tab(Cols, 61);
  localparam crc_tab_t T62 = byte_tab(Cols, 62);
  localparam crc_tab_t T63 = byte_tab(Cols, 63);
  localparam crc_tab_t T64 = byte_tab(Cols, 64);

  // Returns the contribution of 16 bytes to the register, the first byte in the low bits.
  function automatic logic [31:0] crc16b(input logic [127:0] d);
    crc16b = ((T16[d[7:0]] ^ T15[d[15:8]]) ^ (T14[d[23:16]] ^ T13[d[31:24]])) ^
             ((T12[d[39:32]] ^ T11[d[47:40]]) ^ (T10[d[55:48]] ^ T9[d[63:56]])) ^
             ((T8[d[71:64]] ^ T7[d[79:72]]) ^ (T6[d[87:80]] ^ T5[d[95:88]])) ^
             ((T4[d[103:96]] ^ T3[d[111:104]]) ^ (T2[d[119:112]] ^ T1[d[127:120]]));
  endfunction

  // Advance a register value by 16, 32 and 64 zero bytes.
  function automatic logic [31:0] adv16(input logic [31:0] c);
    adv16 = (T16[c[7:0]] ^ T15[c[15:8]]) ^ (T14[c[23:16]] ^ T13[c[31:24]]);
  endfunction

  function automatic logic [31:0] adv32(input logic [31:0] c);
    adv32 = (T32[c[7:0]] ^ T31[c[15:8]]) ^ (T30[c[23:16]] ^ T29[c[31:24]]);
  endfunction

  function automatic logic [31:0] adv64(input logic [31:0] c);
    adv64 = (T64[c[7:0]] ^ T63[c[15:8]]) ^ (T62[c[23:16]] ^ T61[c[31:24]]);
  endfunction

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
