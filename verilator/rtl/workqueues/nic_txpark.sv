/// Keeps copies, and the frames of each port, from waiting for one another (contract D7, D8, T13).
/// An entry proceeds when all entries in flight of its queue are of its kind, and its lane has room
/// that no other list waits for; else it is parked in its queue's list, and entries of other queues
/// pass it. Entries of several blocks are always parked, and proceed once complete.

`include "nic_assert.svh"

module nic_txpark
  import nic_pkg::*, nic_tx_pkg::*;
#(
  // Number of Ethernet ports, 1 or 2.
  parameter int Ports = 1,
  // Number of transmit queues, a power of two.
  parameter int NumTxq = 64,
  // Least number of places for parked blocks that all queues share; each also has 4 of its own.
  parameter int Shared = 256,
  // Entries that may wait for a port's gather buffer.
  parameter int Sends = 16,
  // 1 if the build has a copy engine.
  parameter bit HasCopy = 1'b1,
  // 1 if entries may have several blocks (part long).
  parameter bit HasLong = 1'b1,
  localparam int Qw = $clog2(NumTxq)
) (
  input  logic              clk,
  input  logic              rst,
  // Blocks of entries as fetched; whole_o: the block at id_i and wqe_i is the last of its entry.
  input  logic              valid_i,
  output logic              ready_o,
  input  tx_id_t            id_i,
  input  logic [511:0]      wqe_i,
  output logic              whole_o,
  // Blocks of entries that proceed; more_o: another block of the same entry follows.
  output logic              valid_o,
  input  logic              ready_i,
  output tx_id_t            id_o,
  output logic [511:0]      wqe_o,
  output logic              more_o,
  // drain_i: queue drain_q_i is being disabled; its incomplete entry, if any (hold_o), is dropped.
  input  logic              drain_i,
  input  logic [Qw-1:0]     drain_q_i,
  output logic              hold_o,
  // Pulses, one bit a port: an entry reached the port's gather buffer.
  input  logic [Ports-1:0]  sent_i,
  input  logic              end_i,  // pulse: an entry or Event of queue end_q_i ended
  input  logic [Qw-1:0]     end_q_i,
  // fetch_max_o: blocks that queue fetch_q_i may fetch. fetch_i: pulse: it fetches fetch_num_i
  // blocks. lost_num_i: blocks requested by queue lost_q_i that will never come.
  input  logic [Qw-1:0]     fetch_q_i,
  output logic [2:0]        fetch_max_o,
  input  logic              fetch_i,
  input  logic [2:0]        fetch_num_i,
  input  logic [Qw-1:0]     lost_q_i,
  input  logic [2:0]        lost_num_i,
  // One bit a queue: it must not fetch now.
  output logic [NumTxq-1:0] blocked_o
);
  localparam int Few    = 4;
  localparam int Places = 1 << $clog2(Few * NumTxq + Shared);
  localparam int Pw     = $clog2(Places);
  localparam int Jobs   = nic_copy_pkg::Jobs;
  localparam int Chw    = nic_copy_pkg::Chw;
  // Lanes: the ports, the channels of the copy engine, and, with two ports, one for entries that
  // send nothing.
  localparam int NoPort = Ports + (HasCopy ? nic_copy_pkg::Channels : 0);
  localparam int Lanes  = NoPort + (Ports > 1 ? 1 : 0);
  localparam int Lw     = $clog2(Lanes + 1);

  // Destination of an entry: the copy engine, no port, or a port.
  typedef struct packed {logic copy; logic none; logic port;} kind_t;

  typedef struct packed {
    tx_id_t       id;
    logic [511:0] wqe;
    logic         more;
  } entry_t;

  // Lists of parked blocks, by place; by queue, the first, the last, the last of a complete entry.
  entry_t            entry_mem [Places];
  logic [Pw-1:0]     next_mem  [Places];
  kind_t             kind_mem  [Places];
  logic [Pw-1:0]     free_mem  [Places];
  logic [Pw:0]       fresh_q, back_q, reuse_q;
  logic [Pw-1:0]     first_q [NumTxq];
  logic [Pw-1:0]     last_q  [NumTxq];
  logic [Pw-1:0]     whole_q [NumTxq];
  logic [Pw-1:0]     begin_q [NumTxq];     // place of the incomplete entry's first block
  logic [Places-1:0] end_q, void_q;        // last block of its entry; block of an entry to discard
  logic [NumTxq-1:0][1:0] have_q, lack_q;  // incomplete entry: blocks here, blocks lacking
  logic [NumTxq-1:0] listed_q;             // the list has a complete entry
  logic [NumTxq-1:0] slow_q;               // the list holds a copy entry or waits for one in flight

  // For each queue: entries in flight, and their kind.
  logic [15:0]       open_q [NumTxq];
  kind_t             kind_q [NumTxq];
  logic [NumTxq-1:0] port_q;               // port of the queue's latest frame
  logic [4:0]        used_q [Lanes];       // entries that use a slot of the lane

  entry_t            out_q;
  logic              out_valid_q;
  logic              mid_q, mid_void_q;    // an entry was begun and has more blocks; it is void
  logic [Lw-1:0]     mid_lane_q;

  logic [Qw-1:0]     in, look, go_q;
  kind_t             in_kind, look_kind, go_kind;
  logic              in_copy, in_none;
  logic [Lw-1:0]     in_lane, look_lane, look_from, go_lane;
  logic              clk_g, take, crowded, last_one, fresh;
  logic              opens, ends, drop, adds, voids;
  logic              draining_q;           // drain_i, one cycle ago
  logic [Qw-1:0]     add_q, cut_q;
  // may: the incoming entry may proceed at once. The list being examined waits for other entries of
  // its queue (order), or for a slot in its lane (full).
  logic              may, order, full;
  logic              look_valid, turn_wake, pop, pass, go, park, begins;
  logic [Lanes:0]    room, waits, left;    // bit Lanes: lane not known yet
  logic [Pw-1:0]     place, head;
  wqe_t              wqe;
  logic              unused_wqe;

  function automatic logic [Lw-1:0] lane(input logic [Chw-1:0] c, input kind_t k);
    logic unused_lane;
    unused_lane = ^{c, k};
    lane = HasCopy && k.copy ? Lw'(Ports) + Lw'(c) : k.none ? Lw'(NoPort) : Lw'(k.port);
  endfunction

  // Returns whether all entries in flight of the queue are of the kind.
  function automatic logic ordered(input logic [Qw-1:0] q, input kind_t k);
    ordered = open_q[q] == 16'd0 || kind_q[q] == k;
  endfunction

  // The clock runs while entries arrive, wait, proceed, end or are being fetched.
  nic_clkgate u_gate (.clk, .test_en_i(1'b0), .clk_o(clk_g),
    .enable_i(rst || valid_i || out_valid_q || turn_wake || fetch_i || hold_o ||
              lost_num_i != 3'd0 || end_i || sent_i != '0));

  assign in          = id_i.qid[Qw-1:0];
  assign wqe         = wqe_t'(wqe_i);
  assign unused_wqe  = ^wqe;
  assign in_copy     = HasCopy && !id_i.is_event &&
                       (wqe.opcode == OpcodeCopy || wqe.opcode == OpcodeInvalidate ||
                        wqe.opcode == OpcodeCopyInvalidate);
  assign in_none     = Ports > 1 && !in_copy &&
                       (id_i.is_event || wqe.opcode != OpcodeSend || wqe.port >= 8'(Ports));
  assign in_kind     = '{copy: in_copy, none: in_none,
                         port: Ports > 1 && !in_copy && !in_none && wqe.port[0]};
  assign in_lane     = lane(in[Chw-1:0], in_kind);

  always_comb begin
    room = '1;
    for (int w = 0; w < Lanes; w++) begin
      room[w] = used_q[w] != 5'(w < Ports || w == NoPort ? Sends : Jobs);
    end
    left            = '0;
    left[Ports-1:0] = sent_i;
    if (end_i && (kind_q[end_q_i].copy || kind_q[end_q_i].none)) begin
      left[lane(end_q_i[Chw-1:0], kind_q[end_q_i])] = 1'b1;
    end
  end

  nic_txturn #(.NumTxq(NumTxq), .Lanes(Lanes)) u_turn (
    .clk(clk_g), .rst, .room_i(room), .waits_o(waits), .add_i(begins), .add_q_i(add_q), .end_i,
    .end_q_i, .valid_o(look_valid), .q_o(look), .from_o(look_from), .lane_i(look_lane),
    .keep_i(!order && !full && !(take && end_q[head])), .order_i(order), .full_i(full),
    .last_i(pop && last_one),
    .wake_o(turn_wake)
  );

  // The list being examined.
  assign head      = first_q[look];
  assign look_kind = kind_mem[head];
  assign look_lane = mid_q ? mid_lane_q : lane(look[Chw-1:0], look_kind);
  assign last_one  = head == whole_q[look];
  assign voids     = mid_q ? mid_void_q : void_q[head];
  assign order     = !mid_q && !voids && !ordered(look, look_kind);
  assign full      = !mid_q && !voids && !order &&
                     (!room[look_lane] || (waits[look_lane] && look_from != look_lane));
  assign take      = !out_valid_q || ready_i;
  assign pop       = look_valid && take && !order && !full;

  // opens: first block of an entry; ends: last block. An Event or disabling cuts an entry short.
  assign opens     = lack_q[in] == 2'd0 || id_i.is_event;
  assign ends      = opens ? id_i.is_event || !HasLong || wqe.blocks == 2'd0 : lack_q[in] == 2'd1;
  assign whole_o   = ends;
  assign hold_o    = drain_i && lack_q[drain_q_i] != 2'd0;
  // Wait until no block of the queue can still arrive: it would seem to open an entry.
  assign drop      = hold_o && draining_q && !(valid_i && in == drain_q_i);
  assign cut_q     = drop ? drain_q_i : in;

  // An entry that lacks only the output register waits at the input; it is not parked.
  assign may       = !listed_q[in] && lack_q[in] == 2'd0 && ends && ordered(in, in_kind) &&
                     room[in_lane] && !waits[in_lane];
  assign pass      = valid_i && take && !pop && may && !drop;
  assign park      = valid_i && !may && !drop;
  assign adds      = (park && ends) || drop;
  assign add_q     = drop ? drain_q_i : in;
  assign begins    = adds && (!listed_q[add_q] || (pop && look == add_q && last_one));
  assign ready_o   = pass || park;
  assign go        = (pop && !mid_q && !voids) || pass;
  assign go_q      = pop ? look : in;
  assign go_kind   = pop ? look_kind : in_kind;
  assign go_lane   = pop ? look_lane : in_lane;
  assign place     = fresh_q[Pw] ? free_mem[reuse_q[Pw-1:0]] : fresh_q[Pw-1:0];

  assign valid_o       = out_valid_q;
  assign {id_o, wqe_o, more_o} = out_q;

  assign crowded   = Ports > 1 && (listed_q[fetch_q_i] || !room[Lw'(port_q[fetch_q_i])]);
  nic_txshare #(.Ports(Ports), .NumTxq(NumTxq), .Places(Places), .Few(Few)) u_share (
    .clk(clk_g), .rst, .fetch_q_i, .max_o(fetch_max_o), .fetch_i, .num_i(fetch_num_i),
    .new_o(fresh), .slow_i(slow_q[fetch_q_i]), .crowded_i(crowded), .have_i(have_q[fetch_q_i]),
    .lost_q_i, .lost_num_i, .gone_i(pop || pass), .gone_q_i(go_q), .came_i(park && !ends),
    .came_q_i(in), .blocked_o
  );

  always_ff @(posedge clk) draining_q <= drain_i && !rst;

  always_ff @(posedge clk_g) begin
    if (pop)       out_q <= entry_mem[head];
    else if (pass) out_q <= '{id: id_i, wqe: wqe_i, more: 1'b0};
    if (pop) out_q.more <= !end_q[head];
    if (go) {out_q.id.no_port, out_q.id.port} <= {go_kind.none, go_kind.port};
    if (take) out_valid_q <= pass || (pop && !voids);

    if (pop) begin
      free_mem[back_q[Pw-1:0]] <= head;
      back_q                   <= back_q + 1'b1;
      first_q[look]            <= next_mem[head];
      mid_q                    <= !end_q[head];
      mid_void_q               <= voids;
      mid_lane_q               <= look_lane;
      if (last_one) begin
        listed_q[look] <= 1'b0;
        slow_q[look]   <= 1'b0;
      end
    end
    // An entry cut short becomes a complete entry to be discarded (void_q).
    if (drop || (park && id_i.is_event && lack_q[in] != 2'd0)) begin
      void_q[begin_q[cut_q]] <= 1'b1;
      end_q[last_q[cut_q]]   <= 1'b1;
      have_q[cut_q]          <= 2'd0;
      lack_q[cut_q]          <= 2'd0;
    end
    if (park) begin
      entry_mem[place] <= '{id: id_i, wqe: wqe_i, more: 1'b0};
      kind_mem[place]  <= in_kind;
      end_q[place]     <= ends;
      void_q[place]    <= 1'b0;
      if (fresh_q[Pw]) reuse_q <= reuse_q + 1'b1;
      else             fresh_q <= fresh_q + 1'b1;
      if ((!listed_q[in] && lack_q[in] == 2'd0) || (pop && look == in && head == last_q[in])) begin
        first_q[in] <= place;
      end else begin
        next_mem[last_q[in]] <= place;
      end
      last_q[in] <= place;
      have_q[in] <= ends ? 2'd0 : opens ? 2'd1 : have_q[in] + 2'd1;
      lack_q[in] <= ends ? 2'd0 : opens ? wqe.blocks : lack_q[in] - 2'd1;
      if (opens) begin
        begin_q[in] <= place;
        if (in_kind.copy || (open_q[in] != 16'd0 && kind_q[in].copy)) slow_q[in] <= 1'b1;
      end
    end
    if (adds) begin
      listed_q[add_q] <= 1'b1;
      whole_q[add_q]  <= drop ? last_q[add_q] : place;
    end

    // Count entries in flight for each queue, and slots in use for each lane.
    if (go) begin
      kind_q[go_q] <= go_kind;
      if (!go_kind.copy && !go_kind.none) port_q[go_q] <= go_kind.port;
    end
    if (!(go && end_i && go_q == end_q_i)) begin
      if (go)    open_q[go_q]    <= open_q[go_q] + 16'd1;
      if (end_i) open_q[end_q_i] <= open_q[end_q_i] - 16'd1;
    end
    for (int w = 0; w < Lanes; w++) begin
      used_q[w] <= used_q[w] + 5'(go && go_lane == Lw'(w)) - 5'(left[w]);
    end
    if (fresh) open_q[fetch_q_i] <= '0;

    if (rst) begin
      for (int w = 0; w < Lanes; w++) used_q[w] <= '0;
      listed_q     <= '0;
      have_q       <= '0;
      lack_q       <= '0;
      mid_q        <= 1'b0;
      slow_q       <= '0;
      out_valid_q  <= 1'b0;
      fresh_q      <= '0;
      back_q       <= '0;
      reuse_q      <= '0;
      port_q       <= '0;
    end
  end

  `NIC_ASSERT(a_places, park |-> !fresh_q[Pw] || back_q != reuse_q)
  `NIC_HELD(a_out_held, valid_o, ready_i, {id_o, wqe_o})
endmodule
