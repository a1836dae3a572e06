/// Advances a CRC-32 register by 0..16,383 zero bytes: returns the contribution of four bytes to a
/// CRC whose range ends that many bytes after them.
/// Latency: seven cycles. One result a cycle.
/// Promises: crc_o stays until the next result.
/// Asserts: nothing; it cannot be held back.

module nic_crc32_fwd
  import nic_crc32_pkg::*;
#(
  // Reflected polynomial.
  parameter logic [31:0] Poly = PolyCrc32
) (
  input  logic        clk,
  // A register value and the number of zero bytes to advance it by.
  input  logic        valid_i,
  input  logic [31:0] crc_i,
  input  logic [13:0] bytes_i,
  // The result of seven cycles ago.
  output logic [31:0] crc_o
);
  localparam int Steps  = 14;
  localparam int Stages = Steps / 2;

  // Mats[32k + b] is what bit b of the register becomes 2^k zero bytes later. Each matrix is the
  // one before it applied twice.
  typedef logic [31:0] mats_t[32*Steps];
  localparam mats_t Mats = mats();

  function automatic mats_t mats();
    logic [31:0] twice_m;
    for (int b = 0; b < 32; b++) mats[b] = adv(Poly, 32'h1 << b, 1);
    for (int b = 32; b < 32 * Steps; b++) begin
      twice_m = '0;
      for (int k = 0; k < 32; k++) if (mats[b-32][k]) twice_m ^= mats[(b&~31)-32+k];
      mats[b] = twice_m;
    end
  endfunction

  function automatic logic [31:0] step(input logic [31:0] c, input int k);
    step = '0;
    for (int b = 0; b < 32; b++) if (c[b]) step = step ^ Mats[32*k+b];
  endfunction

  logic [Stages-1:0] valid_q;
  logic [31:0]       crc_q   [Stages];
  logic [13:0]       bytes_q [Stages];

  assign crc_o = crc_q[Stages-1];

  always_ff @(posedge clk) begin
    valid_q <= {valid_q[Stages-2:0], valid_i};
    for (int s = 0; s < Stages; s++) begin
      logic [31:0] c;
      logic [13:0] n;
      if (s == 0 ? valid_i : valid_q[s-1]) begin
        c = s == 0 ? crc_i : crc_q[s-1];
        n = s == 0 ? bytes_i : bytes_q[s-1];
        if (n[2*s])   c = step(c, 2 * s);
        if (n[2*s+1]) c = step(c, 2 * s + 1);
        crc_q[s]   <= c;
        bytes_q[s] <= n;
      end
    end
  end
endmodule
