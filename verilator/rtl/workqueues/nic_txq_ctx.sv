/// Contexts of the transmit queues: state and indices, doorbell checks (contract Q2), the error
/// state, and for each queue the number of entries that have started and not ended.

module nic_txq_ctx
  import nic_pkg::*, nic_int_pkg::*;
#(
  // Number of transmit queues, a power of two.
  parameter int NumTxq = 64,
  // Optional parts in this build, as the bits of register CAP1.
  parameter int unsigned Parts = PartsDefault,
  localparam int Qw = $clog2(NumTxq)
) (
  input  logic              clk,
  input  logic              rst,
  input  tbl_req_t          tbl_i,
  output logic              tbl_done_o,
  output table_status_e     tbl_status_o,
  output logic [511:0]      tbl_rdata_o,
  // Pulse: the Txq entry on the table bus takes effect.
  output logic              commit_o,
  // flush_o: the queue on the table bus is being disabled and has drained. flushed_i: messages have
  // reported all its entries.
  output logic              flush_o,
  input  logic              flushed_i,
  // Doorbell; db_push_i: a pushed work entry comes with it.
  input  doorbell_t         db_i,
  input  logic              db_push_i,
  // Pulse of the counter DB_BAD.
  output logic              db_bad_o,
  // One bit a queue: it has blocks to fetch.
  output logic [NumTxq-1:0] work_o,
  // Queue that the scheduler examines; the outputs below are its context, in the same cycle.
  input  logic [Qw-1:0]     sched_q_i,
  output logic              sched_run_o,
  output logic [63:0]       sched_base_o,
  output logic [3:0]        sched_log_o,
  output logic [15:0]       sched_index_o,
  output logic [15:0]       sched_avail_o,
  // Pulse: the scheduler fetches sched_num_i blocks of queue sched_q_i.
  input  logic              sched_take_i,
  input  logic [2:0]        sched_num_i,
  // High while a pushed entry is being checked.
  output logic              push_look_o,
  // With push_look_o: the pushed block is the next one of queue push_q_o and need not be fetched.
  output logic              push_o,
  output logic [Qw-1:0]     push_q_o,
  output logic [15:0]       push_index_o,
  // Pulse: the pushed bytes are used.
  input  logic              push_take_i,
  // Queue whose ECN mode is at ecn_o.
  input  logic [Qw-1:0]     ecn_q_i,
  output logic [1:0]        ecn_o,
  // Pulse: an entry or an Event of queue start_q_i starts.
  input  logic              start_i,
  input  logic [Qw-1:0]     start_q_i,
  // Pulse: a read of queue err_q_i failed: it enters state Error.
  input  logic              err_i,
  input  logic [Qw-1:0]     err_q_i,
  input  logic [7:0]        err_status_i,
  // Queue whose entry or Event is about to end; the outputs below are its context.
  input  logic [Qw-1:0]     end_q_i,
  output logic [63:0]       end_base_o,
  output logic [3:0]        end_log_o,
  output logic [15:0]       end_cqi_o,
  // Pulse: an entry or an Event of queue end_q_i ended.
  input  logic              end_i,
  // With end_i: high for an entry, low for an Event.
  input  logic              end_wqe_i,
  // Blocks of the entry beyond its first.
  input  logic [1:0]        end_more_i,
  // With end_i: high if a completion entry was written for the entry or Event.
  input  logic              end_cqe_i,
  // High while queue drain_q_o is being disabled.
  output logic              drain_o,
  output logic [Qw-1:0]     drain_q_o,
  // High: another module still holds entries of queue drain_q_o.
  input  logic              drain_hold_i,
  // High while an entry has started and not ended, or a doorbell is being checked.
  output logic              busy_o,
  // Opens the clock gate: high while a doorbell is being checked or was just refused.
  output logic              wake_o
);
  localparam bit HasPush = (Parts & PartPush) != 0;

  logic [7:0]        error_q [NumTxq];
  logic [15:0]       pi_q    [NumTxq];   // producer index
  logic [15:0]       fi_q    [NumTxq];   // next block to fetch
  logic [15:0]       ci_q    [NumTxq];   // consumer index: blocks of ended entries, counted
  logic [15:0]       cqi_q   [NumTxq];   // completion entries written: completion index
  logic [15:0]       start_q [NumTxq];   // number of entries and Events started
  logic [15:0]       end_q   [NumTxq];   // number of entries and Events ended
  logic [NumTxq-1:0] run_q, stop_q, work_q;
  logic [NumTxq-1:0] used_q;             // enabled since reset: the indices are defined
  logic [15:0]       open_q;             // entries started and not ended, of all queues
  doorbell_t         db_q;
  logic              db_push_q;
  logic              db_bad_q;
  logic [Qw-1:0]     tq;
  logic              on;
  queue_state_e      tstate;
  logic [3:0]        db_log;
  logic [15:0]       db_pi, db_size;
  logic [Qw-1:0]     dq;
  logic              db_good;

  assign work_o        = work_q;
  assign sched_run_o   = run_q[sched_q_i];
  assign sched_index_o = fi_q[sched_q_i];
  assign sched_avail_o = pi_q[sched_q_i] - fi_q[sched_q_i];
  assign end_cqi_o     = cqi_q[end_q_i];
  assign drain_q_o     = tq;
  assign db_bad_o      = db_bad_q;
  assign wake_o        = db_q.valid || db_bad_q;
  assign busy_o        = open_q != 16'd0 || db_q.valid;
  assign tstate        = run_q[tq] ? QueueStateRun : stop_q[tq] ? QueueStateError : QueueStateOff;

  nic_txq_tbl #(.NumTxq(NumTxq), .Parts(Parts)) u_tbl (
    .clk, .rst, .tbl_i, .tbl_done_o, .tbl_status_o, .tbl_rdata_o, .commit_o, .flush_o, .flushed_i,
    .q_o(tq), .state_i(tstate), .error_i(error_q[tq]), .used_i(used_q[tq]),
    .pi_i(pi_q[tq]), .ci_i(ci_q[tq]), .cqi_i(cqi_q[tq]), .on_o(on), .drain_o,
    .hold_i(drain_hold_i || (used_q[tq] && start_q[tq] != end_q[tq])),
    .sched_q_i, .sched_base_o, .sched_log_o, .end_q_i, .end_base_o, .end_log_o,
    .db_q_i(db_q.queue_f[Qw-1:0]), .db_log_o(db_log),
    .ecn_q_i, .ecn_o
  );

  // Check a doorbell [Q2], one cycle after it came.
  assign dq           = db_q.queue_f[Qw-1:0];
  assign db_size      = 16'd1 << db_log;
  assign db_pi        = db_push_q ? pi_q[dq] + 16'd1 : db_q.pi;
  assign db_good      = db_q.queue_f < 16'(NumTxq) && run_q[dq] &&
                        16'(db_pi - ci_q[dq]) <= db_size && 16'(db_pi - pi_q[dq]) <= db_size;
  assign push_look_o  = db_q.valid && db_push_q;
  assign push_o       = push_look_o && db_good && fi_q[dq] == pi_q[dq] && !(drain_o && tq == dq);
  assign push_q_o     = dq;
  assign push_index_o = pi_q[dq];

  always_ff @(posedge clk) begin
    logic [15:0] fi;
    db_q      <= db_i;
    db_push_q <= HasPush && db_push_i;
    db_bad_q <= 1'b0;

    if (sched_take_i) begin
      fi = fi_q[sched_q_i] + 16'(sched_num_i);
      fi_q[sched_q_i]   <= fi;
      work_q[sched_q_i] <= run_q[sched_q_i] && pi_q[sched_q_i] != fi;
    end
    if (db_q.valid) begin
      db_bad_q <= !db_good;
      if (db_good) begin
        pi_q[dq] <= db_pi;
        if (push_take_i)              fi_q[dq]   <= db_pi;
        else if (db_pi != pi_q[dq]) work_q[dq] <= 1'b1;
      end
    end
    if (start_i) start_q[start_q_i] <= start_q[start_q_i] + 16'd1;
    if (end_i) begin
      end_q[end_q_i] <= end_q[end_q_i] + 16'd1;
      if (end_wqe_i) ci_q[end_q_i]  <= ci_q[end_q_i] + 16'd1 + 16'(end_more_i);
      if (end_cqe_i) cqi_q[end_q_i] <= cqi_q[end_q_i] + 16'd1;
    end
    if (start_i != end_i) open_q <= start_i ? open_q + 16'd1 : open_q - 16'd1;
    if (err_i) begin
      run_q[err_q_i]   <= 1'b0;
      stop_q[err_q_i]  <= 1'b1;
      work_q[err_q_i]  <= 1'b0;
      error_q[err_q_i] <= err_status_i;
    end
    if (drain_o) begin
      run_q[tq]  <= 1'b0;
      stop_q[tq] <= 1'b0;
      work_q[tq] <= 1'b0;
    end
    if (on) begin
      run_q[tq]   <= 1'b1;
      work_q[tq]  <= 1'b0;
      used_q[tq]  <= 1'b1;
      pi_q[tq]    <= '0;
      fi_q[tq]    <= '0;
      ci_q[tq]    <= '0;
      cqi_q[tq]   <= '0;
      start_q[tq] <= '0;
      end_q[tq]   <= '0;
    end
    if (rst) begin
      db_q.valid <= 1'b0;
      open_q     <= '0;
      run_q      <= '0;
      stop_q     <= '0;
      work_q     <= '0;
      used_q     <= '0;
    end
  end
endmodule
