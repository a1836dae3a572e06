/// Keeps copies, and the frames of each port, from waiting for one another (contract D7, D8, T13):
/// an entry goes on when its queue has nothing else under way than its kind, and its way has room;
/// else it is parked in its queue's list, and the entries of other queues pass it. Each queue may
/// have Few entries fetched whatever the others do, so that none waits for the lists of others.

module nic_txpark
  import nic_pkg::*, nic_tx_pkg::*;
#(
  // Ethernet ports, 1 or 2.
  parameter int Ports = 1,
  // Transmit queues, a power of two.
  parameter int NumTxq = 64,
  // Places for entries beyond Few a queue, at least.
  parameter int Shared = 256,
  // Entries of a port that may be on their way to its gather buffer.
  parameter int Sends = 16,
  // There is a copy engine.
  parameter bit HasCopy = 1'b1,
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
  // A frame's entry has reached its port's gather buffer; something of a queue ended.
  input  logic [Ports-1:0]  sent_i,
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
  localparam int Ways   = nic_copy_pkg::Channels;
  localparam int Ptw    = Ports > 1 ? $clog2(Ports) : 1;

  // The way of an entry: the copy engine, or a port.
  typedef struct packed {
    logic copy;
    logic port;
  } kind_t;

  // What it asks for; without a frame any port will do.
  typedef struct packed {
    logic  any;
    kind_t kind;
  } need_t;

  typedef struct packed {
    tx_id_t       id;
    logic [511:0] wqe;
  } entry_t;

  // Lists: entries by place, first and last place of each queue.
  entry_t            entry_mem [Places];
  logic [Pw-1:0]     next_mem  [Places];
  need_t             need_mem  [Places];
  logic [Pw-1:0]     free_mem  [Places];
  logic [Pw:0]       fresh_q, back_q, reuse_q;
  logic [Pw-1:0]     first_q [NumTxq];
  logic [Pw-1:0]     last_q  [NumTxq];
  logic [NumTxq-1:0] listed_q;             // the list has an entry
  logic [NumTxq-1:0] slow_q;               // it waits for a copy, or is one
  // It sleeps: its first entry waits for others of its queue; for a place in its channel; for one
  // before the port's buffer.
  logic [NumTxq-1:0] order_q;
  logic [NumTxq-1:0] chan_full_q;
  logic [Ports-1:0][NumTxq-1:0] port_full_q;
  logic [NumTxq-1:0] blocked_q;

  // Of each queue, from its first fetch since the reset on: entries fetched, gone on, not come;
  // under way, and their kind.
  logic [NumTxq-1:0] known_q;
  logic [15:0]       got_q  [NumTxq];
  logic [15:0]       gone_q [NumTxq];
  logic [15:0]       lost_q [NumTxq];
  logic [15:0]       open_q [NumTxq];
  logic [NumTxq-1:0] copies_q;             // copies
  logic [NumTxq-1:0] port_q;               // frames: of this port, or the last ones were
  logic [Pw:0]       total_q;
  logic [4:0]        chan_q  [Ways];
  logic [4:0]        sends_q [Ports];

  entry_t            out_q;
  logic              out_valid_q;
  logic [Qw-1:0]     look_q;               // the list that is looked at
  logic              look_valid_q;

  logic [Qw-1:0]     in, go_q;
  need_t             in_need;
  kind_t             in_kind, look_kind, go_kind;
  logic              clk_g, take, pop, pass, park, end_copy, roomy, crowded, last_one;
  logic [Pw-1:0]     place, head;
  wqe_t              wqe;
  logic              unused_wqe;
  logic [15:0]       held;

  // Entries without a frame go the way of others of their queue, so that no other port holds them.
  function automatic kind_t way(input logic [Qw-1:0] q, input need_t n);
    way.copy = n.kind.copy;
    way.port = Ports > 1 && !n.kind.copy && (n.any ? port_q[q] : n.kind.port);
  endfunction

  // The queue has nothing else under way than entries of the kind; there is room on its way.
  function automatic logic ordered(input logic [Qw-1:0] q, input kind_t k);
    ordered = open_q[q] == 16'd0 || (copies_q[q] == k.copy && (k.copy || port_q[q] == k.port));
  endfunction

  function automatic logic free(input logic [Chw-1:0] c, input kind_t k);
    free = k.copy ? chan_q[c] != 5'(Jobs) : sends_q[Ptw'(k.port)] != 5'(Sends);
  endfunction

  function automatic logic may(input logic [Qw-1:0] q, input kind_t k);
    may = ordered(q, k) && free(q[Chw-1:0], k);
  endfunction

  // Awake when entries come, wait, go on or end, or are being fetched.
  nic_clkgate u_gate (.clk, .clk_o(clk_g), .enable_i(rst || valid_i || out_valid_q ||
    look_valid_q || listed_q != '0 || fetch_i || lost_num_i != 3'd0 || end_i || sent_i != '0));

  assign in          = id_i.qid[Qw-1:0];
  assign wqe         = wqe_t'(wqe_i);
  assign unused_wqe  = ^wqe;
  assign in_need.any = id_i.is_event || wqe.opcode != OpcodeSend || wqe.port >= 8'(Ports);
  assign in_need.kind.port = wqe.port[0];
  assign in_need.kind.copy = HasCopy && !id_i.is_event &&
                             (wqe.opcode == OpcodeCopy || wqe.opcode == OpcodeInvalidate ||
                              wqe.opcode == OpcodeCopyInvalidate);
  assign in_kind     = way(in, in_need);

  assign head      = first_q[look_q];
  assign look_kind = way(look_q, need_mem[head]);
  assign last_one  = head == last_q[look_q];
  assign take      = !out_valid_q || ready_i;
  assign pop       = look_valid_q && take && may(look_q, look_kind);
  assign pass      = valid_i && !listed_q[in] && take && !pop && may(in, in_kind);
  // What might go on but for the way out waits for it.
  assign park      = valid_i && (listed_q[in] || !may(in, in_kind));
  assign ready_o   = pass || park;
  assign go_q      = pop ? look_q : in;
  assign go_kind   = pop ? look_kind : in_kind;
  assign end_copy  = end_i && copies_q[end_q_i];
  assign place     = fresh_q[Pw] ? free_mem[reuse_q[Pw-1:0]] : fresh_q[Pw-1:0];

  assign valid_o       = out_valid_q;
  assign {id_o, wqe_o} = out_q;

  // What may be fetched.
  assign held        = known_q[fetch_q_i] ?
                       got_q[fetch_q_i] - gone_q[fetch_q_i] - lost_q[fetch_q_i] : 16'd0;
  assign roomy       = total_q <= (Pw + 1)'(Places - Few * NumTxq - 4);
  assign crowded     = Ports > 1 && (listed_q[fetch_q_i] ||
                       (known_q[fetch_q_i] && sends_q[Ptw'(port_q[fetch_q_i])] == 5'(Sends)));

  // A queue that waits for its port has four entries, read at once.
  always_comb begin
    fetch_max_o = held < 16'(Few) ? 3'(16'(Few) - held) : 3'd0;
    if (!slow_q[fetch_q_i]) begin
      if (Ports > 1 && held != 16'd0) fetch_max_o = 3'd0;
      if (roomy && !crowded)          fetch_max_o = 3'd4;
    end
  end
  assign blocked_o   = blocked_q;

  always_ff @(posedge clk_g) begin
    logic [NumTxq-1:0] awake, after, pick;
    // The next list in turn.
    look_valid_q <= 1'b0;
    awake = '0;
    if (listed_q != '0 && !look_valid_q) begin
      awake = listed_q & ~order_q & ~chan_full_q;
      for (int p = 0; p < Ports; p++) awake = awake & ~port_full_q[p];
    end
    if (awake != '0) begin
      after        = awake & ({NumTxq{1'b1}} << look_q << 1);
      pick         = after != '0 ? after : awake;
      pick         = pick & (~pick + NumTxq'(1));
      look_q       <= Qw'($countones(pick - NumTxq'(1)));
      look_valid_q <= 1'b1;
    end

    // Lists whose first entry cannot go on sleep until what it waits for happens.
    if (look_valid_q && !ordered(look_q, look_kind)) order_q[look_q] <= 1'b1;
    else if (look_valid_q && !free(look_q[Chw-1:0], look_kind)) begin
      if (look_kind.copy) chan_full_q[look_q] <= 1'b1;
      for (int p = 0; p < Ports; p++) begin
        if (!look_kind.copy && look_kind.port == 1'(p)) port_full_q[p][look_q] <= 1'b1;
      end
    end
    if (end_i)    order_q[end_q_i] <= 1'b0;
    if (end_copy) chan_full_q <= chan_full_q & ~{NumTxq / Ways{Ways'(1) << end_q_i[Chw-1:0]}};
    for (int p = 0; p < Ports; p++) if (sent_i[p]) port_full_q[p] <= '0;

    if (pop)       out_q <= entry_mem[head];
    else if (pass) out_q <= '{id: id_i, wqe: wqe_i};
    if (pop || pass) out_q.id.port <= go_kind.port;
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
      need_mem[place]  <= in_need;
      if (fresh_q[Pw]) reuse_q <= reuse_q + 1'b1;
      else             fresh_q <= fresh_q + 1'b1;
      if (!listed_q[in] || (pop && look_q == in && last_one)) first_q[in] <= place;
      else next_mem[last_q[in]] <= place;
      last_q[in]   <= place;
      listed_q[in] <= 1'b1;
      if (in_kind.copy || (open_q[in] != 16'd0 && copies_q[in])) slow_q[in] <= 1'b1;
    end

    // Accounts.
    if (pop || pass) begin
      gone_q[go_q]   <= gone_q[go_q] + 16'd1;
      copies_q[go_q] <= go_kind.copy;
      if (!go_kind.copy) port_q[go_q] <= go_kind.port;
    end
    if (!((pop || pass) && end_i && go_q == end_q_i)) begin
      if (pop || pass) open_q[go_q]    <= open_q[go_q] + 16'd1;
      if (end_i)       open_q[end_q_i] <= open_q[end_q_i] - 16'd1;
    end
    for (int c = 0; c < Ways; c++) begin
      chan_q[c] <= chan_q[c] + 5'((pop || pass) && go_kind.copy && go_q[Chw-1:0] == Chw'(c)) -
                   5'(end_copy && end_q_i[Chw-1:0] == Chw'(c));
    end
    for (int p = 0; p < Ports; p++) begin
      sends_q[p] <= sends_q[p] - 5'(sent_i[p]) +
                    5'((pop || pass) && !go_kind.copy && go_kind.port == 1'(p));
    end
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
      for (int c = 0; c < Ways; c++)  chan_q[c]  <= '0;
      for (int p = 0; p < Ports; p++) sends_q[p] <= '0;
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
      order_q      <= '0;
      chan_full_q  <= '0;
      port_full_q  <= '0;
      port_q       <= '0;
    end
  end

`ifndef SYNTHESIS
  a_places: assert property (@(posedge clk) disable iff (rst)
    park |-> !fresh_q[Pw] || back_q != reuse_q);
  a_out_held: assert property (@(posedge clk) disable iff (rst)
    valid_o && !ready_i |=> valid_o && $stable(id_o) && $stable(wqe_o));
`endif
endmodule
