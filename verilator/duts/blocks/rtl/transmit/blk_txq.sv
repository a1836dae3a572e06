/// Test device for nic_txq with nic_txcqe, and a memory that holds the rings. Requests: a command
/// of table Txq (op 0); doorbells of up to four queues, followed by one with a pushed block (op 1),
/// after which one queue may be disabled and enabled again. Results: the blocks of entries as they
/// leave nic_txq, their completion entries and, once everything has ended, counters. Bytes of an
/// entry determine whether it fails, and its length.

module blk_txq
  import nic_int_pkg::*;
  import nic_pkg::*;
  import nic_tx_pkg::*;
  import blk_pkg::*;
  import blk_writes_pkg::*;
(
  input  logic                           clk,
  input  logic                           rst,
  input  logic [1279:0]                  s_axis_req_tdata,
  input  logic                           s_axis_req_tlast,
  input  logic                           s_axis_req_tvalid,
  output logic                           s_axis_req_tready,
  output logic [$bits(write_beat_t)-1:0] m_axis_rsp_tdata,
  output logic                           m_axis_rsp_tlast,
  output logic                           m_axis_rsp_tvalid,
  input  logic                           m_axis_rsp_tready
);
  localparam int Rings = 4;
  localparam int Quiet = 64;       // idle cycles after which everything has ended
  localparam int Depth = 16;       // entries in flight, at most

  typedef struct packed {
    logic [31:0]            rsvd2;
    logic [15:0]            from;      // consumer index of the queue to be disabled
    logic [7:0]             rsvd1;
    logic                   after;     // when_f counts from: 1: last data read, 0: last doorbell
    logic [6:0]             when_f;    // cycles until the queue of ring number `cut` is disabled
    logic [511:0]           again;     // context with which the queue is enabled again
    logic [511:0]           wqe;
    logic [Rings-1:0][15:0] pi;
    logic [Rings-1:0][15:0] queue_f;
    logic [7:0]             cut;       // ring whose queue is disabled; 4 or more: none
    logic [7:0]             fault;
    logic [7:0]             faulty;    // ring whose first read has the fault
    logic [7:0]             pace;      // timer bits: all 0 when entries are taken, 1 when they end
    logic [7:0]             pushed;    // ring to which one more block is pushed; 4 or more: none
    logic [3:0]             rsvd0;
    logic [3:0]             rung;      // bit r: the doorbell of ring r is rung
    logic [7:0]             short_f;   // 1: reads are at most 128 bytes long
    logic [7:0]             op;
  } ring_op_t;

  // Result: a block of an entry as it left nic_txq.
  typedef struct packed {
    logic [511:0] wqe;
    logic [15:0]  index;
    logic [7:0]   status;
    logic [7:0]   event_f;
    logic [7:0]   ecn;
    logic [7:0]   queue_f;
  } entry_t;

  typedef struct packed {
    logic [15:0] cut_from;
    logic [7:0] cut_status;    // first nonzero status of disabling the queue and enabling it again
    logic [7:0] cut;
    logic [7:0] queue_errs;
    logic [7:0] db_bad;
  } count_t;

  typedef enum logic [2:0] {StIdle, StTable, StRing, StRun, StTold} state_e;

  // State of the queue to be disabled: not begun, being disabled, being enabled again, done.
  typedef enum logic [1:0] {CutWaits, CutOff, CutOn, CutDone} cut_e;

  state_e        state_q;
  cut_e          cut_q;
  table_op_t     cut_op;
  logic          cut_start, more;
  logic [6:0]    cut_timer_q;
  ring_op_t      op, o_q;
  logic [7:0]    timer_q, quiet_q;
  logic [2:0]    step_q;
  logic [1:0]    ring;
  count_t        count_q;
  table_res_t    table_q;
  tbl_req_t      tbl;
  tbl_rsp_t      tbl_rsp, table_rsp;
  table_status_e tbl_status;
  doorbell_t     db;
  push_t         push;
  rd_req_t       rd_req;
  rd_rsp_t       rd_rsp;
  tx_id_t        id, end_id, end_ids [2];
  logic [13:0]   end_len, end_lens [2];
  logic [1:0]    end_ready;
  logic [511:0]  wqe;
  logic [1:0]    ecn;
  tlp_beat_t     tlp;
  entry_t        entry;
  write_beat_t   told;
  logic          table_done, rd_valid, rd_ready, valid, take, told_ready, told_valid, ends_ready,
      ends_valid, tlp_valid, db_bad, queue_err, busy, quiet, begins, unused_commit, unused_flush,
      unused_bad;
  tx_id_t        first_q;              // identity of the entry whose first blocks were taken
  logic [13:0]   first_len_q;
  logic [1:0]    blocks_q;
  logic [5:0]    end_q, cqe_q;
  logic [63:0]   end_base;
  logic [3:0]    end_log;
  logic [15:0]   end_cqi;
  logic [1:0]    end_more;
  logic          ended, end_wqe, end_cqe, paced, end_paced;

  assign s_axis_req_tready = state_q == StIdle;
  assign op     = ring_op_t'(s_axis_req_tdata);
  assign begins = s_axis_req_tready && s_axis_req_tvalid;

  // Ring the doorbell of one ring a cycle, then push one more block to ring `pushed`, if any.
  assign ring = step_q[2] ? o_q.pushed[1:0] : step_q[1:0];
  assign db   = '{valid: state_q == StRing && (push.valid || (!step_q[2] && o_q.rung[ring])),
                  queue_f: o_q.queue_f[ring], pi: o_q.pi[ring] + 16'(step_q[2])};
  assign push = '{valid: state_q == StRing && step_q[2] && o_q.pushed < 8'(Rings), wqe: o_q.wqe};

  // Disable the queue with an entry of zeros, then enable it again.
  assign cut_start = state_q == StRun && (cut_q == CutWaits ? cut_timer_q == o_q.when_f :
                     cut_q == CutOff && table_done);
  assign cut_op    = '{wdata: cut_q == CutWaits ? '0 : 1024'(o_q.again), id: 8'(TableTxq),
                       index: o_q.queue_f[o_q.cut[1:0]], write: 8'd1, default: '0};

  blk_table u_table (
    .clk, .rst, .start_i((begins && s_axis_req_tdata[7:0] == 8'd0) || cut_start),
    .req_i(table_req(cut_start ? cut_op : table_op_t'(s_axis_req_tdata[$bits(table_op_t)-1:0]))),
    .tbl_o(tbl), .tbl_i(tbl_rsp),
    .done_o(table_done), .rsp_o(table_rsp)
  );
  assign tbl_rsp.status          = 3'(tbl_status);
  assign tbl_rsp.rdata[1023:512] = '0;

  nic_txq #(.Parts(PartsDefault & ~PartCopy)) u_txq (
    .clk, .rst, .enable_i(1'b1), .flr_i(1'b0), .short_i(o_q.short_f[0]), .tbl_i(tbl),
    .tbl_done_o(tbl_rsp.done), .tbl_status_o(tbl_status), .tbl_rdata_o(tbl_rsp.rdata[511:0]),
    .commit_o(unused_commit), .flush_o(unused_flush), .flushed_i(1'b1), .db_i(db), .push_i(push),
    .pause_i('0), .rd_req_o(rd_req), .rd_req_valid_o(rd_valid), .rd_req_ready_i(rd_ready),
    .rd_rsp_i(rd_rsp), .valid_o(valid), .ready_i(take), .id_o(id), .wqe_o(wqe), .ecn_o(ecn),
    .sent_i(take && !more), .more_o(more),
    .end_more_i(end_more), .end_q_i(end_q), .end_base_o(end_base), .end_log_o(end_log),
    .end_cqi_o(end_cqi), .end_i(ended), .end_wqe_i(end_wqe), .end_cqe_i(end_cqe),
    .cqe_i(tlp_valid), .cqe_q_i(cqe_q), .queue_err_o(queue_err), .db_bad_o(db_bad), .busy_o(busy)
  );

  blk_memory #(.Client(RdWqe), .Whole(1'b1), .OfFirst(1'b1)) u_memory (
    .clk, .rst, .mrrs_i(o_q.short_f[0] ? 13'd128 : 13'd512), .attr_i(2'b00),
    .start_i(state_q == StRing && step_q == '0), .start_slot_i(o_q.faulty[1:0]),
    .fault_i(12'(o_q.fault[2:0]) << (3 * o_q.faulty[1:0])),
    .late_i('0), .req_i(rd_req), .req_valid_i(rd_valid), .req_ready_o(rd_ready), .rsp_o(rd_rsp)
  );

  // Entries are taken, and end, only in the cycles that pace selects.
  assign paced     = (timer_q & o_q.pace) == 8'd0;
  assign end_paced = (timer_q & o_q.pace) == o_q.pace;
  assign take      = valid && paced && told_ready && ends_ready;

  always_comb begin
    entry   = '{queue_f: id.qid, ecn: 8'(ecn), event_f: 8'(id.is_event), index: id.index,
                status: id.status, wqe: id.is_event ? '0 : wqe};
    end_id  = id;
    if (!id.is_event) begin
      end_id.wqe_id   = wqe[95:64];
      end_id.complete = wqe[32];
      end_id.status   = wqe[130:128] == '0 ? 8'(StatusBadKey) : 8'(StatusOk);
    end
    end_len = end_id.status == 8'(StatusOk) ? 14'd60 + 14'(wqe[143:136]) : '0;
    if (blocks_q != 2'd0) {end_id, end_len} = {first_q, first_len_q};
    end_id.more = blocks_q;
  end

  // An entry is reported before its completion entry leaves.
  nic_fifo #(.Width($bits(write_beat_t)), .Depth(4)) u_told (
    .clk, .rst, .in_valid_i(take || tlp_valid), .in_ready_o(told_ready),
    .in_data_i(take ? write_end(TlpW'(entry)) : write_beat(tlp)), .out_valid_o(told_valid),
    .out_ready_i(m_axis_rsp_tready), .out_data_o(told)
  );
  nic_fifo #(.Width($bits(tx_id_t) + 14), .Depth(Depth)) u_ends (
    .clk, .rst, .in_valid_i(take && !more), .in_ready_o(ends_ready), .in_data_i({end_id, end_len}),
    .out_valid_o(ends_valid), .out_ready_i(end_ready[0] && end_paced),
    .out_data_o({end_ids[0], end_lens[0]})
  );
  assign end_ids[1]  = '0;
  assign end_lens[1] = '0;

  nic_txcqe u_cqe (
    .clk, .rst, .valid_i({1'b0, ends_valid && end_paced}), .ready_o(end_ready), .id_i(end_ids),
    .len_i(end_lens), .q_o(end_q), .base_i(end_base), .log_i(end_log), .cqi_i(end_cqi),
    .end_o(ended), .end_wqe_o(end_wqe), .end_more_o(end_more), .end_cqe_o(end_cqe),
    .end_bad_o(unused_bad),
    .tlp_o(tlp), .tlp_valid_o(tlp_valid), .tlp_ready_i(told_ready && !take),
    .tlp_q_o(cqe_q)
  );

  assign m_axis_rsp_tvalid = told_valid || state_q == StTold;
  assign m_axis_rsp_tlast  = state_q == StTold;
  assign quiet             = !(valid || told_valid || ends_valid || tlp_valid);

  always_comb begin
    if (state_q != StTold) begin
      m_axis_rsp_tdata = told;
    end else if (o_q.op == 8'd0) begin
      m_axis_rsp_tdata = $bits(write_beat_t)'(table_q);
    end else begin
      m_axis_rsp_tdata = write_end(TlpW'({count_q, o_q.op}));
    end
  end

  always_ff @(posedge clk) begin
    timer_q <= timer_q + 8'd1;
    cut_timer_q <= cut_timer_q + 7'd1;
    if (state_q != StRun || (o_q.after && |rd_rsp.to)) cut_timer_q <= '0;
    if (take) begin
      blocks_q <= more ? blocks_q + 2'd1 : 2'd0;
      if (blocks_q == 2'd0) {first_q, first_len_q} <= {end_id, end_len};
    end
    quiet_q <= state_q == StRun && quiet ? quiet_q + 8'd1 : 8'd0;
    if (db_bad) count_q.db_bad <= count_q.db_bad + 8'd1;
    if (queue_err) count_q.queue_errs <= count_q.queue_errs + 8'd1;
    unique case (state_q)
      StIdle: if (begins) begin
        o_q     <= op;
        count_q <= '{cut: op.cut, cut_from: op.from, default: '0};
        cut_q   <= op.cut < 8'(Rings) ? CutWaits : CutDone;
        step_q  <= '0;
        state_q <= s_axis_req_tdata[7:0] == 8'd0 ? StTable : StRing;
      end
      StTable: if (table_done) {state_q, table_q} <= {StTold, table_res(8'd0, table_rsp)};
      StRing: begin
        step_q <= step_q + 3'd1;
        if (step_q == 3'(Rings)) {state_q, timer_q} <= {StRun, 8'd0};
      end
      StRun: begin
        if (cut_start) cut_q <= cut_q == CutWaits ? CutOff : CutOn;
        if (cut_q == CutOn && table_done) cut_q <= CutDone;
        if ((cut_q == CutOff || cut_q == CutOn) && table_done && count_q.cut_status == 8'd0) begin
          count_q.cut_status <= 8'(table_rsp.status);
        end
        if (busy || cut_q != CutDone) quiet_q <= '0;
        else if (quiet_q == 8'(Quiet)) state_q <= StTold;
      end
      default: if (m_axis_rsp_tready) state_q <= StIdle;
    endcase
    if (rst) begin
      state_q  <= StIdle;
      blocks_q <= '0;
    end
  end

  logic unused_bits;
  assign unused_bits = ^{s_axis_req_tlast, o_q, end_ready[1]};
endmodule
