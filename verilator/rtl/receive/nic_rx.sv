/// Receive subsystem: Ethernet in, write TLPs of frames and completion entries out. Each port has
/// its own ingress and buffer; rules, queues and the writer are shared. See docs/rtl.md.

module nic_rx
  import nic_int_pkg::*;
  import nic_pkg::*;
  import nic_rx_pkg::*;
#(
  // Number of Ethernet ports, 1 or 2.
  parameter int Ports = 1,
  // Number of receive queues, a power of two, 4..256.
  parameter int NumRxq = 64,
  // Number of steering rules, 4..256.
  parameter int NumRules = 64,
  // Optional parts in this build, as the bits of register CAP1.
  parameter int unsigned Parts = PartsDefault,
  // Descriptors cached for each queue, a power of two, 8..256: covers a descriptor read's latency.
  parameter int DescCache = 128
) (
  input  logic                   clk,
  input  logic                   rst,
  input  logic [Ports*EthW-1:0]  s_axis_eth_tdata,
  input  logic [Ports*EthB-1:0]  s_axis_eth_tkeep,
  input  logic [Ports-1:0]       s_axis_eth_tlast,
  input  logic [Ports-1:0]       s_axis_eth_tvalid,
  output logic [Ports-1:0]       s_axis_eth_tready,
  input  cfg_t                   cfg_i,
  input  rss_key_t               rss_key_i,
  input  tbl_req_t               tbl_i,
  output tbl_rsp_t               tbl_o,
  input  reg_bus_t               reg_i,
  output logic [63:0]            reg_rdata_o,
  // For the Rxq entry on the table bus:
  output logic                   commit_o,    // pulse: it takes effect
  output logic                   flush_o,     // its queue is being disabled and has drained
  input  logic                   flushed_i,   // MSI-X has reported all entries of that queue
  input  doorbell_t              db_i,
  output rd_req_t                rd_req_o,
  output logic                   rd_req_valid_o,
  input  logic                   rd_req_ready_i,
  input  rd_rsp_t                rd_rsp_i,
  output tlp_beat_t              tlp_o,
  output logic                   tlp_valid_o,
  input  logic                   tlp_ready_i,
  // Completion entry that was accepted at the TLP port in this cycle.
  input  left_t                  left_i,
  // For each port: pause frames to honour, pause frames honoured, buffer lines held (nic_rxheld).
  input  pause_cfg_t [Ports-1:0] pause_cfg_i,
  output pause_t     [Ports-1:0] pause_o,
  output logic [Ports-1:0][LineW+1:0] held_o,
  output logic [Ports-1:0][31:0] port_evt_o,
  output logic [Ports-1:0]       disabled_o,
  output logic [Ports-1:0][31:0] bytes_o,
  output logic [15:0]            dev_evt_o,
  input  logic [7:0]             hits_index_i,
  output logic [63:0]            hits_o,
  // High while a frame, a descriptor read or an Event is in the block.
  output logic                   busy_o,
  // High like busy_o, but not for frames still arriving.
  output logic                   work_o
);
  localparam int Qw = $clog2(NumRxq);
  localparam int Sw = $clog2(DescCache);

  if (Ports < 1 || Ports > 2) begin : g_bad_ports
    $fatal(1, "nic_rx: Ports must be 1 or 2");
  end

  assign s_axis_eth_tready = '1;

  // Reset of all but arriving frames and their ordinals, which a function-level reset leaves alone.
  logic rst_work;
  assign rst_work = rst || cfg_i.clear;

  // Ingress: from the pins to the receive buffers.
  logic                             in_busy;
  tbl_rsp_t                         in_rsp, rxq_rsp;
  logic       [Ports-1:0]           frame_valid, frame_ready, read, free;
  rx_place_t  [Ports-1:0]           frame_place;
  rx_info_t   [Ports-1:0]           frame_info;
  logic       [LineW-1:0]           read_line;
  logic       [7:0]                 free_lines;
  logic       [Ports-1:0][EthW-1:0] even, odd;
  logic       [Ports-1:0][31:0]     in_evt, take_evt;
  logic       [Ports-1:0]           delivered, free_frame;
  logic       [Ports-1:0][LineW:0]  used;

  nic_ingress #(
    .Ports(Ports), .NumRxq(NumRxq), .NumRules(NumRules), .Parts(Parts)
  ) u_ingress (
    .clk, .rst, .cfg_i, .rss_key_i, .tbl_i,
    .tbl_o         (in_rsp),
    .s_axis_eth_tdata, .s_axis_eth_tkeep, .s_axis_eth_tlast, .s_axis_eth_tvalid,
    .frame_valid_o (frame_valid), .frame_ready_i (frame_ready),
    .frame_place_o (frame_place), .frame_info_o  (frame_info),
    .read_i        (read), .read_line_i   (read_line),
    .even_o        (even), .odd_o         (odd),
    .free_i        (free), .free_lines_i  (free_lines), .used_o (used),
    .pause_cfg_i, .pause_o,
    .port_evt_o    (in_evt), .bytes_o, .hits_index_i, .hits_o,
    .busy_o        (in_busy)
  );

  // Receive queues: state, descriptor fetch, and the choice of a descriptor for each frame.
  logic          posted, start, fetch_run, base_read, fail, ctx_read, take_desc, take_event;
  logic          event_valid, done, drain_reads, db_bad, queue_err, q_busy, fetch_busy;
  logic          clk_g, q_wake, fetch_wake, take_wake;
  logic [Qw-1:0] posted_queue, start_queue, fetch_queue, base_queue, fail_queue, ctx_queue;
  logic [Qw-1:0] take_queue, event_queue, drain_queue;
  logic [15:0]   fetch_pi, fetch_ci, take_pi, take_ci, take_cqi, event_index, done_queue;
  logic [3:0]    fetch_log;
  logic [63:0]   base;
  logic [7:0]    fail_slot;
  status_e       fail_status, event_status;
  rx_ctx_t       ctx;
  queue_state_e  take_state;

  nic_rxq #(.NumRxq(NumRxq), .DescCache(DescCache), .Parts(Parts)) u_rxq (
    .clk(clk_g), .rst(rst_work), .flr_i(cfg_i.flr), .tbl_i, .commit_o, .flush_o, .flushed_i,
    .tbl_o          (rxq_rsp),
    .db_i,
    .db_bad_o       (db_bad),
    .posted_o       (posted),
    .posted_queue_o (posted_queue),
    .start_o        (start),
    .start_queue_o  (start_queue),
    .fetch_queue_i  (fetch_queue),
    .fetch_run_o    (fetch_run),
    .fetch_pi_o     (fetch_pi),
    .fetch_ci_o     (fetch_ci),
    .fetch_log_o    (fetch_log),
    .base_read_i    (base_read),
    .base_queue_i   (base_queue),
    .base_o         (base),
    .fail_i         (fail),
    .fail_queue_i   (fail_queue),
    .fail_slot_i    (fail_slot),
    .fail_status_i  (fail_status),
    .queue_err_o    (queue_err),
    .ctx_read_i     (ctx_read),
    .ctx_queue_i    (ctx_queue),
    .ctx_o          (ctx),
    .take_queue_i   (take_queue),
    .take_state_o   (take_state),
    .take_pi_o      (take_pi),
    .take_ci_o      (take_ci),
    .take_cqi_o     (take_cqi),
    .take_desc_i    (take_desc),
    .take_event_i   (take_event),
    .event_valid_o  (event_valid),
    .event_queue_o  (event_queue),
    .event_index_o  (event_index),
    .event_status_o (event_status),
    .done_i         (done),
    .done_queue_i   (done_queue[Qw-1:0]),
    .drain_queue_o  (drain_queue),
    .drain_reads_i  (drain_reads),
    .busy_o         (q_busy),
    .wake_o         (q_wake)
  );

  logic     desc_there;
  rx_desc_t desc;

  nic_rxfetch #(.NumRxq(NumRxq), .DescCache(DescCache)) u_fetch (
    .clk(clk_g), .rst(rst_work),
    .posted_i       (posted),
    .posted_queue_i (posted_queue),
    .start_i        (start),
    .start_queue_i  (start_queue),
    .queue_o        (fetch_queue),
    .run_i          (fetch_run),
    .pi_i           (fetch_pi),
    .ci_i           (fetch_ci),
    .log_size_i     (fetch_log),
    .base_read_o    (base_read),
    .base_queue_o   (base_queue),
    .base_i         (base),
    .rd_req_o, .rd_req_valid_o, .rd_req_ready_i, .rd_rsp_i,
    .fail_o         (fail),
    .fail_queue_o   (fail_queue),
    .fail_slot_o    (fail_slot),
    .fail_status_o  (fail_status),
    .look_queue_i   (take_queue),
    .look_slot_i    (take_ci[Sw-1:0]),
    .look_o         (desc_there),
    .take_i         (take_desc),
    .desc_o         (desc),
    .drain_queue_i  (drain_queue),
    .drain_reads_o  (drain_reads),
    .busy_o         (fetch_busy),
    .wake_o         (fetch_wake)
  );

  // Delivery: from the receive buffers to write TLPs.
  logic      chosen_valid, chosen_ready, settled, passed, pick_busy;
  logic      job_valid, job_ready, take_busy, dma_busy, held_busy;
  rx_frame_t chosen;
  tbl_rsp_t  account_rsp;
  rx_job_t   job;

  // Clock of nic_rxq, nic_rxfetch and nic_rxtake: runs in reset, for doorbells, table commands,
  // fetched descriptors, frames and departing completion entries, and while a wake_o is high.
  nic_clkgate u_gate (.clk, .test_en_i(1'b0), .clk_o(clk_g),
    .enable_i(rst_work || tbl_i.valid || db_i.valid || done || rd_rsp_i.to[RdRx] ||
              chosen_valid || q_wake || fetch_wake || take_wake));

  nic_rxpick #(.Ports(Ports), .Parts(Parts)) u_pick (
    .clk, .rst(rst_work), .tbl_i,
    .tbl_o         (account_rsp),
    .reg_i, .reg_rdata_o,
    .frame_valid_i (frame_valid), .frame_ready_o (frame_ready),
    .frame_place_i (frame_place), .frame_info_i  (frame_info),
    .out_valid_o   (chosen_valid), .out_ready_i (chosen_ready),
    .out_o         (chosen),
    .settled_i     (settled),
    .passed_i      (passed),
    .busy_o        (pick_busy)
  );

  nic_rxtake #(.Ports(Ports), .NumRxq(NumRxq)) u_take (
    .clk(clk_g), .rst(rst_work), .flr_i(cfg_i.flr),
    .frame_valid_i  (chosen_valid),
    .frame_ready_o  (chosen_ready),
    .frame_i        (chosen),
    .ctx_read_o     (ctx_read),
    .ctx_queue_o    (ctx_queue),
    .ctx_i          (ctx),
    .queue_o        (take_queue),
    .state_i        (take_state),
    .pi_i           (take_pi),
    .ci_i           (take_ci),
    .cqi_i          (take_cqi),
    .take_desc_o    (take_desc),
    .take_event_o   (take_event),
    .event_valid_i  (event_valid),
    .event_queue_i  (event_queue),
    .event_index_i  (event_index),
    .event_status_i (event_status),
    .desc_there_i   (desc_there),
    .job_valid_o    (job_valid),
    .job_ready_i    (job_ready),
    .job_o          (job),
    .settled_o      (settled),
    .passed_o       (passed),
    .port_evt_o     (take_evt),
    .disabled_o,
    .busy_o         (take_busy),
    .wake_o         (take_wake)
  );

  nic_rxdma #(.Ports(Ports), .Parts(Parts)) u_dma (
    .clk, .rst(rst_work),
    .mps_i        (cfg_i.mps),
    .attr_i       (cfg_i.attr),
    .job_valid_i  (job_valid),
    .job_ready_o  (job_ready),
    .job_i        (job),
    .desc_i       (desc),
    .read_o       (read),
    .read_line_o  (read_line),
    .even_i       (even),
    .odd_i        (odd),
    .free_o       (free),
    .free_frame_o (free_frame),
    .free_lines_o (free_lines),
    .tlp_o, .tlp_valid_o, .tlp_ready_i,
    .done_o       (done),
    .done_queue_o (done_queue),
    .delivered_o  (delivered),
    .busy_o       (dma_busy)
  );

  nic_rxheld #(.Ports(Ports)) u_held (
    .clk, .rst(rst_work), .used_i(used), .free_i((Parts & PartPause) != 0 ? free_frame : '0),
    .free_lines_i(free_lines), .left_i((Parts & PartPause) != 0 ? left_i : '0), .held_o,
    .busy_o(held_busy)
  );

  always_comb begin
    tbl_o = '0;
    if (in_rsp.done)           tbl_o = in_rsp;
    else if (account_rsp.done) tbl_o = account_rsp;
    else if (rxq_rsp.done)     tbl_o = rxq_rsp;
    for (int p = 0; p < Ports; p++) begin
      port_evt_o[p] = in_evt[p] | take_evt[p] | (32'(delivered[p]) << CntRxDelivered);
    end
    dev_evt_o = '0;
    dev_evt_o[CntQueueErr - CntDeviceBase] = queue_err;
    dev_evt_o[CntDbBad - CntDeviceBase]    = db_bad;
    dev_evt_o[CntRxCqe - CntDeviceBase]    = done;
  end

  assign work_o = |frame_valid || q_busy || fetch_busy || pick_busy || take_busy || dma_busy ||
                  held_busy;
  assign busy_o = in_busy || work_o;

  logic unused_bits;
  assign unused_bits = ^done_queue;
endmodule
