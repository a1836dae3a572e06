/// Receive queues: state and indices, doorbells, enabling and draining, errors and the Events owed
/// for them. nic_rxfetch fetches the descriptors, nic_rxtake uses them.

module nic_rxq
  import nic_int_pkg::*;
  import nic_pkg::*;
  import nic_rx_pkg::*;
#(
  // Number of receive queues, a power of two, 4..256.
  parameter int NumRxq = 64,
  // Descriptors cached for each queue, a power of two, 8..256.
  parameter int DescCache = 128,
  // Optional parts in this build, as the bits of register CAP1.
  parameter int unsigned Parts = PartsDefault,
  localparam int Qw = $clog2(NumRxq)
) (
  input  logic          clk,
  input  logic          rst,
  // High during a function-level reset: nothing is fetched, and no queue enters state Error.
  input  logic          flr_i,
  input  tbl_req_t      tbl_i,
  output tbl_rsp_t      tbl_o,
  // Pulse: the Rxq entry on the table bus takes effect.
  output logic          commit_o,
  // flush_o: the queue on the table bus is being disabled and has drained. flushed_i: messages have
  // reported all its entries.
  output logic          flush_o,
  input  logic          flushed_i,
  // Doorbell.
  input  doorbell_t     db_i,
  // Pulse of the counter DB_BAD.
  output logic          db_bad_o,
  // Pulse: a doorbell posted descriptors of queue posted_queue_o.
  output logic          posted_o,
  output logic [Qw-1:0] posted_queue_o,
  // Pulse: queue start_queue_o was enabled; its indices are 0.
  output logic          start_o,
  output logic [Qw-1:0] start_queue_o,
  // Queue that the fetcher examines; the outputs below are its state, in the same cycle.
  input  logic [Qw-1:0] fetch_queue_i,
  output logic          fetch_run_o,
  output logic [15:0]   fetch_pi_o,
  output logic [15:0]   fetch_ci_o,
  output logic [3:0]    fetch_log_o,
  // Reads the ring base of queue base_queue_i; base_o holds it in the next cycle.
  input  logic          base_read_i,
  input  logic [Qw-1:0] base_queue_i,
  output logic [63:0]   base_o,
  // Pulse: a descriptor read failed; fail_slot_i is the slot of its first descriptor.
  input  logic          fail_i,
  input  logic [Qw-1:0] fail_queue_i,
  input  logic [7:0]    fail_slot_i,
  input  status_e       fail_status_i,
  // Pulse of the counter QUEUE_ERR.
  output logic          queue_err_o,
  // Reads the context of queue ctx_queue_i; ctx_o holds it in the next cycle.
  input  logic          ctx_read_i,
  input  logic [Qw-1:0] ctx_queue_i,
  output rx_ctx_t       ctx_o,
  // Queue of the frame that nic_rxtake holds; the outputs below are its state, in the same cycle.
  input  logic [Qw-1:0] take_queue_i,
  output queue_state_e  take_state_o,
  output logic [15:0]   take_pi_o,
  output logic [15:0]   take_ci_o,
  output logic [15:0]   take_cqi_o,
  // Pulse: a frame of queue take_queue_i takes a descriptor and a slot of the completion ring.
  input  logic          take_desc_i,
  // Pulse: an Event of queue take_queue_i takes a slot of the completion ring.
  input  logic          take_event_i,
  // A failed queue for which an Event must be written [Q4], with its index and status.
  output logic          event_valid_o,
  output logic [Qw-1:0] event_queue_o,
  output logic [15:0]   event_index_o,
  output status_e       event_status_o,
  // Pulse: a completion entry of queue done_queue_i has left.
  input  logic          done_i,
  input  logic [Qw-1:0] done_queue_i,
  // Queue that is being disabled; drain_reads_i: it has reads that have not ended.
  output logic [Qw-1:0] drain_queue_o,
  input  logic          drain_reads_i,
  output logic          busy_o,
  // Opens the clock gate: high while an Event waits or a pulse is to end.
  output logic          wake_o
);
  localparam int Sw = $clog2(DescCache);

  if (NumRxq < 4 || NumRxq > RxqMax || (1 << Qw) != NumRxq) begin : g_bad_queues
    $fatal(1, "nic_rxq: NumRxq must be a power of two, 4..256");
  end
  if (DescCache < 8 || DescCache > 256 || (1 << Sw) != DescCache) begin : g_bad_cache
    $fatal(1, "nic_rxq: DescCache must be a power of two, 8..256");
  end

  // One bit a queue: state Run, state Error, an Event is owed, enabled at least once since reset.
  logic [NumRxq-1:0] run_q, failed_q, owe_q, used_q;
  logic [15:0]       pi_q [NumRxq];
  logic [15:0]       ci_q [NumRxq];
  logic [15:0]       cqi_q [NumRxq];
  logic [3:0]        log_q [NumRxq];
  status_e           error_q [NumRxq];
  logic [15:0]       event_index_q [NumRxq];
  logic [3:0]        jobs_q [NumRxq];      // completion entries in the writer

  function automatic queue_state_e state_of(input logic [Qw-1:0] q);
    state_of = run_q[q] ? QueueStateRun : failed_q[q] ? QueueStateError : QueueStateOff;
  endfunction

  // Table Rxq.
  logic          off;
  logic [Qw-1:0] tbl_queue;
  logic [3:0]    log_new;
  logic          drained;

  assign drained       = !used_q[tbl_queue] ||
                         (!drain_reads_i && !owe_q[tbl_queue] && jobs_q[tbl_queue] == 4'h0);
  assign drain_queue_o = tbl_queue;
  assign start_queue_o = tbl_queue;

  nic_rxq_tbl #(.NumRxq(NumRxq), .Parts(Parts)) u_tbl (
    .clk, .rst, .tbl_i, .tbl_o, .commit_o, .flush_o, .flushed_i,
    .queue_o    (tbl_queue),
    .state_i    (state_of(tbl_queue)),
    .error_i    (failed_q[tbl_queue] ? error_q[tbl_queue] : StatusOk),
    .pi_i       (used_q[tbl_queue] ? pi_q[tbl_queue] : 16'h0),
    .ci_i       (used_q[tbl_queue] ? ci_q[tbl_queue] : 16'h0),
    .cqi_i      (used_q[tbl_queue] ? cqi_q[tbl_queue] : 16'h0),
    .drained_i  (drained),
    .off_o      (off),
    .start_o    (start_o),
    .log_size_o (log_new),
    .ctx_read_i, .ctx_queue_i, .ctx_o,
    .base_read_i, .base_queue_i, .base_o
  );

  // Check a doorbell [Q2]: queue exists and runs, index does not go back and stays within the ring.
  logic [Qw-1:0] db_queue;
  logic [16:0]   db_size;
  logic          db_ok;

  assign db_queue       = db_i.queue_f[Qw-1:0];
  assign db_size        = 17'h1 << log_q[db_queue];
  assign db_ok          = db_i.valid && db_i.queue_f < 16'(NumRxq) &&
                          run_q[db_queue] &&
                          17'(16'(db_i.pi - ci_q[db_queue])) <= db_size &&
                          17'(16'(db_i.pi - pi_q[db_queue])) <= db_size;
  assign posted_o       = db_ok;
  assign posted_queue_o = db_queue;

  // State shown to nic_rxfetch and nic_rxtake.
  assign fetch_run_o    = run_q[fetch_queue_i] && !flr_i;
  assign fetch_pi_o     = pi_q[fetch_queue_i];
  assign fetch_ci_o     = ci_q[fetch_queue_i];
  assign fetch_log_o    = log_q[fetch_queue_i];
  assign take_state_o   = state_of(take_queue_i);
  assign take_pi_o      = pi_q[take_queue_i];
  assign take_ci_o      = ci_q[take_queue_i];
  assign take_cqi_o     = cqi_q[take_queue_i];

  // Failed reads. The first one stops the queue. The descriptor's index follows from its slot,
  // because no more descriptors are in flight than the cache has slots.
  logic          fail;
  logic [Sw-1:0] fail_ahead;
  logic          event_q;
  logic [Qw-1:0] event_queue_q;

  assign fail           = fail_i && run_q[fail_queue_i] && !flr_i &&
                          !(off && tbl_queue == fail_queue_i);
  assign fail_ahead     = fail_slot_i[Sw-1:0] - ci_q[fail_queue_i][Sw-1:0];
  assign event_valid_o  = event_q;
  assign event_queue_o  = event_queue_q;
  assign event_index_o  = event_index_q[event_queue_q];
  assign event_status_o = error_q[event_queue_q];
  assign busy_o         = |owe_q;
  assign wake_o         = |owe_q || event_q || db_bad_o || queue_err_o || tbl_o.done;

  function automatic logic [Qw-1:0] lowest(input logic [NumRxq-1:0] m);
    lowest = '0;
    for (int q = NumRxq - 1; q >= 0; q--) if (m[q]) lowest = Qw'(q);
  endfunction

  logic take_cqe;
  assign take_cqe = take_desc_i || take_event_i;

  always_ff @(posedge clk) begin
    db_bad_o <= db_i.valid && !db_ok;
    if (posted_o) pi_q[db_queue] <= db_i.pi;

    if (take_desc_i) ci_q[take_queue_i]  <= ci_q[take_queue_i] + 16'h1;
    if (take_cqe)    cqi_q[take_queue_i] <= cqi_q[take_queue_i] + 16'h1;
    if (take_cqe && !(done_i && done_queue_i == take_queue_i)) begin
      jobs_q[take_queue_i] <= jobs_q[take_queue_i] + 4'h1;
    end
    if (done_i && !(take_cqe && done_queue_i == take_queue_i)) begin
      jobs_q[done_queue_i] <= jobs_q[done_queue_i] - 4'h1;
    end

    queue_err_o <= fail;
    if (fail) begin
      run_q[fail_queue_i]         <= 1'b0;
      failed_q[fail_queue_i]      <= 1'b1;
      error_q[fail_queue_i]       <= fail_status_i;
      event_index_q[fail_queue_i] <= ci_q[fail_queue_i] + 16'(fail_ahead);
      owe_q[fail_queue_i]         <= 1'b1;
    end
    if (take_event_i) begin
      event_q              <= 1'b0;
      owe_q[take_queue_i]  <= 1'b0;
    end else if (!event_q && |owe_q) begin
      event_q       <= 1'b1;
      event_queue_q <= lowest(owe_q);
    end

    if (off) begin
      run_q[tbl_queue]    <= 1'b0;
      failed_q[tbl_queue] <= 1'b0;
    end
    if (start_o) begin
      run_q[tbl_queue]   <= 1'b1;
      used_q[tbl_queue]  <= 1'b1;
      jobs_q[tbl_queue]  <= '0;
      log_q[tbl_queue]   <= log_new;
      pi_q[tbl_queue]    <= '0;
      ci_q[tbl_queue]    <= '0;
      cqi_q[tbl_queue]   <= '0;
    end

    if (rst) begin
      run_q    <= '0;
      failed_q <= '0;
      owe_q    <= '0;
      used_q   <= '0;
      event_q  <= 1'b0;
    end
  end

  logic unused_bits;
  assign unused_bits = ^fail_slot_i;
endmodule
