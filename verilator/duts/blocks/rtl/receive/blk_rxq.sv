/// Test device for nic_rxq. Requests: commands of table Rxq (op 0), doorbells (op 1), frames that
/// take a descriptor if one is posted (op 2), descriptor reads that fail, with the resulting Event
/// (op 3), and frames that read their context and wait (op 4); a later op 2 may serve that frame.
/// Each request ends before the next begins.

module blk_rxq
  import nic_int_pkg::*;
  import nic_pkg::*;
  import nic_rx_pkg::*;
  import blk_pkg::*;
(
  input  logic          clk,
  input  logic          rst,
  input  logic [1087:0] s_axis_req_tdata,
  input  logic          s_axis_req_tlast,
  input  logic          s_axis_req_tvalid,
  output logic          s_axis_req_tready,
  output logic [1087:0] m_axis_rsp_tdata,
  output logic          m_axis_rsp_tlast,
  output logic          m_axis_rsp_tvalid,
  input  logic          m_axis_rsp_tready
);
  localparam int Quiet = 4;        // cycles without an Event, after which none is owed

  typedef struct packed {
    logic [7:0]  status;           // op 3: status of the failing read
    logic [7:0]  ahead;            // op 3: failing descriptor, from the consumer index;
                                   // op 2: not 0: the frame uses the context read by op 4
    logic [15:0] pi;
    logic [15:0] queue_f;
    logic [7:0]  hold;             // cycles until the completion entry has left
    logic [7:0]  op;
  } op_t;

  // State of a queue; the context's fields are zero unless it runs.
  typedef struct packed {
    logic [63:0] ring_base;
    logic [63:0] cq_base;
    logic [7:0]  ecn_mode;
    logic [7:0]  crc_mode;
    logic [15:0] pay_buf_size;
    logic [15:0] hdr_buf_size;
    logic [15:0] split_len;
    logic [7:0]  split_mode;
    logic [7:0]  log_size;
    logic [15:0] cqi;
    logic [15:0] ci;
    logic [15:0] pi;
    logic [7:0]  taken;
    logic [7:0]  state;
    logic [7:0]  fetched;          // 1: the queue's descriptors may be fetched
    logic [7:0]  op;
  } queue_res_t;

  typedef struct packed {
    logic [15:0] cqi;
    logic [15:0] index;
    logic [7:0]  queue_f;
    logic [7:0]  status;
    logic [7:0]  events;
    logic [7:0]  second;           // pulse of DB_BAD (op 1) or QUEUE_ERR (op 3) seen
    logic [7:0]  first;            // op 1: the doorbell was accepted
    logic [7:0]  op;
  } event_res_t;

  typedef enum logic [3:0] {StIdle, StTable, StDb, StDbBad, StRead, StTake, StFail, StErr,
      StEvent, StHold, StDone,
                            StLook, StResult} state_e;

  state_e       state_q;
  op_t          o_q;
  queue_res_t   view_q;
  event_res_t   event_q;
  table_res_t   table_q;
  tbl_req_t     tbl;
  tbl_rsp_t     tbl_rsp, table_rsp;
  rx_ctx_t      ctx;
  queue_state_e state;
  status_e      event_status;
  logic [15:0]  pi, ci, cqi, fetch_pi, fetch_ci, event_index;
  logic [5:0]   queue, event_queue;
  logic [3:0]   fetch_log;
  logic [63:0]  base;
  logic [7:0]   timer_q;
  logic         table_done, run, took_q, can, posted, db_bad, queue_err, event_valid, unused_busy,
                unused_wake, unused_start, unused_commit, unused_flush;
  logic [5:0]   unused_posted, unused_started, unused_drain;

  assign s_axis_req_tready = state_q == StIdle;
  assign m_axis_rsp_tvalid = state_q == StResult;
  assign m_axis_rsp_tlast  = 1'b1;
  assign queue             = state_q == StEvent ? event_queue : o_q.queue_f[5:0];
  assign can               = state == QueueStateRun && pi != ci;

  always_comb begin
    unique case (o_q.op)
      8'd0:    m_axis_rsp_tdata = table_q;
      8'd2:    m_axis_rsp_tdata = 1088'(view_q);
      default: m_axis_rsp_tdata = 1088'(event_q);
    endcase
  end

  blk_table u_table (
    .clk, .rst, .start_i(state_q == StIdle && s_axis_req_tvalid && s_axis_req_tdata[7:0] == 8'd0),
    .req_i(table_req(table_op_t'(s_axis_req_tdata))), .tbl_o(tbl), .tbl_i(tbl_rsp),
    .done_o(table_done), .rsp_o(table_rsp)
  );

  nic_rxq u_rxq (
    .clk, .rst, .flr_i(1'b0), .tbl_i(tbl), .tbl_o(tbl_rsp), .commit_o(unused_commit),
    .flush_o(unused_flush), .flushed_i(1'b1),
    .db_i('{valid: state_q == StDb, queue_f: o_q.queue_f, pi: o_q.pi}), .db_bad_o(db_bad),
    .posted_o(posted), .posted_queue_o(unused_posted), .start_o(unused_start),
    .start_queue_o(unused_started),
    .fetch_queue_i(o_q.queue_f[5:0]), .fetch_run_o(run), .fetch_pi_o(fetch_pi),
    .fetch_ci_o(fetch_ci), .fetch_log_o(fetch_log),
    .base_read_i(state_q == StRead), .base_queue_i(o_q.queue_f[5:0]), .base_o(base),
    .fail_i(state_q == StFail), .fail_queue_i(o_q.queue_f[5:0]),
    .fail_slot_i(8'(7'(ci) + 7'(o_q.ahead))),
    .fail_status_i(status_e'(o_q.status)), .queue_err_o(queue_err),
    .ctx_read_i(state_q == StLook || (state_q == StRead && o_q.ahead == 8'd0)),
    .ctx_queue_i(o_q.queue_f[5:0]), .ctx_o(ctx),
    .take_queue_i(queue),
    .take_state_o(state), .take_pi_o(pi), .take_ci_o(ci), .take_cqi_o(cqi),
    .take_desc_i(state_q == StTake && can), .take_event_i(state_q == StEvent && event_valid),
    .event_valid_o(event_valid), .event_queue_o(event_queue), .event_index_o(event_index),
    .event_status_o(event_status),
    .done_i(state_q == StDone && took_q), .done_queue_i(o_q.queue_f[5:0]),
    .drain_queue_o(unused_drain), .drain_reads_i(1'b0),
    .busy_o(unused_busy), .wake_o(unused_wake)
  );

  always_ff @(posedge clk) begin
    timer_q <= timer_q + 8'd1;
    unique case (state_q)
      StIdle: begin
        o_q     <= op_t'(s_axis_req_tdata[$bits(op_t)-1:0]);
        event_q <= '{op: s_axis_req_tdata[7:0], default: '0};
        took_q  <= 1'b0;
        if (s_axis_req_tvalid) begin
          unique case (s_axis_req_tdata[7:0])
            8'd0:    state_q <= StTable;
            8'd1:    state_q <= StDb;
            8'd2:    state_q <= StRead;
            8'd4:    state_q <= StLook;
            default: state_q <= StFail;
          endcase
        end
      end
      StTable: if (table_done) {state_q, table_q} <= {StResult, table_res(8'd0, table_rsp)};
      StDb: {state_q, event_q.first} <= {StDbBad, 8'(posted)};
      StDbBad: {state_q, event_q.second} <= {StResult, 8'(db_bad)};
      StRead: state_q <= StTake;
      StLook: state_q <= StResult;
      StTake: begin
        view_q <= '{op: 8'd2, fetched: 8'(run), state: 8'(state), default: '0};
        if (run) begin
          view_q <= '{op: 8'd2, fetched: 8'(run), state: 8'(state), taken: 8'(can), pi: fetch_pi,
              ci: fetch_ci, cqi: cqi,
                      log_size: 8'(fetch_log), split_mode: 8'(ctx.split_mode),
                          split_len: ctx.split_len,
                      hdr_buf_size: ctx.hdr_buf_size, pay_buf_size: ctx.pay_buf_size,
                          crc_mode: 8'(ctx.crc_mode),
                      ecn_mode: 8'(ctx.ecn_mode), cq_base: ctx.cq_base, ring_base: base};
        end
        took_q  <= can;
        timer_q <= '0;
        state_q <= StHold;
      end
      StFail: state_q <= StErr;
      StErr: begin
        event_q.second <= 8'(queue_err);
        timer_q        <= '0;
        state_q        <= StEvent;
      end
      StEvent: if (event_valid) begin
        event_q.events  <= event_q.events + 8'd1;
        event_q.status  <= 8'(event_status);
        event_q.queue_f <= 8'(event_queue);
        event_q.index   <= event_index;
        event_q.cqi     <= cqi;
        took_q          <= 1'b1;
        timer_q         <= '0;
      end else if (timer_q == 8'(Quiet)) begin
        state_q <= StHold;
      end
      StHold: if (timer_q >= o_q.hold) state_q <= StDone;
      StDone: state_q <= StResult;
      default: if (m_axis_rsp_tready) state_q <= StIdle;
    endcase
    if (rst) state_q <= StIdle;
  end

  logic unused_bits;
  assign unused_bits = ^{s_axis_req_tlast, ctx};
endmodule
