/// Test device for nic_msix. Requests: enable a queue (op 0); disable it, with or without an entry
/// just before (op 1); send up to four entries, a number of cycles apart (op 2); function-level
/// reset (op 3). A request ends when all its messages have left through a slow port; they are its
/// result.

module blk_msix
  import nic_int_pkg::*;
  import nic_pkg::*;
(
  input  logic         clk,
  input  logic         rst,
  input  logic [447:0] s_axis_req_tdata,
  input  logic         s_axis_req_tlast,
  input  logic         s_axis_req_tvalid,
  output logic         s_axis_req_tready,
  output logic [799:0] m_axis_rsp_tdata,
  output logic         m_axis_rsp_tlast,
  output logic         m_axis_rsp_tvalid,
  input  logic         m_axis_rsp_tready
);
  localparam int Slots = 4;
  localparam int Calm  = 16;       // cycles after which `busy` is valid
  localparam int Late  = 1024 + 64;

  // A completion entry; limit: cycles that its message may wait for further entries.
  typedef struct packed {
    logic [31:0] limit;
    logic [7:0]  event_f;
    logic [7:0]  queue_f;
    logic [7:0]  tx;
    logic [7:0]  has;
  } slot_t;

  typedef struct packed {
    slot_t [Slots-1:0] slot;
    logic [15:0] rsvd;
    logic [15:0] apart;
    logic [31:0] data;
    logic [63:0] addr;
    logic [15:0] mod_cycles;
    logic [15:0] mod_count;
    logic [7:0]  enable;
    logic [7:0]  queue_f;
    logic [7:0]  tx;
    logic [7:0]  op;
  } op_t;

  // Messages of a slot's queue. Field timed: 1 if the queue's oldest entry had waited for `limit`
  // cycles or more when the last message came; late: 1 if any message came later than allowed.
  typedef struct packed {
    logic [31:0]  data;
    logic [127:0] hdr;
    logic [7:0]   rsvd;
    logic [7:0]   late;
    logic [7:0]   timed;
    logic [7:0]   count;
  } sent_t;

  typedef enum logic [2:0] {StIdle, StPush, StSettle, StFlush, StCommit, StReset, StResult} state_e;

  state_e            state_q;
  op_t               o_q;
  sent_t [Slots-1:0] sent_q;
  logic [Slots-1:0]  ran_q;        // slot's queue: entry left, and no message since
  logic [15:0]       age_q [Slots];
  logic [7:0]        others_q, steps_q;
  logic [1:0]        next_q;
  logic [15:0]       wait_q;       // cycles until the next slot's entry is sent
  logic [4:0]        calm_q;
  logic [7:0]        lfsr_q;
  tbl_req_t          tbl;
  rxq_entry_t        entry;
  left_t             in, out, left;
  msg_t              msg;
  slot_t             now;
  logic              has, room, taken, out_valid, out_ready, msg_valid, msg_ready, flush, commit,
      flushed, sent, busy;
  logic              work, resets;

  assign s_axis_req_tready = state_q == StIdle;
  assign m_axis_rsp_tvalid = state_q == StResult;
  assign m_axis_rsp_tlast  = 1'b1;
  assign m_axis_rsp_tdata  = 800'({sent_q, 8'h0, steps_q, others_q, o_q.op});
  assign now       = o_q.slot[next_q];
  assign has       = state_q == StPush && wait_q == '0 && now.has[0];
  assign msg_ready = room && !has;
  assign taken     = room && (has || msg_valid);
  assign in        = '{entry: has, msg: !has, event_f: has && now.event_f[0],
                       tx: has ? now.tx[0] : msg.tx, queue_f: has ? now.queue_f : msg.queue_f};
  assign out_ready = lfsr_q[0] || lfsr_q[3];
  assign left      = out_valid && out_ready ? out : '0;
  assign flush     = state_q == StFlush;
  assign commit    = state_q == StCommit;
  assign resets    = state_q == StReset && calm_q == 5'(Calm) && !work;

  always_comb begin
    entry            = '0;
    entry.enable     = o_q.op == 8'd0 ? 8'd1 : 8'd0;
    entry.msix_addr  = o_q.addr;
    entry.msix_data  = o_q.data;
    entry.mod_count  = o_q.mod_count;
    entry.mod_cycles = o_q.mod_cycles;
    tbl = '{valid: flush || commit, write: 1'b1, id: o_q.tx[0] ? TableTxq : TableRxq,
        index: 16'(o_q.queue_f),
            wdata: 1024'(entry)};
  end

  nic_msix u_msix (
    .clk, .rst(rst || resets), .flr_i(state_q == StReset), .tbl_i(tbl),
    .rx_commit_i(commit && !o_q.tx[0]), .tx_commit_i(commit && o_q.tx[0]),
    .rx_flush_i(flush && !o_q.tx[0]), .tx_flush_i(flush && o_q.tx[0]), .flushed_o(flushed),
    .taken_i(taken), .left_i(left), .msg_o(msg), .msg_valid_o(msg_valid), .msg_ready_i(msg_ready),
    .sent_o(sent), .work_o(work), .busy_o(busy)
  );

  // The TLP port: at most four entries and messages are in it.
  nic_fifo #(.Width($bits(left_t)), .Depth(4)) u_port (
    .clk, .rst, .in_valid_i(taken), .in_ready_o(room), .in_data_i(in),
    .out_valid_o(out_valid), .out_ready_i(out_ready), .out_data_o(out)
  );

  always_ff @(posedge clk) begin
    logic mine;
    lfsr_q  <= {lfsr_q[6:0], lfsr_q[7] ^ lfsr_q[5] ^ lfsr_q[4] ^ lfsr_q[3]};
    calm_q  <= state_q == StSettle || state_q == StReset ? calm_q + 5'(calm_q != 5'(Calm)) : '0;
    steps_q <= steps_q + 8'(sent);
    mine    = 1'b0;
    for (int i = 0; i < Slots; i++) begin
      if (ran_q[i] && age_q[i] != 16'hffff) age_q[i] <= age_q[i] + 16'd1;
      if (o_q.slot[i].queue_f == left.queue_f && o_q.slot[i].tx[0] == left.tx) begin
        if (left.entry) ran_q[i] <= 1'b1;
        if (left.msg) begin
          mine            = 1'b1;
          sent_q[i].count <= sent_q[i].count + 8'd1;
          sent_q[i].timed <= 8'(ran_q[i] && o_q.slot[i].limit != 32'd0 &&
              32'(age_q[i]) >= o_q.slot[i].limit);
          if (32'(age_q[i]) >= o_q.slot[i].limit + Late) sent_q[i].late <= 8'd1;
          ran_q[i] <= 1'b0;
          age_q[i] <= '0;
        end
      end
      if (msg_valid && msg_ready && o_q.slot[i].queue_f == msg.queue_f &&
          o_q.slot[i].tx[0] == msg.tx) begin
        sent_q[i].hdr  <= msg.hdr;
        sent_q[i].data <= msg.data;
      end
    end
    if (left.msg && !mine) others_q <= others_q + 8'd1;

    unique case (state_q)
      StIdle: if (s_axis_req_tvalid) begin
        o_q     <= op_t'(s_axis_req_tdata);
        next_q  <= '0;
        state_q <= s_axis_req_tdata[7:0] == 8'd0 ? StCommit :
                   s_axis_req_tdata[7:0] == 8'd3 ? StReset : StPush;
        {sent_q, others_q, steps_q, ran_q, wait_q} <= '0;
        age_q   <= '{default: '0};
      end
      StPush: if (wait_q != '0) wait_q <= wait_q - 16'd1;
      else if (!has || room) begin
        next_q <= next_q + 2'd1;
        wait_q <= o_q.apart;
        if (next_q == 2'(Slots - 1)) state_q <= o_q.op == 8'd1 ? StFlush : StSettle;
      end
      StSettle: if (calm_q == 5'(Calm) && !busy) state_q <= StResult;
      StFlush: if (flushed) state_q <= StCommit;
      StReset: if (resets) state_q <= StIdle;
      StCommit: state_q <= o_q.op == 8'd0 ? StIdle : StSettle;
      default: if (m_axis_rsp_tready) state_q <= StIdle;
    endcase
    if (rst) begin
      state_q <= StIdle;
      lfsr_q  <= 8'h5a;
      o_q     <= '0;
    end
  end

  logic unused_bits;
  assign unused_bits = ^{s_axis_req_tlast, o_q, now};
endmodule
