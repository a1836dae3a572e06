/// Keeps copies and frames from waiting for one another (contract D7, D8): an entry goes on when
/// its queue has nothing else under way than its kind, and its way has room; else it is parked in
/// its queue's list, and the entries of other queues pass it. Each queue may have Few entries
/// fetched whatever the others do, so that none is kept waiting by lists of others.

module nic_txpark
  import nic_pkg::*, nic_tx_pkg::*;
#(
  // Transmit queues, a power of two.
  parameter int NumTxq = 64,
  // Places for entries beyond Few a queue, at least.
  parameter int Shared = 256,
  // Frames on their way to the gather buffer.
  parameter int Sends = 16,
  localparam int Qw = $clog2(NumTxq)
) (
  input  logic              clk,
  input  logic              rst,
  // Entries as they were fetched, and on their way.
  input  logic              valid_i,
  output logic              ready_o,
  input  tx_id_t            id_i,
  input  logic [511:0]      wqe_i,
  output logic              valid_o,
  input  logic              ready_i,
  output tx_id_t            id_o,
  output logic [511:0]      wqe_o,
  // A frame's entry has reached the gather buffer; something of a queue ended.
  input  logic              sent_i,
  input  logic              end_i,
  input  logic [Qw-1:0]     end_q_i,
  // Entries of a queue that are being fetched: how many may be; are; will not come.
  input  logic [Qw-1:0]     fetch_q_i,
  output logic [2:0]        fetch_max_o,
  input  logic              fetch_i,
  input  logic [2:0]        fetch_num_i,
  input  logic [Qw-1:0]     lost_q_i,
  input  logic [2:0]        lost_num_i,
  // Queues that may fetch nothing.
  output logic [NumTxq-1:0] blocked_o
);
  localparam int Few    = 4;
  localparam int Places = 1 << $clog2(Few * NumTxq + Shared);
  localparam int Pw     = $clog2(Places);
  localparam int Jobs   = nic_copy_pkg::Jobs;
  localparam int Chw    = nic_copy_pkg::Chw;

  typedef struct packed {
    tx_id_t       id;
    logic [511:0] wqe;
  } entry_t;

  // Lists: entries by place, first and last place of each queue.
  entry_t            entry_mem [Places];
  logic [Pw-1:0]     next_mem  [Places];
  logic [Places-1:0] copy_q;               // the place's entry is for the copy engine
  logic [Pw-1:0]     free_mem  [Places];
  logic [Pw:0]       fresh_q, back_q, reuse_q;
  logic [Pw-1:0]     first_q [NumTxq];
  logic [Pw-1:0]     last_q  [NumTxq];
  logic [NumTxq-1:0] listed_q;             // the list has an entry
  logic [NumTxq-1:0] slow_q;               // it waits for a copy, or is one
  logic [NumTxq-1:0] blocked_q;

  // Of each queue, from its first fetch since the reset on: entries fetched, gone on, not come;
  // under way, and their kind.
  logic [NumTxq-1:0] known_q;
  logic [15:0]       got_q  [NumTxq];
  logic [15:0]       gone_q [NumTxq];
  logic [15:0]       lost_q [NumTxq];
  logic [15:0]       open_q [NumTxq];
  logic [NumTxq-1:0] kind_q;
  logic [Pw:0]       total_q;
  logic [4:0]        chan_q [nic_copy_pkg::Channels];
  logic [4:0]        sends_q;

  entry_t            out_q;
  logic              out_valid_q;
  logic [Qw-1:0]     look_q;               // the list that is looked at
  logic              look_valid_q;

  logic [Qw-1:0]     in, go_q;
  logic              in_copy, look_copy, go_copy, take, pop, pass, park, end_copy, roomy, last_one;
  logic [Pw-1:0]     place, head;
  logic [15:0]       held;

  // An entry of the kind may go on.
  function automatic logic may(input logic [Qw-1:0] q, input logic copy);
    may = (open_q[q] == 16'd0 || kind_q[q] == copy) &&
          (copy ? chan_q[q[Chw-1:0]] != 5'(Jobs) : sends_q != 5'(Sends));
  endfunction

  assign in        = id_i.qid[Qw-1:0];
  assign in_copy   = !id_i.is_event && (wqe_i[7:0] == 8'(OpcodeCopy) ||
                     wqe_i[7:0] == 8'(OpcodeInvalidate) || wqe_i[7:0] == 8'(OpcodeCopyInvalidate));
  assign head      = first_q[look_q];
  assign look_copy = copy_q[head];
  assign last_one  = head == last_q[look_q];
  assign take      = !out_valid_q || ready_i;
  assign pop       = look_valid_q && take && may(look_q, look_copy);
  assign pass      = valid_i && !listed_q[in] && take && !pop && may(in, in_copy);
  // What might go on but for the way out waits for it.
  assign park      = valid_i && (listed_q[in] || !may(in, in_copy));
  assign ready_o   = pass || park;
  assign go_q      = pop ? look_q : in;
  assign go_copy   = pop ? look_copy : in_copy;
  assign end_copy  = end_i && kind_q[end_q_i];
  assign place     = fresh_q[Pw] ? free_mem[reuse_q[Pw-1:0]] : fresh_q[Pw-1:0];

  assign valid_o   = out_valid_q;
  assign id_o      = out_q.id;
  assign wqe_o     = out_q.wqe;

  // What may be fetched.
  assign held        = known_q[fetch_q_i] ?
                       got_q[fetch_q_i] - gone_q[fetch_q_i] - lost_q[fetch_q_i] : 16'd0;
  assign roomy       = total_q <= (Pw + 1)'(Places - Few * NumTxq - 4);
  assign fetch_max_o = roomy && !slow_q[fetch_q_i] ? 3'd4 :
                       held < 16'(Few) ? 3'(16'(Few) - held) : 3'd0;
  assign blocked_o   = blocked_q;

  always_ff @(posedge clk) begin
    logic [NumTxq-1:0] after, pick;
    // The next list in turn.
    look_valid_q <= 1'b0;
    if (listed_q != '0 && !look_valid_q) begin
      after        = listed_q & ({NumTxq{1'b1}} << look_q << 1);
      pick         = after != '0 ? after : listed_q;
      pick         = pick & (~pick + NumTxq'(1));
      look_q       <= Qw'($countones(pick - NumTxq'(1)));
      look_valid_q <= 1'b1;
    end

    if (pop)       out_q <= entry_mem[head];
    else if (pass) out_q <= '{id: id_i, wqe: wqe_i};
    if (take) out_valid_q <= pop || pass;

    if (pop) begin
      free_mem[back_q[Pw-1:0]] <= head;
      back_q                   <= back_q + 1'b1;
      first_q[look_q]          <= next_mem[head];
      if (last_one) begin
        listed_q[look_q] <= 1'b0;
        slow_q[look_q]   <= 1'b0;
      end
    end
    if (park) begin
      entry_mem[place] <= '{id: id_i, wqe: wqe_i};
      copy_q[place]    <= in_copy;
      if (fresh_q[Pw]) reuse_q <= reuse_q + 1'b1;
      else             fresh_q <= fresh_q + 1'b1;
      if (!listed_q[in] || (pop && look_q == in && last_one)) first_q[in] <= place;
      else next_mem[last_q[in]] <= place;
      last_q[in]   <= place;
      listed_q[in] <= 1'b1;
      if (in_copy || (open_q[in] != 16'd0 && kind_q[in])) slow_q[in] <= 1'b1;
    end

    // Accounts.
    if (pop || pass) begin
      gone_q[go_q] <= gone_q[go_q] + 16'd1;
      kind_q[go_q] <= go_copy;
    end
    if (!((pop || pass) && end_i && go_q == end_q_i)) begin
      if (pop || pass) open_q[go_q]    <= open_q[go_q] + 16'd1;
      if (end_i)       open_q[end_q_i] <= open_q[end_q_i] - 16'd1;
    end
    for (int c = 0; c < nic_copy_pkg::Channels; c++) begin
      chan_q[c] <= chan_q[c] + 5'((pop || pass) && go_copy && go_q[Chw-1:0] == Chw'(c)) -
                   5'(end_copy && end_q_i[Chw-1:0] == Chw'(c));
    end
    sends_q <= sends_q + 5'((pop || pass) && !go_copy) - 5'(sent_i);
    if (fetch_i && known_q[fetch_q_i]) got_q[fetch_q_i] <= got_q[fetch_q_i] + 16'(fetch_num_i);
    if (lost_num_i != 3'd0) lost_q[lost_q_i] <= lost_q[lost_q_i] + 16'(lost_num_i);
    if (fetch_i && !known_q[fetch_q_i]) begin
      known_q[fetch_q_i] <= 1'b1;
      got_q[fetch_q_i]   <= 16'(fetch_num_i);
      gone_q[fetch_q_i]  <= '0;
      lost_q[fetch_q_i]  <= '0;
      open_q[fetch_q_i]  <= '0;
    end
    total_q <= total_q + (fetch_i ? (Pw + 1)'(fetch_num_i) : '0) - (Pw + 1)'(pop || pass) -
               (Pw + 1)'(lost_num_i);

    // A queue that may fetch nothing is left out until something of it goes on.
    if (fetch_i && fetch_max_o == 3'd0) blocked_q[fetch_q_i] <= 1'b1;
    if (pop || pass)                    blocked_q[go_q]      <= 1'b0;
    if (lost_num_i != 3'd0)             blocked_q[lost_q_i]  <= 1'b0;

    if (rst) begin
      for (int c = 0; c < nic_copy_pkg::Channels; c++) chan_q[c] <= '0;
      known_q      <= '0;
      listed_q     <= '0;
      slow_q       <= '0;
      blocked_q    <= '0;
      out_valid_q  <= 1'b0;
      look_q       <= '0;
      look_valid_q <= 1'b0;
      fresh_q      <= '0;
      back_q       <= '0;
      reuse_q      <= '0;
      total_q      <= '0;
      sends_q      <= '0;
    end
  end

`ifndef SYNTHESIS
  a_places: assert property (@(posedge clk) disable iff (rst)
    park |-> !fresh_q[Pw] || back_q != reuse_q);
  a_out_held: assert property (@(posedge clk) disable iff (rst)
    valid_o && !ready_i |=> valid_o && $stable(id_o) && $stable(wqe_o));
`endif
endmodule
