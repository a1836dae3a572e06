/// Keeps copies, and the frames of each port, from waiting for one another (contract D7, D8, T13):
/// an entry goes on when its queue has nothing else under way than its kind, and its way has room
/// that no list waits for; else it is parked in its queue's list, and the entries of other queues
/// pass it. Each queue may have Few entries fetched whatever the others do, so that none waits for
/// the lists of others.

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
  // Ways: the ports, then the channels of the copy engine.
  localparam int Ways   = Ports + (HasCopy ? nic_copy_pkg::Channels : 0);
  localparam int Ww     = $clog2(Ways + 1);

  // What an entry is for: the copy engine, or a port.
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
  logic [4:0]        used_q [Ways];        // places of each way

  entry_t            out_q;
  logic              out_valid_q;

  logic [Qw-1:0]     in, look, go_q;
  need_t             in_need;
  kind_t             in_kind, look_kind, go_kind;
  logic [Ww-1:0]     in_way, look_way, look_from, go_way;
  logic              clk_g, take, roomy, crowded, last_one;
  // An entry that comes may go on; the list in turn waits for others of its queue, for a place.
  logic              may, order, full;
  logic              look_valid, turn_wake, pop, pass, go, park, begins;
  logic [Ways:0]     room, waits, left;    // the last bit stands for no way
  logic [Pw-1:0]     place, head;
  wqe_t              wqe;
  logic              unused_wqe;
  logic [15:0]       held;

  // Entries without a frame go the way of others of their queue, so that no other port holds them.
  function automatic kind_t kind(input logic [Qw-1:0] q, input need_t n);
    kind.copy = n.kind.copy;
    kind.port = Ports > 1 && !n.kind.copy && (n.any ? port_q[q] : n.kind.port);
  endfunction

  function automatic logic [Ww-1:0] way(input logic [Chw-1:0] c, input kind_t k);
    way = HasCopy && k.copy ? Ww'(Ports) + Ww'(c) : Ww'(k.port);
  endfunction

  // The queue has nothing else under way than entries of the kind.
  function automatic logic ordered(input logic [Qw-1:0] q, input kind_t k);
    ordered = open_q[q] == 16'd0 || (copies_q[q] == k.copy && (k.copy || port_q[q] == k.port));
  endfunction

  // Awake when entries come, wait, go on or end, or are being fetched.
  nic_clkgate u_gate (.clk, .clk_o(clk_g), .enable_i(rst || valid_i || out_valid_q ||
    turn_wake || fetch_i || lost_num_i != 3'd0 || end_i || sent_i != '0));

  assign in          = id_i.qid[Qw-1:0];
  assign wqe         = wqe_t'(wqe_i);
  assign unused_wqe  = ^wqe;
  assign in_need.any = id_i.is_event || wqe.opcode != OpcodeSend || wqe.port >= 8'(Ports);
  assign in_need.kind.port = wqe.port[0];
  assign in_need.kind.copy = HasCopy && !id_i.is_event &&
                             (wqe.opcode == OpcodeCopy || wqe.opcode == OpcodeInvalidate ||
                              wqe.opcode == OpcodeCopyInvalidate);
  assign in_kind     = kind(in, in_need);
  assign in_way      = way(in[Chw-1:0], in_kind);

  always_comb begin
    room = '1;
    for (int w = 0; w < Ways; w++) room[w] = used_q[w] != 5'(w < Ports ? Sends : Jobs);
    left            = '0;
    left[Ports-1:0] = sent_i;
    if (end_i && copies_q[end_q_i]) left[way(end_q_i[Chw-1:0], '{copy: 1'b1, port: 1'b0})] = 1'b1;
  end

  nic_txturn #(.NumTxq(NumTxq), .Ways(Ways)) u_turn (
    .clk(clk_g), .rst, .room_i(room), .waits_o(waits), .add_i(begins), .add_q_i(in), .end_i,
    .end_q_i, .valid_o(look_valid), .q_o(look), .from_o(look_from), .way_i(look_way),
    .keep_i(!order && !full && !take), .order_i(order), .full_i(full), .last_i(pop && last_one),
    .wake_o(turn_wake)
  );

  // The list in turn.
  assign head      = first_q[look];
  assign look_kind = kind(look, need_mem[head]);
  assign look_way  = way(look[Chw-1:0], look_kind);
  assign last_one  = head == last_q[look];
  assign order     = !ordered(look, look_kind);
  assign full      = !order && (!room[look_way] || (waits[look_way] && look_from != look_way));
  assign take      = !out_valid_q || ready_i;
  assign pop       = look_valid && take && !order && !full;

  // What might go on but for the way out waits for it.
  assign may       = !listed_q[in] && ordered(in, in_kind) && room[in_way] && !waits[in_way];
  assign pass      = valid_i && take && !pop && may;
  assign park      = valid_i && !may;
  assign begins    = park && (!listed_q[in] || (pop && look == in && last_one));
  assign ready_o   = pass || park;
  assign go        = pop || pass;
  assign go_q      = pop ? look : in;
  assign go_kind   = pop ? look_kind : in_kind;
  assign go_way    = pop ? look_way : in_way;
  assign place     = fresh_q[Pw] ? free_mem[reuse_q[Pw-1:0]] : fresh_q[Pw-1:0];

  assign valid_o       = out_valid_q;
  assign {id_o, wqe_o} = out_q;

  // What may be fetched.
  assign held        = known_q[fetch_q_i] ?
                       got_q[fetch_q_i] - gone_q[fetch_q_i] - lost_q[fetch_q_i] : 16'd0;
  assign roomy       = total_q <= (Pw + 1)'(Places - Few * NumTxq - 4);
  assign crowded     = Ports > 1 && (listed_q[fetch_q_i] ||
                       (known_q[fetch_q_i] && !room[Ww'(port_q[fetch_q_i])]));

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
    if (pop)       out_q <= entry_mem[head];
    else if (pass) out_q <= '{id: id_i, wqe: wqe_i};
    if (go) out_q.id.port <= go_kind.port;
    if (take) out_valid_q <= go;

    if (pop) begin
      free_mem[back_q[Pw-1:0]] <= head;
      back_q                   <= back_q + 1'b1;
      first_q[look]            <= next_mem[head];
      if (last_one) begin
        listed_q[look] <= 1'b0;
        slow_q[look]   <= 1'b0;
      end
    end
    if (park) begin
      entry_mem[place] <= '{id: id_i, wqe: wqe_i};
      need_mem[place]  <= in_need;
      if (fresh_q[Pw]) reuse_q <= reuse_q + 1'b1;
      else             fresh_q <= fresh_q + 1'b1;
      if (begins) first_q[in] <= place;
      else        next_mem[last_q[in]] <= place;
      last_q[in]   <= place;
      listed_q[in] <= 1'b1;
      if (in_kind.copy || (open_q[in] != 16'd0 && copies_q[in])) slow_q[in] <= 1'b1;
    end

    // Accounts.
    if (go) begin
      gone_q[go_q]   <= gone_q[go_q] + 16'd1;
      copies_q[go_q] <= go_kind.copy;
      if (!go_kind.copy) port_q[go_q] <= go_kind.port;
    end
    if (!(go && end_i && go_q == end_q_i)) begin
      if (go)    open_q[go_q]    <= open_q[go_q] + 16'd1;
      if (end_i) open_q[end_q_i] <= open_q[end_q_i] - 16'd1;
    end
    for (int w = 0; w < Ways; w++) begin
      used_q[w] <= used_q[w] + 5'(go && go_way == Ww'(w)) - 5'(left[w]);
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
    total_q <= total_q + (fetch_i ? (Pw + 1)'(fetch_num_i) : '0) - (Pw + 1)'(go) -
               (Pw + 1)'(lost_num_i);

    // A queue that may fetch nothing is left out until something of it goes on.
    if (fetch_i && fetch_max_o == 3'd0) blocked_q[fetch_q_i] <= 1'b1;
    if (go)                             blocked_q[go_q]      <= 1'b0;
    if (lost_num_i != 3'd0)             blocked_q[lost_q_i]  <= 1'b0;

    if (rst) begin
      for (int w = 0; w < Ways; w++) used_q[w] <= '0;
      known_q      <= '0;
      listed_q     <= '0;
      slow_q       <= '0;
      blocked_q    <= '0;
      out_valid_q  <= 1'b0;
      fresh_q      <= '0;
      back_q       <= '0;
      reuse_q      <= '0;
      total_q      <= '0;
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
