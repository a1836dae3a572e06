/// Functions of the CRC-32 engines, for any reflected polynomial, and the two polynomials that the
/// NIC uses. All work on the raw shift register; the caller applies initial value and final XOR. A
/// CRC is linear, so the engines split a beat, advance the register of each part, and XOR the
/// results.

package nic_crc32_pkg;

  typedef logic [31:0] crc_tab_t[256];
  typedef logic [31:0] crc_cols_t[520];
  typedef logic [31:0] crc_mat_t[32];
  typedef logic [31:0] crc_lead_t[64];

  // Reflected polynomials: CRC-32 (Ethernet, ICRC), and CRC-32C (Castagnoli).
  localparam logic [31:0] PolyCrc32  = 32'hedb88320;
  localparam logic [31:0] PolyCrc32c = 32'h82f63b78;

  // Register after eight bytes of ones from an all-ones start: the start value of an ICRC.
  localparam logic [31:0] IcrcSeed = seed();
  // Register after data followed by their own CRC-32 (least significant byte first), without final
  // XOR.
  localparam logic [31:0] CrcResidue = 32'hdebb20e3;

  // Returns the register after n more zero bytes.
  function automatic logic [31:0] adv(input logic [31:0] poly, input logic [31:0] c, input int n);
    adv = c;
    for (int i = 0; i < 8 * n; i++) adv = adv[0] ? ((adv >> 1) ^ poly) : (adv >> 1);
  endfunction

  // Returns the register before the last n zero bytes.
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

  // Element 8n + k is the contribution of bit k of a byte to the register n bytes later, n <= 64.
  // Each is computed from the one 8 before it, which keeps elaboration short.
  function automatic crc_cols_t byte_cols(input logic [31:0] poly);
    for (int k = 0; k < 8; k++) byte_cols[k] = 32'h1 << k;
    for (int i = 8; i < 520; i++) byte_cols[i] = adv(poly, byte_cols[i-8], 1);
  endfunction

  // Returns the contribution of each byte value to the register n bytes later.
  function automatic crc_tab_t byte_tab(input crc_cols_t cols, input int n);
    byte_tab[0] = '0;
    for (int k = 0; k < 8; k++) begin
      for (int b = 0; b < (1 << k); b++) byte_tab[(1<<k)+b] = byte_tab[b] ^ cols[8*n+k];
    end
  endfunction

  // rew_byte returns the matrix that rewinds the register by one byte; twice returns the matrix
  // that applies m two times.
  function automatic crc_mat_t rew_byte(input logic [31:0] poly);
    for (int b = 0; b < 32; b++) rew_byte[b] = rew(poly, 32'h1 << b, 1);
  endfunction

  function automatic crc_mat_t twice(input crc_mat_t m);
    for (int b = 0; b < 32; b++) twice[b] = apply(m[b], m);
  endfunction

  function automatic logic [31:0] apply(input logic [31:0] c, input crc_mat_t m);
    apply = '0;
    for (int b = 0; b < 32; b++) if (c[b]) apply = apply ^ m[b];
  endfunction

  // leads[n] is an all-ones start value rewound by n zero bytes. XORed into the first four bytes of
  // a range that begins at byte n of a beat, it acts as if the register had started with ones
  // there.
  function automatic crc_lead_t leads(input logic [31:0] poly);
    leads[0] = ~32'h0;
    for (int n = 1; n < 64; n++) leads[n] = rew(poly, leads[n-1], 1);
  endfunction

endpackage
