/// Ring of fetch slots. Each is a read of up to four blocks of work entries, in flight or complete;
/// blocks leave in the order of the reads. A slot of a queue that has stopped meanwhile is dead and
/// skipped; a slot whose read failed becomes the queue's Event.

`include "nic_assert.svh"

module nic_txq_fetch
  import nic_int_pkg::*, nic_tx_pkg::*;
#(
  // Number of transmit queues, a power of two.
  parameter int NumTxq = 64,
  // Fetch slots, a power of two.
  parameter int Slots = 64,
  // 1 if entries may be pushed (part push), so that no read is needed.
  parameter bit HasPush = 1'b0,
  localparam int Qw = $clog2(NumTxq),
  localparam int Sw = $clog2(Slots)
) (
  // Gated clock.
  input  logic          clk,
  // Ungated clock, for read responses.
  input  logic          clk_rsp,
  input  logic          rst,
  // High if slot slot_o is free.
  output logic          free_o,
  output logic [Sw-1:0] slot_o,
  // Pulse: slot slot_o is taken for alloc_num_i blocks of queue alloc_q_i, from alloc_index_i on.
  input  logic          alloc_i,
  input  logic [Qw-1:0] alloc_q_i,
  input  logic [15:0]   alloc_index_i,
  input  logic [2:0]    alloc_num_i,
  // With alloc_i: the slot is for one pushed block, push_wqe_i.
  input  logic          push_i,
  input  logic [511:0]  push_wqe_i,
  input  rd_rsp_t       rsp_i,
  // Blocks of entries in order, and Events, which have no block.
  output logic          valid_o,
  input  logic          ready_i,
  output tx_id_t        id_o,
  output logic [511:0]  wqe_o,
  // Pulse: a read of queue q_o failed.
  output logic          err_o,
  output logic [Qw-1:0] q_o,
  output logic [7:0]    status_o,
  // Blocks requested by queue q_o that will not come.
  output logic [2:0]    lost_o,
  // Queue drain_q_i is being disabled: its slots become dead.
  input  logic          drain_i,
  input  logic [Qw-1:0] drain_q_i,
  // High during a function-level reset: all slots become dead.
  input  logic          flr_i,
  // High while the queue being disabled still has slots here.
  output logic          hold_o,
  // High while a slot is in use.
  output logic          busy_o,
  // Opens the clock gate: high while bytes are written, or a slot or a block moves on.
  output logic          wake_o
);
  typedef struct packed {
    logic [Qw-1:0] q;
    logic [15:0]   index;
    logic [2:0]    num;
  } slot_t;

  slot_t            slot_mem   [Slots];
  logic [7:0]       status_mem [Slots];
  logic [Slots-1:0] pend_q, dead_q, fail_q;
  logic [Sw:0]      wr_q, rd_q;
  logic [1:0]       sub_q;              // block of the head slot that leaves next
  logic             valid_q;
  tx_id_t           id_q;
  logic [1:0]       half_q;             // line and half line of the block at the output

  slot_t            head;
  logic [Sw-1:0]    h, done_slot;
  logic             any, whole, step, pop, leaves;   // leaves: high when a block or an Event leaves

  logic [1:0]       we;
  logic [Sw-1:0]    even_a, odd_a;
  logic [TlpW-1:0]  even_m, odd_m, wdata, even_d, odd_d;
  logic             done;
  logic [15:0]      cookie;
  logic [12:0]      unused_len;
  logic             unused_cookie;
  logic [7:0]       done_status;
  logic             pushed;             // the block at the output was pushed
  logic [511:0]     push_d;

  assign slot_o   = wr_q[Sw-1:0];
  assign free_o   = wr_q != {~rd_q[Sw], rd_q[Sw-1:0]};
  assign any      = wr_q != rd_q;
  assign busy_o   = any || valid_q;
  assign wake_o   = we != 2'b00 || done || step || valid_q;
  assign h        = rd_q[Sw-1:0];
  assign head     = slot_mem[h];
  assign q_o      = head.q;
  assign status_o = status_mem[h];
  assign valid_o  = valid_q;
  assign id_o     = id_q;

  // The head slot: skip it, turn it into an Event, or output one of its blocks a step.
  assign whole    = dead_q[h] || fail_q[h];
  assign step     = any && !pend_q[h] && (dead_q[h] || !valid_q || ready_i);
  assign pop      = step && (whole || 3'(sub_q) + 3'd1 == head.num);
  assign leaves  = step && !dead_q[h];
  assign err_o    = leaves && fail_q[h];
  assign lost_o   = !pop ? 3'd0 : dead_q[h] ? head.num - 3'(sub_q) :
                    fail_q[h] ? head.num - 3'd1 : 3'd0;

  nic_place #(.Aw(Sw + 8), .Client(RdWqe)) u_place (
    .clk(clk_rsp), .rst, .rsp_i, .base_i({rsp_i.cookie[Sw-1:0], 8'd0}),
    .we_o(we), .even_addr_o(even_a), .odd_addr_o(odd_a), .even_mask_o(even_m), .odd_mask_o(odd_m),
    .data_o(wdata), .done_o(done), .cookie_o(cookie),
    .done_len_o(unused_len), .status_o(done_status)
  );

  nic_ram_mask #(.Width(TlpW), .Depth(Slots)) u_even (
    .clk, .we_i(we[0]), .waddr_i(even_a), .wdata_i(wdata), .wmask_i(even_m),
    .re_i(leaves && !sub_q[1]), .raddr_i(h), .rdata_o(even_d)
  );
  nic_ram_mask #(.Width(TlpW), .Depth(Slots)) u_odd (
    .clk, .we_i(we[1]), .waddr_i(odd_a), .wdata_i(wdata), .wmask_i(odd_m),
    .re_i(leaves && sub_q[1]), .raddr_i(h), .rdata_o(odd_d)
  );

  assign done_slot     = cookie[Sw-1:0];
  assign unused_cookie = ^cookie;

  always_comb begin
    unique case (half_q)
      2'd0:    wqe_o = even_d[511:0];
      2'd1:    wqe_o = even_d[1023:512];
      2'd2:    wqe_o = odd_d[511:0];
      default: wqe_o = odd_d[1023:512];
    endcase
    if (pushed) wqe_o = push_d;
  end

  // Memory of pushed blocks, by slot.
  if (HasPush) begin : g_push
    logic [511:0]     push_mem [Slots];
    logic [Slots-1:0] push_q;
    logic             pushed_q;
    logic [511:0]     push_d_q;

    assign pushed = pushed_q;
    assign push_d = push_d_q;

    always_ff @(posedge clk) begin
      if (alloc_i) push_q[slot_o] <= push_i;
      if (alloc_i && push_i) push_mem[slot_o] <= push_wqe_i;
      if (leaves) pushed_q <= push_q[h];
      if (leaves && push_q[h]) push_d_q <= push_mem[h];
    end
  end else begin : g_no_push
    logic unused_push;
    assign unused_push = ^push_wqe_i;
    assign pushed      = 1'b0;
    assign push_d      = '0;
  end

  always_comb begin
    hold_o = 1'b0;
    if (drain_i) begin
      hold_o = valid_q && id_q.qid == 8'(drain_q_i);
      for (int i = 0; i < Slots; i++) begin
        if (slot_mem[i].q == drain_q_i && (pend_q[i] || (live(Sw'(i)) && !dead_q[i]))) begin
          hold_o = 1'b1;
        end
      end
    end
  end

  // Returns whether slot i is in use: between the ring's pointers.
  function automatic logic live(input logic [Sw-1:0] i);
    live = {1'b0, Sw'(i - rd_q[Sw-1:0])} < (wr_q - rd_q);
  endfunction

  always_ff @(posedge clk) begin
    if (alloc_i) begin
      slot_mem[slot_o] <= '{q: alloc_q_i, index: alloc_index_i, num: alloc_num_i};
      wr_q             <= wr_q + 1'b1;
      pend_q[slot_o]   <= !push_i;
      fail_q[slot_o]   <= 1'b0;
      dead_q[slot_o]   <= err_o && head.q == alloc_q_i;
    end
    if (done) begin
      pend_q[done_slot] <= 1'b0;
      fail_q[done_slot] <= done_status != 8'd0;
      status_mem[done_slot] <= done_status;
    end
    if (err_o || drain_i || flr_i) begin
      for (int i = 0; i < Slots; i++) begin
        // Mark slots dead: those of a queue whose read failed, and those of a queue being disabled
        // or reset, unless their own read has already failed: its Event must still be reported.
        if (((err_o && slot_mem[i].q == head.q) ||
             ((flr_i || (drain_i && slot_mem[i].q == drain_q_i)) &&
              (pend_q[i] || !fail_q[i]))) &&
            !(alloc_i && Sw'(i) == slot_o)) begin
          dead_q[i] <= 1'b1;
        end
      end
    end
    if (step) sub_q <= pop ? 2'd0 : sub_q + 2'd1;
    if (pop)  rd_q  <= rd_q + 1'b1;
    if (leaves) begin
      id_q <= '{is_event: err_o, port: 1'b0, no_port: 1'b0, qid: 8'(head.q),
                index: head.index + 16'(sub_q), more: 2'd0, wqe_id: '0,
                status: err_o ? status_o : 8'd0, complete: err_o};
      half_q <= sub_q;
    end
    if (leaves)      valid_q <= 1'b1;
    else if (ready_i) valid_q <= 1'b0;
    if (rst) begin
      wr_q    <= '0;
      rd_q    <= '0;
      sub_q   <= '0;
      valid_q <= 1'b0;
      pend_q  <= '0;
      dead_q  <= '0;
      fail_q  <= '0;
    end
  end

  `NIC_ASSERT(a_slot_free, alloc_i |-> free_o)
  `NIC_HELD(a_out_held, valid_o, ready_i, {id_o, wqe_o})
endmodule
