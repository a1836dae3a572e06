/// Limits how many blocks of work entries each transmit queue may have fetched: parameter `Few` in
/// any case; more while places for parked blocks that all queues share are free and nothing delays
/// the queue's entries.

module nic_txshare #(
  // Number of Ethernet ports, 1 or 2.
  parameter int Ports = 1,
  // Number of transmit queues, a power of two.
  parameter int NumTxq = 64,
  // Places for parked blocks; of these, each queue has `Few` to itself.
  parameter int Places = 512,
  // Blocks that each queue may always have fetched; at least those of the longest entry.
  parameter int Few = 4,
  localparam int Qw = $clog2(NumTxq),
  localparam int Pw = $clog2(Places)
) (
  input  logic              clk,
  input  logic              rst,
  // Queue that is to fetch; max_o: blocks that it may fetch.
  input  logic [Qw-1:0]     fetch_q_i,
  output logic [2:0]        max_o,
  // Pulse: queue fetch_q_i requests num_i blocks.
  input  logic              fetch_i,
  input  logic [2:0]        num_i,
  // With fetch_i: high if queue fetch_q_i requests its first blocks since reset.
  output logic              new_o,
  // High if the list of queue fetch_q_i waits for a copy or holds one.
  input  logic              slow_i,
  // High if queue fetch_q_i has complete entries parked, or its port's lane is full.
  input  logic              crowded_i,
  // Blocks of queue fetch_q_i that belong to an incomplete entry.
  input  logic [1:0]        have_i,
  // lost_num_i blocks requested by queue lost_q_i will not come.
  input  logic [Qw-1:0]     lost_q_i,
  input  logic [2:0]        lost_num_i,
  // Pulse: a block of queue gone_q_i left nic_txpark.
  input  logic              gone_i,
  input  logic [Qw-1:0]     gone_q_i,
  // Pulse: a block was added to the incomplete entry of queue came_q_i.
  input  logic              came_i,
  input  logic [Qw-1:0]     came_q_i,
  // One bit a queue: it must not fetch now.
  output logic [NumTxq-1:0] blocked_o
);
  // One bit a queue: it has fetched since reset, so that its counts below are valid; it must not
  // fetch now.
  logic [NumTxq-1:0] known_q, blocked_q;
  // For each queue since its first fetch after reset: blocks requested, passed on, and lost.
  logic [15:0]       got_q  [NumTxq];
  logic [15:0]       gone_q [NumTxq];
  logic [15:0]       lost_q [NumTxq];
  logic [Pw:0]       total_q;
  logic [15:0]       held;
  logic              roomy;

  assign blocked_o = blocked_q;
  assign new_o     = fetch_i && !known_q[fetch_q_i];
  assign held      = known_q[fetch_q_i] ?
                     got_q[fetch_q_i] - gone_q[fetch_q_i] - lost_q[fetch_q_i] : 16'd0;
  assign roomy     = total_q <= (Pw + 1)'(Places - Few * NumTxq - 4);

  // A queue that waits for a copy may hold `Few` blocks. Any other may fetch four together while
  // shared places are free and the queue does not wait for its port; otherwise, with two ports, it
  // may only fetch what completes an entry.
  always_comb begin
    max_o = held < 16'(Few) ? 3'(16'(Few) - held) : 3'd0;
    if (!slow_i) begin
      if (Ports > 1 && held != 16'(have_i)) max_o = 3'd0;
      if (roomy && !crowded_i)              max_o = 3'd4;
    end
  end

  always_ff @(posedge clk) begin
    if (gone_i) gone_q[gone_q_i] <= gone_q[gone_q_i] + 16'd1;
    if (fetch_i && known_q[fetch_q_i]) got_q[fetch_q_i] <= got_q[fetch_q_i] + 16'(num_i);
    if (lost_num_i != 3'd0) lost_q[lost_q_i] <= lost_q[lost_q_i] + 16'(lost_num_i);
    if (new_o) begin
      known_q[fetch_q_i] <= 1'b1;
      got_q[fetch_q_i]   <= 16'(num_i);
      gone_q[fetch_q_i]  <= '0;
      lost_q[fetch_q_i]  <= '0;
    end
    total_q <= total_q + (fetch_i ? (Pw + 1)'(num_i) : '0) - (Pw + 1)'(gone_i) -
               (Pw + 1)'(lost_num_i);

    // A queue for which max_o was 0 is blocked until one of its blocks leaves nic_txpark, is added
    // to an incomplete entry, or is lost.
    if (fetch_i && max_o == 3'd0) blocked_q[fetch_q_i] <= 1'b1;
    if (gone_i)                   blocked_q[gone_q_i]  <= 1'b0;
    if (came_i)                   blocked_q[came_q_i]  <= 1'b0;
    if (lost_num_i != 3'd0)       blocked_q[lost_q_i]  <= 1'b0;
    if (rst) begin
      known_q   <= '0;
      blocked_q <= '0;
      total_q   <= '0;
    end
  end
endmodule
