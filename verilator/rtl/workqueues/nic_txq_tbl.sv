/// Table Txq: checks and executes table commands, and stores the fields that the driver wrote.
/// Disabling ends when the queue has drained (contract G6, G7, Q5, T11).

module nic_txq_tbl
  import nic_pkg::*, nic_int_pkg::*;
#(
  // Number of transmit queues, a power of two.
  parameter int NumTxq = 64,
  // Optional parts in this build, as the bits of register CAP1.
  parameter int unsigned Parts = PartsDefault,
  localparam int Qw = $clog2(NumTxq)
) (
  input  logic           clk,
  input  logic           rst,
  input  tbl_req_t       tbl_i,
  output logic           tbl_done_o,
  output table_status_e  tbl_status_o,
  output logic [511:0]   tbl_rdata_o,
  // Queue of the command; the inputs below are its state, in the same cycle.
  output logic [Qw-1:0]  q_o,
  input  queue_state_e   state_i,
  input  logic [7:0]     error_i,
  // High if the queue was enabled since reset, so that its indices are defined.
  input  logic           used_i,
  input  logic [15:0]    pi_i,
  input  logic [15:0]    ci_i,
  input  logic [15:0]    cqi_i,
  // Pulse: the queue is enabled.
  output logic           on_o,
  // High while the queue is being disabled.
  output logic           drain_o,
  // High if queue q_o has entries in flight.
  input  logic           hold_i,
  // Pulse: the Txq entry on the table bus takes effect.
  output logic           commit_o,
  // flush_o: the queue is being disabled and has drained. flushed_i: messages have reported all its
  // entries.
  output logic           flush_o,
  input  logic           flushed_i,
  // Queues whose stored fields are read, in the same cycle.
  input  logic [Qw-1:0]  sched_q_i,
  output logic [63:0]    sched_base_o,
  output logic [3:0]     sched_log_o,
  input  logic [Qw-1:0]  end_q_i,
  output logic [63:0]    end_base_o,
  output logic [3:0]     end_log_o,
  input  logic [Qw-1:0]  db_q_i,
  output logic [3:0]     db_log_o,
  input  logic [Qw-1:0]  ecn_q_i,
  output logic [1:0]     ecn_o
);
  localparam bit HasEcn = (Parts & PartEcn) != 0;

  typedef enum logic [2:0] {TIdle, TCheck, TDrain, TCommit, TDone, TGap} state_e;

  localparam bit HasMsix = (Parts & PartMsix) != 0;
  localparam bit HasPause = (Parts & PartPause) != 0;

  typedef struct packed {
    logic [15:0] mod_cycles;
    logic [15:0] mod_count;
    logic [31:0] msix_data;
    logic [63:0] msix_addr;
  } msix_t;

  typedef struct packed {
    msix_t       msix;
    logic [63:0] cq_base;
    logic [63:0] ring_base;
    logic [7:0]  log_size;
    logic [7:0]  ecn_mode;
    logic [7:0]  pfc_class;
  } cfg_entry_t;

  cfg_entry_t        cfg_mem [NumTxq];
  logic [NumTxq-1:0] written_q;
  state_e            ts_q;
  logic              enable_q;
  table_status_e     status_q;
  logic [511:0]      rdata_q;
  logic              unused_tbl;

  assign unused_tbl   = ^{tbl_i.wdata[1023:512], tbl_i.index};
  assign q_o          = tbl_i.index[Qw-1:0];
  assign tbl_done_o   = ts_q == TDone;
  assign tbl_status_o = status_q;
  assign tbl_rdata_o  = rdata_q;
  assign drain_o      = ts_q == TDrain;
  assign commit_o     = ts_q == TCommit;
  assign flush_o      = ts_q == TDrain && !hold_i;
  assign on_o         = ts_q == TCommit && enable_q;
  assign sched_base_o = cfg_mem[sched_q_i].ring_base;
  assign sched_log_o  = cfg_mem[sched_q_i].log_size[3:0];
  assign end_base_o   = cfg_mem[end_q_i].cq_base;
  assign end_log_o    = cfg_mem[end_q_i].log_size[3:0];
  assign db_log_o     = cfg_mem[db_q_i].log_size[3:0];
  assign ecn_o        = HasEcn ? cfg_mem[ecn_q_i].ecn_mode[1:0] : 2'd0;

  always_ff @(posedge clk) begin
    txq_entry_t    e, w;
    table_status_e s;
    logic          unused_w;
    unique case (ts_q)
      TIdle: if (tbl_i.valid && tbl_i.id == TableTxq) ts_q <= TCheck;
      TCheck: begin
        e        = '0;
        s        = TableStatusOk;
        enable_q <= tbl_i.wdata[0];
        if (tbl_i.write) begin
          w = txq_entry_t'(tbl_i.wdata[511:0]);
          if (w.enable == 8'd1 && ((!HasMsix && w.msix_addr != 64'd0) ||
                                   (!HasEcn && w.ecn_mode != 8'd0) ||
                                   (!HasPause && w.pfc_class != 8'd0))) begin
            s = TableStatusNotBuilt;
          end
          if (w.enable == 8'd1 && (w.log_size < 8'(LogSizeMin) || w.log_size > 8'(LogSizeMax) ||
                                   w.ring_base[5:0] != 6'd0 || w.cq_base[5:0] != 6'd0 ||
                                   (HasMsix && w.msix_addr[1:0] != 2'd0) ||
                                   (HasEcn && w.ecn_mode > 8'd3) ||
                                   (HasPause && w.pfc_class > 8'd7))) begin
            s = TableStatusBadValue;
          end
          if (w.enable > 8'd1) s = TableStatusBadValue;
          if (w.enable == 8'd1 && state_i != QueueStateOff) s = TableStatusEnabled;
          ts_q <= s != TableStatusOk ? TDone : tbl_i.wdata[0] ? TCommit : TDrain;
        end else begin
          e.enable = 8'(state_i != QueueStateOff);
          e.state  = state_i;
          e.error  = status_e'(state_i == QueueStateError ? error_i : 8'd0);
          if (used_i) begin
            e.pi  = pi_i;
            e.ci  = ci_i;
            e.cqi = cqi_i;
          end
          if (written_q[q_o]) begin
            e.log_size  = cfg_mem[q_o].log_size;
            e.ring_base = cfg_mem[q_o].ring_base;
            e.cq_base   = cfg_mem[q_o].cq_base;
            e.ecn_mode  = cfg_mem[q_o].ecn_mode;
            e.pfc_class = cfg_mem[q_o].pfc_class;
            {e.mod_cycles, e.mod_count, e.msix_data, e.msix_addr} = cfg_mem[q_o].msix;
          end
          ts_q <= TDone;
        end
        rdata_q  <= e;
        status_q <= s;
      end
      TDrain: if (!hold_i && flushed_i) ts_q <= TCommit;
      TCommit: begin
        w              = txq_entry_t'(tbl_i.wdata[511:0]);
        cfg_mem[q_o]   <= '{msix: HasMsix ? {w.mod_cycles, w.mod_count, w.msix_data, w.msix_addr} :
                                            '0,
                            cq_base: w.cq_base, ring_base: w.ring_base, log_size: w.log_size,
                            ecn_mode: HasEcn ? w.ecn_mode : 8'd0,
                            pfc_class: HasPause ? w.pfc_class : 8'd0};
        unused_w       = ^w;
        written_q[q_o] <= 1'b1;
        ts_q           <= TDone;
      end
      TDone:   ts_q <= TGap;
      default: ts_q <= TIdle;
    endcase
    if (rst) begin
      ts_q      <= TIdle;
      written_q <= '0;
    end
  end
endmodule
