/// Noise for idle pins: the function noise(key, tick) of the harness (random.hpp), for one stream
/// after the other, 64 bits at a time. Word w of a stream has key ^ 8w.
/// Latency: 16 cycles a word.
/// Promises: load_o[i] pulses once for each time that want_i[i] rises, with noise_o complete.
/// Asserts: nothing; shell_noise_test compares it with the function.

module shell_noise
  import shell_pkg::*;
#(
  // Streams, and the words that each of them needs.
  parameter int                       Streams = 1,
  parameter logic [Streams-1:0][15:0] Words   = '1,
  // The largest of these.
  parameter int                       Most    = 1
) (
  input  logic                              clk,
  input  logic                              rst,
  input  logic [Streams-1:0]                want_i,
  input  logic [Streams-1:0][63:0]          key_i,
  input  logic [Streams-1:0][CycleBits-1:0] tick_i,
  output logic [Streams-1:0]                load_o,
  output logic [Most-1:0][63:0]             noise_o
);
  localparam int Sw = Streams > 1 ? $clog2(Streams) : 1;

  // Factors of the three products.
  localparam logic [3:0][63:0] Factor =
    {64'h0, 64'h94d0_49bb_1331_11eb, 64'hbf58_476d_1ce4_e5b9, 64'h9e37_79b9_7f4a_7c15};

  typedef enum logic [1:0] {Idle, Start, Multiply, Store} state_e;

  state_e      state_q;
  logic [Sw-1:0] stream_q, first;
  logic [15:0] word_q;
  logic [1:0]  product_q, quarter_q;
  logic [63:0] value_q, sum_q, part, sum, mixed;

  always_comb begin
    first = '0;
    for (int i = Streams - 1; i >= 0; i--) begin
      if (want_i[i]) first = Sw'(i);
    end
  end

  // A quarter of a product: 64 bits by 16 bits.
  assign part = (value_q * 64'(Factor[product_q][16*quarter_q +: 16])) << {quarter_q, 4'b0};
  assign sum  = sum_q + part;
  assign mixed = product_q == 2'd0 ? sum ^ (sum >> 30)
               : product_q == 2'd1 ? sum ^ (sum >> 27)
               : sum ^ (sum >> 31);

  always_ff @(posedge clk) begin
    load_o <= '0;
    case (state_q)
      Idle: begin
        stream_q <= first;
        word_q   <= '0;
        if (want_i != '0 && load_o == '0) state_q <= Start;
      end
      Start: begin
        value_q   <= 64'(tick_i[stream_q]);
        sum_q     <= key_i[stream_q] ^ {45'h0, word_q, 3'b0};
        product_q <= '0;
        quarter_q <= '0;
        state_q   <= Multiply;
      end
      Multiply: begin
        quarter_q <= quarter_q + 1'b1;
        sum_q     <= sum;
        if (quarter_q == 2'd3) begin
          sum_q     <= '0;
          value_q   <= mixed;
          product_q <= product_q + 1'b1;
          if (product_q == 2'd2) state_q <= Store;
        end
      end
      default: begin
        for (int w = 0; w < Most; w++) begin
          if (word_q == 16'(w)) noise_o[w] <= value_q;
        end
        word_q  <= word_q + 1'b1;
        state_q <= Start;
        if (word_q + 1'b1 == Words[stream_q]) begin
          load_o[stream_q] <= 1'b1;
          state_q          <= Idle;
        end
      end
    endcase
    if (rst) begin
      state_q <= Idle;
      load_o  <= '0;
    end
  end
endmodule
