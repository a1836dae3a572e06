/// Functions of the CRC-32 engines, for any reflected polynomial, and the two that the NIC has.
/// All work on the raw shift register: initial value and final XOR are the caller's.
/// Everything is linear, so a beat is cut into pieces whose results are advanced and XORed.

package nic_crc32_pkg;

  typedef logic [31:0] crc_tab_t[256];
  typedef logic [31:0] crc_mat_t[32];
  typedef logic [31:0] crc_lead_t[64];

  // Polynomials, reflected: that of Ethernet and the ICRC, and Castagnoli's.
  localparam logic [31:0] PolyCrc32  = 32'hedb88320;
  localparam logic [31:0] PolyCrc32c = 32'h82f63b78;

  // Register after eight bytes of ones from an all-ones start: what an ICRC begins with.
  localparam logic [31:0] IcrcSeed = seed();
  // Register after data and its own CRC-32 (least significant byte first), no final XOR.
  localparam logic [31:0] CrcResidue = 32'hdebb20e3;

  // The register n zero bytes later.
  function automatic logic [31:0] adv(input logic [31:0] poly, input logic [31:0] c, input int n);
    adv = c;
    for (int i = 0; i < 8 * n; i++) adv = adv[0] ? ((adv >> 1) ^ poly) : (adv >> 1);
  endfunction

  // The register n zero bytes earlier.
  function automatic logic [31:0] rew(input logic [31:0] poly, input logic [31:0] c, input int n);
    rew = c;
    for (int i = 0; i < 8 * n; i++) begin
      rew = rew[31] ? ((rew << 1) ^ ((poly << 1) | 32'h1)) : (rew << 1);
    end
  endfunction

  function automatic logic [31:0] seed();
    seed = ~32'h0;
    for (int i = 0; i < 8; i++) seed = adv(PolyCrc32, seed ^ 32'hff, 1);
  endfunction

  // What a byte contributes to the register n bytes later.
  function automatic crc_tab_t byte_tab(input logic [31:0] poly, input int n);
    logic [31:0] bit_of [8];
    for (int k = 0; k < 8; k++) bit_of[k] = adv(poly, 32'h1 << k, n);
    for (int b = 0; b < 256; b++) begin
      byte_tab[b] = '0;
      for (int k = 0; k < 8; k++) if (((b >> k) & 1) != 0) byte_tab[b] = byte_tab[b] ^ bit_of[k];
    end
  endfunction

  // What each bit of the register was n bytes earlier.
  function automatic crc_mat_t rew_mat(input logic [31:0] poly, input int n);
    for (int b = 0; b < 32; b++) rew_mat[b] = rew(poly, 32'h1 << b, n);
  endfunction

  // An all-ones start after n zero bytes that do not count: to be XORed into the first four bytes
  // of a beat whose covered range begins at byte n.
  function automatic crc_lead_t leads(input logic [31:0] poly);
    for (int n = 0; n < 64; n++) leads[n] = rew(poly, ~32'h0, n);
  endfunction

endpackage
