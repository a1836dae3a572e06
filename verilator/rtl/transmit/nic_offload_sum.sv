/// Ones' complement sum of a stream of 64-byte beats, one a cycle, four cycles deep: 16-bit words
/// with their first byte low. The caller zeroes bytes outside the range.

module nic_offload_sum
  import nic_tx_pkg::*;
(
  input  logic         clk,
  input  logic         rst,
  // A beat; first_i: it starts a new sum.
  input  logic         valid_i,
  input  logic         first_i,
  input  logic [511:0] data_i,
  // Sum of the beats up to the one accepted four cycles ago; stays the same until the next beat is
  // added.
  output logic [15:0]  sum_o
);
  logic [2:0]       valid_q;
  logic [1:0]       first_q;
  logic [3:0][33:0] part_q;
  logic [31:0]      beat_q;
  logic [31:0]      acc_q;
  logic [15:0]      sum_q;

  assign sum_o = sum_q;

  always_ff @(posedge clk) begin
    logic [35:0] s;
    logic [32:0] a;
    valid_q <= rst ? '0 : {valid_q[1:0], valid_i};
    first_q <= {first_q[0], first_i};
    if (valid_i) begin
      for (int i = 0; i < 4; i++) begin
        part_q[i] <= (34'(data_i[128*i +: 32]) + 34'(data_i[128*i+32 +: 32])) +
                     (34'(data_i[128*i+64 +: 32]) + 34'(data_i[128*i+96 +: 32]));
      end
    end
    if (valid_q[0]) begin
      s = (36'(part_q[0]) + 36'(part_q[1])) + (36'(part_q[2]) + 36'(part_q[3]));
      beat_q <= {16'd0, s[15:0]} + {16'd0, s[31:16]} + {28'd0, s[35:32]};
    end
    if (valid_q[1]) begin
      a = 33'(beat_q) + (first_q[1] ? 33'd0 : 33'(acc_q));
      acc_q <= a[31:0] + 32'(a[32]);
    end
    if (valid_q[2]) sum_q <= fold(acc_q);
  end
endmodule
