/// Table Rxq: stores the contexts as software wrote them, and executes the commands that write and
/// read them. Disabling waits until the queue has drained; all fields change in the cycle of the
/// commit.

module nic_rxq_tbl
  import nic_int_pkg::*;
  import nic_pkg::*;
  import nic_rx_pkg::*;
#(
  // Number of receive queues.
  parameter int NumRxq = 64,
  // Optional parts in this build, as the bits of register CAP1.
  parameter int unsigned Parts = PartsDefault,
  localparam int Qw = $clog2(NumRxq)
) (
  input  logic          clk,
  input  logic          rst,
  input  tbl_req_t      tbl_i,
  output tbl_rsp_t      tbl_o,
  // Queue of the command; the inputs below are its state, in the same cycle.
  output logic [Qw-1:0] queue_o,
  input  queue_state_e  state_i,
  input  status_e       error_i,
  input  logic [15:0]   pi_i,
  input  logic [15:0]   ci_i,
  input  logic [15:0]   cqi_i,
  // High if queue queue_o has no work in flight.
  input  logic          drained_i,
  // Pulse: the Rxq entry on the table bus takes effect.
  output logic          commit_o,
  // flush_o: the queue on the table bus is being disabled and has drained. flushed_i: messages have
  // reported all its entries.
  output logic          flush_o,
  input  logic          flushed_i,
  // Pulse: the queue is disabled.
  output logic          off_o,
  // Pulse: the queue is enabled, with a ring of 2^log_size_o descriptors.
  output logic          start_o,
  output logic [3:0]    log_size_o,
  // Reads a queue's context; ctx_o holds it from the next cycle on and follows later writes.
  input  logic          ctx_read_i,
  input  logic [Qw-1:0] ctx_queue_i,
  output rx_ctx_t       ctx_o,
  // Reads a queue's ring base; base_o holds it in the next cycle.
  input  logic          base_read_i,
  input  logic [Qw-1:0] base_queue_i,
  output logic [63:0]   base_o
);
  localparam bit HasMsix   = (Parts & PartMsix) != 0;
  localparam bit HasCrc32c = (Parts & PartCrc32c) != 0;
  localparam bit HasEcn    = (Parts & PartEcn) != 0;
  localparam bit HasTrim   = (Parts & PartTrim) != 0;

  typedef enum logic [1:0] {Idle, Drain, Fetch, Answer} step_e;

  step_e             step_q, step_d;
  rxq_entry_t        entry, shown_q;
  table_status_e     status;
  tbl_rsp_t          rsp_q;
  logic              mine, commit, answer;
  logic [Qw-1:0]     queue, ctx_queue_q;
  logic [NumRxq-1:0] known_q;
  rx_ctx_t           ctx_new, ctx_q;
  logic [63:0]       base_q;

  logic [511:0] entries [NumRxq];
  rx_ctx_t      contexts [NumRxq];
  logic [63:0]  bases [NumRxq];

  assign entry      = rxq_entry_t'(tbl_i.wdata[511:0]);
  assign queue      = tbl_i.index[Qw-1:0];
  assign queue_o    = queue;
  assign mine       = tbl_i.valid && tbl_i.id == TableRxq;
  assign tbl_o      = rsp_q;
  assign log_size_o = entry.log_size[3:0];
  assign start_o    = commit && entry.enable[0];
  assign commit_o   = commit;
  assign flush_o    = step_q == Drain && drained_i;
  assign ctx_o      = ctx_q;
  assign base_o     = base_q;

  always_comb begin
    status = TableStatusOk;
    if (mine && tbl_i.write && entry.enable != 8'd0) begin
      if (entry.enable == 8'd1 && state_i != QueueStateOff) status = TableStatusEnabled;
      else if (entry.enable != 8'd1 || 8'(entry.split_mode) > 8'(SplitModeHeaders) ||
               entry.log_size < 8'(LogSizeMin) || entry.log_size > 8'(LogSizeMax) ||
               entry.ring_base[5:0] != 6'h0 || entry.cq_base[5:0] != 6'h0 ||
               entry.pay_buf_size == 16'h0 ||
               (HasCrc32c && 8'(entry.crc_mode) > 8'(CrcModeCheck)) ||
               (HasEcn && entry.ecn_mode > 8'd1) || (HasTrim && entry.trim > 8'd1) ||
               (entry.hdr_buf_size == 16'h0 && entry.split_mode != SplitModeNone) ||
               (HasMsix && entry.msix_addr[1:0] != 2'd0)) begin
        status = TableStatusBadValue;
      end else if ((!HasMsix && entry.msix_addr != 64'h0) ||
                   (!HasCrc32c && entry.crc_mode != CrcModeOff) ||
                   (!HasEcn && entry.ecn_mode != 8'h0) ||
                   (!HasTrim && entry.trim != 8'h0)) begin
        status = TableStatusNotBuilt;
      end
    end
  end

  always_comb begin
    step_d = step_q;
    off_o  = 1'b0;
    commit = 1'b0;
    answer = 1'b0;
    unique case (step_q)
      Idle: begin
        if (mine && !tbl_i.write) step_d = Fetch;
        else if (mine) begin
          off_o  = status == TableStatusOk && !entry.enable[0];
          commit = status == TableStatusOk && entry.enable[0];
          answer = !off_o;
          step_d = off_o ? Drain : Answer;
        end
      end
      Drain: if (drained_i && flushed_i) begin
        commit = 1'b1;
        answer = 1'b1;
        step_d = Answer;
      end
      Fetch: begin
        answer = 1'b1;
        step_d = Answer;
      end
      Answer: step_d = Idle;
    endcase
  end

  // Returns the data of a table read.
  function automatic rxq_entry_t shown();
    shown       = shown_q;
    shown.state = state_i;
    shown.error = error_i;
    shown.pi    = pi_i;
    shown.ci    = ci_i;
    shown.cqi   = cqi_i;
    // Fields of parts that are not built, and reserved fields, read 0.
    if (!HasMsix) begin
      shown.msix_addr  = '0;
      shown.msix_data  = '0;
      shown.mod_count  = '0;
      shown.mod_cycles = '0;
    end
    if (!HasCrc32c) shown.crc_mode = CrcModeOff;
    if (!HasEcn)    shown.ecn_mode = '0;
    if (!HasTrim)   shown.trim     = '0;
    shown.rsvd0      = '0;
    shown.rsvd1      = '0;
  endfunction

  assign ctx_new = '{split_mode: entry.split_mode, log_size: entry.log_size[3:0],
                     split_len: entry.split_len, hdr_buf_size: entry.hdr_buf_size,
                     pay_buf_size: entry.pay_buf_size,
                     crc_mode: HasCrc32c ? 2'(entry.crc_mode) : 2'(CrcModeOff),
                     ecn_mode: HasEcn && entry.ecn_mode[0], trim: HasTrim && entry.trim[0],
                     cq_base: entry.cq_base};

  always_ff @(posedge clk) begin
    step_q <= step_d;
    if (commit) begin
      entries[queue]  <= tbl_i.wdata[511:0];
      contexts[queue] <= ctx_new;
      bases[queue]    <= entry.ring_base;
      known_q[queue]  <= 1'b1;
    end
    if (mine && step_q == Idle) begin
      shown_q <= known_q[queue] ? rxq_entry_t'(entries[queue]) : rxq_entry_t'('0);
    end
    rsp_q.done <= answer;
    if (answer) begin
      rsp_q.status <= step_q == Idle ? status : TableStatusOk;
      rsp_q.rdata  <= 1024'(shown());
    end

    if (ctx_read_i) begin
      ctx_queue_q <= ctx_queue_i;
      ctx_q       <= commit && queue == ctx_queue_i ? ctx_new : contexts[ctx_queue_i];
    end else if (commit && queue == ctx_queue_q) begin
      ctx_q <= ctx_new;
    end
    if (base_read_i) base_q <= bases[base_queue_i];

    if (rst) begin
      step_q     <= Idle;
      known_q    <= '0;
      rsp_q.done <= 1'b0;
    end
  end

  logic unused_bits;
  assign unused_bits = ^{tbl_i.wdata[1023:512], tbl_i.index[15:Qw], entry.rsvd0, entry.rsvd1,
                         entry.state, entry.error, entry.pi, entry.ci, entry.cqi,
                         entry.mod_count, entry.mod_cycles, entry.msix_data};
endmodule
