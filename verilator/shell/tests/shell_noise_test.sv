/// Tests shell_noise: every word is noise(key ^ 8 * word, tick) of the harness, random.hpp.

module shell_noise_test
  import shell_pkg::*;
(
  input  logic clk,
  input  logic rst,
  // High once the test has passed.
  output logic done_o
);
  logic [1:0]                want, load;
  logic [1:0][63:0]          key, bits;
  logic [1:0][CycleBits-1:0] tick;
  logic [31:0]               loads;

  shell_noise #(.Streams(2), .Words({16'd2, 16'd1}), .Most(2)) u_noise (
    .clk, .rst, .want_i(want), .key_i(key), .tick_i(tick), .load_o(load), .noise_o(bits)
  );

  function automatic logic [63:0] noise(logic [63:0] k, logic [CycleBits-1:0] t);
    logic [63:0] x;
    x = k + 64'(t) * 64'h9e37_79b9_7f4a_7c15;
    x = (x ^ (x >> 30)) * 64'hbf58_476d_1ce4_e5b9;
    x = (x ^ (x >> 27)) * 64'h94d0_49bb_1331_11eb;
    return x ^ (x >> 31);
  endfunction

  always_ff @(posedge clk) begin
    for (int i = 0; i < 2; i++) begin
      if (load[i]) begin
        want[i] <= 1'b0;
        loads   <= loads + 1;
        if (!want[i]) $fatal(1, "shell_noise_test: nobody asked");
        for (int w = 0; w <= i; w++) begin
          if (bits[w] != noise(key[i] ^ 64'(8 * w), tick[i])) $fatal(1, "shell_noise_test: noise");
        end
      end else if (!want[i] && $urandom_range(20) == 0) begin
        want[i] <= 1'b1;
        key[i]  <= {$urandom(), $urandom()};
        tick[i] <= CycleBits'({$urandom(), $urandom()});
      end
    end
    if (rst) begin
      want  <= '0;
      loads <= '0;
    end
  end

  assign done_o = loads > 60;
endmodule
