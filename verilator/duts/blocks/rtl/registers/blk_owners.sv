/// Owners of three tables on the table bus: Account with its registers, Key, and Rxq. The receive
/// queues have no work; they drain only while quiet_i is high.

module blk_owners
  import nic_int_pkg::*;
  import nic_pkg::*;
  import nic_rx_pkg::*;
#(
  parameter int          NumRxq = 64,
  parameter int unsigned Parts = PartsDefault
) (
  input  logic     clk,
  input  logic     rst,
  input  tbl_req_t tbl_i,
  output tbl_rsp_t rx_tbl_o,
  output tbl_rsp_t tx_tbl_o,
  input  reg_bus_t reg_i,
  output logic [63:0] rdata_o,
  // quiet_i: while low, a queue that is being disabled keeps draining. stuck_o: high while a queue
  // waits for quiet_i.
  input  logic     quiet_i,
  output logic     stuck_o
);
  localparam int Qw = $clog2(NumRxq);

  tbl_rsp_t          account_rsp, rxq_rsp;
  table_status_e     key_status;
  logic [NumRxq-1:0] run_q;
  logic [Qw-1:0]     queue;
  logic              off, start, drains_q;

  // Unused: the owners get no lookup, frame or delivery.
  logic        unused_ready, unused_valid, unused_in, unused_out, unused_busy, unused_commit,
      unused_flush;
  status_e     unused_status;
  logic [63:0] unused_addr, unused_base;
  rx_frame_t   unused_frame;
  rx_ctx_t     unused_ctx;
  logic [3:0]  unused_log;

  assign rx_tbl_o = tbl_i.id == TableAccount ? account_rsp : rxq_rsp;
  assign stuck_o  = drains_q && !quiet_i;
  assign tx_tbl_o.status          = 3'(key_status);
  assign tx_tbl_o.rdata[1023:256] = '0;

  nic_key u_key (
    .clk, .rst, .tbl_i,
    .tbl_done_o   (tx_tbl_o.done),
    .tbl_status_o (key_status),
    .tbl_rdata_o  (tx_tbl_o.rdata[255:0]),
    .valid_i      (1'b0),
    .ready_o      (unused_ready),
    .index_i      ('0),
    .variant_i    ('0),
    .addr_i       ('0),
    .len_i        ('0),
    .need_read_i  (1'b0),
    .need_write_i (1'b0),
    .valid_o      (unused_valid),
    .status_o     (unused_status),
    .addr_o       (unused_addr)
  );

  nic_account u_account (
    .clk, .rst, .tbl_i, .reg_i, .rdata_o,
    .tbl_o       (account_rsp),
    .in_valid_i  (1'b0),
    .in_ready_o  (unused_in),
    .in_i        ('0),
    .out_valid_o (unused_out),
    .out_ready_i (1'b0),
    .out_o       (unused_frame),
    .settled_i   (1'b0),
    .passed_i    (1'b0),
    .busy_o      (unused_busy)
  );

  nic_rxq_tbl #(.NumRxq(NumRxq), .Parts(Parts)) u_rxq (
    .clk, .rst, .tbl_i,
    .tbl_o       (rxq_rsp),
    .queue_o     (queue),
    .state_i     (run_q[queue] ? QueueStateRun : QueueStateOff),
    .error_i     (StatusOk),
    .pi_i        ('0),
    .ci_i        ('0),
    .cqi_i       ('0),
    .drained_i   (!stuck_o),
    .commit_o    (unused_commit),
    .flush_o     (unused_flush),
    .flushed_i   (1'b1),
    .off_o       (off),
    .start_o     (start),
    .log_size_o  (unused_log),
    .ctx_read_i  (1'b0),
    .ctx_queue_i ('0),
    .ctx_o       (unused_ctx),
    .base_read_i (1'b0),
    .base_queue_i('0),
    .base_o      (unused_base)
  );

  always_ff @(posedge clk) begin
    if (start) run_q[queue] <= 1'b1;
    if (off) run_q[queue] <= 1'b0;
    drains_q <= off ? run_q[queue] : drains_q && !quiet_i;
    if (rst) begin
      run_q    <= '0;
      drains_q <= 1'b0;
    end
  end
endmodule
