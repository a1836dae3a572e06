/// Tables and functions of the CRC-32 engines (reflected, polynomial 0x04C11DB7).
/// All work on the raw shift register: initial value and final XOR are the caller's.
/// Everything is linear, so a beat is cut into pieces whose results are advanced and XORed.

package nic_crc32_pkg;

  typedef logic [31:0] crc_tab_t[256];
  typedef logic [31:0] crc_mat_t[32];

  // Register after eight bytes of ones from an all-ones start: what an ICRC begins with.
  localparam logic [31:0] IcrcSeed = seed();
  // Register after data and its own CRC (least significant byte first), no final XOR.
  localparam logic [31:0] CrcResidue = 32'hdebb20e3;

  // The register n zero bytes later.
  function automatic logic [31:0] adv(input logic [31:0] c, input int n);
    adv = c;
    for (int i = 0; i < 8 * n; i++) adv = adv[0] ? ((adv >> 1) ^ 32'hedb88320) : (adv >> 1);
  endfunction

  // The register n zero bytes earlier.
  function automatic logic [31:0] rew(input logic [31:0] c, input int n);
    rew = c;
    for (int i = 0; i < 8 * n; i++) rew = rew[31] ? ((rew << 1) ^ 32'hdb710641) : (rew << 1);
  endfunction

  function automatic logic [31:0] seed();
    seed = ~32'h0;
    for (int i = 0; i < 8; i++) seed = adv(seed ^ 32'hff, 1);
  endfunction

  // What a byte contributes to the register n bytes later.
  function automatic crc_tab_t byte_tab(input int n);
    for (int b = 0; b < 256; b++) byte_tab[b] = adv(32'(b), n);
  endfunction

  // What each bit of the register was n bytes earlier.
  function automatic crc_mat_t rew_mat(input int n);
    for (int b = 0; b < 32; b++) rew_mat[b] = rew(32'h1 << b, n);
  endfunction

  localparam crc_tab_t T1 = byte_tab(1);
  localparam crc_tab_t T2 = byte_tab(2);
  localparam crc_tab_t T3 = byte_tab(3);
  localparam crc_tab_t T4 = byte_tab(4);
  localparam crc_tab_t T5 = byte_tab(5);
  localparam crc_tab_t T6 = byte_tab(6);
  localparam crc_tab_t T7 = byte_tab(7);
  localparam crc_tab_t T8 = byte_tab(8);
  localparam crc_tab_t T9 = byte_tab(9);
  localparam crc_tab_t T10 = byte_tab(10);
  localparam crc_tab_t T11 = byte_tab(11);
  localparam crc_tab_t T12 = byte_tab(12);
  localparam crc_tab_t T13 = byte_tab(13);
  localparam crc_tab_t T14 = byte_tab(14);
  localparam crc_tab_t T15 = byte_tab(15);
  localparam crc_tab_t T16 = byte_tab(16);
  localparam crc_tab_t T29 = byte_tab(29);
  localparam crc_tab_t T30 = byte_tab(30);
  localparam crc_tab_t T31 = byte_tab(31);
  localparam crc_tab_t T32 = byte_tab(32);
  localparam crc_tab_t T61 = byte_tab(61);
  localparam crc_tab_t T62 = byte_tab(62);
  localparam crc_tab_t T63 = byte_tab(63);
  localparam crc_tab_t T64 = byte_tab(64);

  localparam crc_mat_t Back1  = rew_mat(1);
  localparam crc_mat_t Back2  = rew_mat(2);
  localparam crc_mat_t Back4  = rew_mat(4);
  localparam crc_mat_t Back8  = rew_mat(8);
  localparam crc_mat_t Back16 = rew_mat(16);
  localparam crc_mat_t Back32 = rew_mat(32);

  // Contribution of 16 bytes, the first in the low bits.
  function automatic logic [31:0] crc16b(input logic [127:0] d);
    crc16b = ((T16[d[7:0]] ^ T15[d[15:8]]) ^ (T14[d[23:16]] ^ T13[d[31:24]])) ^
             ((T12[d[39:32]] ^ T11[d[47:40]]) ^ (T10[d[55:48]] ^ T9[d[63:56]])) ^
             ((T8[d[71:64]] ^ T7[d[79:72]]) ^ (T6[d[87:80]] ^ T5[d[95:88]])) ^
             ((T4[d[103:96]] ^ T3[d[111:104]]) ^ (T2[d[119:112]] ^ T1[d[127:120]]));
  endfunction

  // The register 16, 32 and 64 zero bytes later.
  function automatic logic [31:0] adv16(input logic [31:0] c);
    adv16 = (T16[c[7:0]] ^ T15[c[15:8]]) ^ (T14[c[23:16]] ^ T13[c[31:24]]);
  endfunction

  function automatic logic [31:0] adv32(input logic [31:0] c);
    adv32 = (T32[c[7:0]] ^ T31[c[15:8]]) ^ (T30[c[23:16]] ^ T29[c[31:24]]);
  endfunction

  function automatic logic [31:0] adv64(input logic [31:0] c);
    adv64 = (T64[c[7:0]] ^ T63[c[15:8]]) ^ (T62[c[23:16]] ^ T61[c[31:24]]);
  endfunction

endpackage
