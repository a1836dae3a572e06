/// Transmit queues: doorbells and contexts, round robin, reads of work entries. Outputs the entries
/// in the order of their reads, and Events for reads that failed.

module nic_txq
  import nic_pkg::*, nic_int_pkg::*, nic_tx_pkg::*;
#(
  // Number of Ethernet ports, 1 or 2.
  parameter int Ports = 1,
  // Number of transmit queues, a power of two.
  parameter int NumTxq = 64,
  // Reads of work entries in flight, a power of two.
  parameter int FetchSlots = 64,
  // Entries that may wait for a port's gather buffer; 0: all entries stay in one order.
  parameter int Sends = 16,
  // Optional parts in this build, as the bits of register CAP1.
  parameter int unsigned Parts = PartsDefault,
  localparam int Qw = $clog2(NumTxq)
) (
  input  logic          clk,
  input  logic          rst,
  // CTRL.tx_enable: fetching may begin.
  input  logic          enable_i,
  // A function-level reset is in progress.
  input  logic          flr_i,
  // High if MRRS is 128 bytes: no read is longer.
  input  logic          short_i,
  input  tbl_req_t      tbl_i,
  output logic          tbl_done_o,
  output table_status_e tbl_status_o,
  output logic [511:0]  tbl_rdata_o,
  // Pulse: the Txq entry on the table bus takes effect.
  output logic          commit_o,
  // flush_o: the queue on the table bus is being disabled and has drained. flushed_i: messages have
  // reported all its entries.
  output logic          flush_o,
  input  logic          flushed_i,
  input  doorbell_t     db_i,
  // Work entry pushed with the doorbell, if any.
  input  push_t         push_i,
  // One bit a queue: a pause stops its class, so it fetches nothing.
  input  logic [NumTxq-1:0] pause_i,
  output rd_req_t       rd_req_o,
  output logic          rd_req_valid_o,
  input  logic          rd_req_ready_i,
  input  rd_rsp_t       rd_rsp_i,
  // Blocks of entries.
  output logic          valid_o,
  input  logic          ready_i,
  output tx_id_t        id_o,
  // The block; more_o: another block of the same entry follows.
  output logic [511:0]  wqe_o,
  output logic          more_o,
  // ECN mode of the entry's queue.
  output logic [1:0]    ecn_o,
  // Pulse: an entry has reached its port's gather buffer.
  input  logic [Ports-1:0] sent_i,
  // Queue with an entry or Event that may end; the outputs below are its context.
  input  logic [Qw-1:0] end_q_i,
  output logic [63:0]   end_base_o,
  output logic [3:0]    end_log_o,
  output logic [15:0]   end_cqi_o,
  // Pulse: an entry or an Event of queue end_q_i ended.
  input  logic          end_i,
  // With end_i: high for an entry, low for an Event.
  input  logic          end_wqe_i,
  // Blocks of the entry beyond its first.
  input  logic [1:0]    end_more_i,
  // With end_i: high if the entry or Event that ended wrote a completion entry.
  input  logic          end_cqe_i,
  // High while a completion entry of queue cqe_q_i waits to be sent.
  input  logic          cqe_i,
  input  logic [Qw-1:0] cqe_q_i,
  // Pulse of the counter QUEUE_ERR.
  output logic          queue_err_o,
  // Pulse of the counter DB_BAD.
  output logic          db_bad_o,
  output logic          busy_o
);
  localparam int Sw      = $clog2(FetchSlots);
  localparam bit HasPush = (Parts & PartPush) != 0;

  logic [NumTxq-1:0] work, blocked;
  logic [Qw-1:0]     sched_q, head_q, drain_q;
  logic              run, take, alloc, slot_free, start, err, drain, fetch_hold, hold;
  logic [63:0]       ring_base;
  logic [3:0]        ring_log;
  logic [15:0]       index, avail;
  logic [2:0]        num, fetch_max, lost;
  logic              f_valid, f_ready;
  tx_id_t            f_id;
  logic [511:0]      f_wqe;
  logic [Sw-1:0]     slot;
  logic              push_look, push, push_take;
  logic [Qw-1:0]     push_q, fetch_q;
  logic [15:0]       push_index;
  logic [2:0]        fetch_num;
  logic [511:0]      push_wqe_q;
  logic [7:0]        err_status;
  logic              turn, fetch_busy, ctx_busy;
  logic              whole, part;          // an entry's last block came; queue drain_q parks blocks
  logic              clk_g, ctx_wake, sched_wake, fetch_wake;

  assign queue_err_o = err;
  assign start       = f_valid && f_ready && whole;
  assign hold        = fetch_hold || part || (turn && sched_q == drain_q) ||
                       (cqe_i && cqe_q_i == drain_q);
  assign busy_o      = turn || fetch_busy || ctx_busy || db_i.valid || (enable_i && work != '0);

  // The clock runs for doorbells, table commands and turns, and while entries arrive, proceed or
  // end.
  nic_clkgate u_gate (
    .clk, .test_en_i(1'b0), .clk_o(clk_g),
    .enable_i(rst || flr_i || tbl_i.valid || db_i.valid || end_i || ctx_wake || sched_wake ||
              fetch_wake)
  );

  nic_txq_ctx #(.NumTxq(NumTxq), .Parts(Parts)) u_ctx (
    .clk(clk_g), .rst, .tbl_i, .tbl_done_o, .tbl_status_o, .tbl_rdata_o, .commit_o, .flush_o,
    .flushed_i, .db_i, .db_push_i(push_i.valid), .db_bad_o,
    .work_o(work), .sched_q_i(sched_q), .sched_run_o(run), .sched_base_o(ring_base),
    .sched_log_o(ring_log), .sched_index_o(index), .sched_avail_o(avail), .sched_take_i(take),
    .sched_num_i(num), .push_look_o(push_look), .push_o(push), .push_q_o(push_q),
    .push_index_o(push_index), .push_take_i(push_take), .ecn_q_i(id_o.qid[Qw-1:0]), .ecn_o,
    .start_i(start), .start_q_i(f_id.qid[Qw-1:0]), .err_i(err), .err_q_i(head_q),
    .err_status_i(err_status), .end_q_i, .end_base_o, .end_log_o, .end_cqi_o, .end_i, .end_wqe_i,
    .end_more_i,
    .end_cqe_i, .drain_o(drain), .drain_q_o(drain_q), .drain_hold_i(hold), .busy_o(ctx_busy),
    .wake_o(ctx_wake)
  );

  // A pushed entry takes a fetch slot in place of a scheduler turn.
  assign push_take = push && enable_i && slot_free && fetch_max != 3'd0 && !pause_i[push_q];
  assign fetch_q   = push_look ? push_q : sched_q;
  assign fetch_num = push_look ? 3'd1 : num;

  always_ff @(posedge clk_g) if (HasPush && push_i.valid) push_wqe_q <= push_i.wqe;

  nic_txq_sched #(.NumTxq(NumTxq), .SlotW(Sw)) u_sched (
    .clk(clk_g), .rst, .enable_i, .wait_i(push_look), .short_i,
    .work_i(work & ~blocked & ~pause_i), .q_o(sched_q), .run_i(run),
    .base_i(ring_base), .log_i(ring_log), .index_i(index), .avail_i(avail), .max_i(fetch_max),
    .take_o(take), .num_o(num), .slot_free_i(slot_free), .slot_i(slot), .alloc_o(alloc), .rd_req_o,
    .rd_req_valid_o, .rd_req_ready_i, .busy_o(turn), .wake_o(sched_wake)
  );

  nic_txq_fetch #(.NumTxq(NumTxq), .Slots(FetchSlots), .HasPush(HasPush)) u_fetch (
    .clk(clk_g), .clk_rsp(clk), .rst, .free_o(slot_free), .slot_o(slot),
    .alloc_i(alloc || push_take), .alloc_q_i(fetch_q),
    .alloc_index_i(push_take ? push_index : index), .alloc_num_i(fetch_num),
    .push_i(push_take), .push_wqe_i(push_wqe_q), .rsp_i(rd_rsp_i), .valid_o(f_valid),
    .ready_i(f_ready), .id_o(f_id), .wqe_o(f_wqe), .lost_o(lost),
    .err_o(err), .q_o(head_q), .status_o(err_status), .drain_i(drain), .drain_q_i(drain_q),
    .flr_i, .hold_o(fetch_hold), .busy_o(fetch_busy), .wake_o(fetch_wake)
  );

  // Park entries that must wait, so that entries of other queues pass them.
  if (Sends != 0) begin : g_park
    nic_txpark #(
      .Ports(Ports), .NumTxq(NumTxq), .Shared(4 * FetchSlots * Ports), .Sends(Sends),
      .HasCopy((Parts & PartCopy) != 0), .HasLong((Parts & PartLong) != 0)
    ) u_park (
      .clk, .rst, .valid_i(f_valid), .ready_o(f_ready), .id_i(f_id), .wqe_i(f_wqe), .valid_o,
      .ready_i, .id_o, .wqe_o, .more_o, .whole_o(whole), .drain_i(drain), .drain_q_i(drain_q),
      .hold_o(part), .sent_i, .end_i, .end_q_i, .fetch_q_i(fetch_q),
      .fetch_max_o(fetch_max), .fetch_i(take || push_take), .fetch_num_i(fetch_num),
      .lost_q_i(head_q),
      .lost_num_i(lost), .blocked_o(blocked)
    );
  end else begin : g_straight
    logic unused_lost;
    assign unused_lost = ^{lost, sent_i};
    assign f_ready   = ready_i;
    assign valid_o   = f_valid;
    assign id_o      = f_id;
    assign wqe_o     = f_wqe;
    assign more_o    = 1'b0;
    assign whole     = 1'b1;
    assign part      = 1'b0;
    assign fetch_max = 3'd4;
    assign blocked   = '0;
  end
endmodule
