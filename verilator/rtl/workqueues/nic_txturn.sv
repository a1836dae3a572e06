/// Arbitrates between the lists of parked entries. Lists that wait for a slot in the same lane take
/// turns for it, one entry each; entries of other lists do not overtake theirs. The lanes take
/// turns to be examined; so do, as one more group, the lists whose first entry's lane is not known
/// yet.

module nic_txturn #(
  // Number of transmit queues, a power of two; each has a list.
  parameter int NumTxq = 64,
  // Number of lanes: ports, channels of the copy engine, and perhaps one for entries that send
  // nothing.
  parameter int Lanes = 2,
  localparam int Qw = $clog2(NumTxq),
  localparam int Lw = $clog2(Lanes + 1)
) (
  input  logic            clk,
  input  logic            rst,
  // room_i[w]: lane w has a free slot. Bit Lanes, always set: the group of lists whose lane is not
  // known yet.
  input  logic [Lanes:0]  room_i,
  // waits_o[w]: a list waits for lane w.
  output logic [Lanes:0]  waits_o,
  // Pulse: the list of queue add_q_i, which was empty, gets an entry.
  input  logic            add_i,
  input  logic [Qw-1:0]   add_q_i,
  // Pulse: an entry or an Event of queue end_q_i ended.
  input  logic            end_i,
  input  logic [Qw-1:0]   end_q_i,
  // List whose turn it is.
  output logic            valid_o,
  output logic [Qw-1:0]   q_o,
  // Lane for which the list of queue q_o waited; Lanes: its lane was not known.
  output logic [Lw-1:0]   from_o,
  // Lane of the first entry of the list whose turn it is.
  input  logic [Lw-1:0]   lane_i,
  // High: the list keeps its turn, because its entry has more blocks or the output is full.
  input  logic            keep_i,
  // High: the first entry of the list whose turn it is must wait for other entries of its queue.
  input  logic            order_i,
  // High: the first entry of the list whose turn it is must wait for a slot in its lane.
  input  logic            full_i,
  // High: the first entry of the list whose turn it is leaves and is the list's last. With none of
  // keep_i, order_i, full_i and last_i, the entry leaves and others follow it.
  input  logic            last_i,
  // Opens the clock gate: high while a turn runs or begins.
  output logic            wake_o
);
  logic [NumTxq-1:0] wait_q [Lanes+1]; // lists that wait for lane w; w = Lanes: lane not known yet
  logic [NumTxq-1:0] order_q;          // lists whose first entry waits for others of its queue
  logic [Qw-1:0]     last_q [Lanes+1]; // list that had lane w's last turn
  logic              valid_q;
  logic [Qw-1:0]     q_q;
  logic [Lw-1:0]     from_q, from;
  logic              any, begins;

  assign valid_o = valid_q;
  assign q_o     = q_q;
  assign from_o  = from_q;
  assign begins  = any && !valid_q;
  assign wake_o  = any || valid_q;

  always_comb begin
    for (int w = 0; w <= Lanes; w++) waits_o[w] = wait_q[w] != '0;
  end

  nic_arb #(.Num(Lanes + 1)) u_arb (
    .clk, .rst, .req_i(waits_o & room_i), .take_i(begins), .valid_o(any), .index_o(from)
  );

  always_ff @(posedge clk) begin
    logic [NumTxq-1:0] set, after;
    logic [Qw-1:0]     q;
    if (begins) begin
      set          = wait_q[from];
      after        = set & ({NumTxq{1'b1}} << last_q[from] << 1);
      if (after != '0) set = after;
      set          = set & (~set + NumTxq'(1));
      q            = Qw'($countones(set - NumTxq'(1)));
      q_q          <= q;
      last_q[from] <= q;
      from_q       <= from;
    end
    valid_q <= begins || (valid_q && keep_i);

    if (valid_q && !keep_i) begin
      order_q[q_q]        <= order_i;
      wait_q[from_q][q_q] <= 1'b0;
      if (full_i) wait_q[lane_i][q_q] <= 1'b1;
      else if (!order_i && !last_i) begin
        wait_q[from_q == lane_i ? from_q : Lw'(Lanes)][q_q] <= 1'b1;
      end
    end
    if (end_i && (order_q[end_q_i] || (valid_q && order_i && q_q == end_q_i))) begin
      order_q[end_q_i]      <= 1'b0;
      wait_q[Lanes][end_q_i] <= 1'b1;
    end
    if (add_i) wait_q[Lanes][add_q_i] <= 1'b1;

    if (rst) begin
      for (int w = 0; w <= Lanes; w++) begin
        wait_q[w] <= '0;
        last_q[w] <= '0;
      end
      order_q <= '0;
      valid_q <= 1'b0;
    end
  end
endmodule
