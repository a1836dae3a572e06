/// MSI-X messages (contract M1 to M5). Counts the completion entries of each queue as they are
/// accepted at the TLP port, and sends a message after enough entries, after an Event, when the
/// oldest entry has waited long enough, or when the queue is disabled. One queue is examined a
/// cycle: that of the entry or message accepted last, else the queue being disabled, else the next
/// one in a scan for expired times.

`include "nic_assert.svh"

module nic_msix
  import nic_pkg::*, nic_int_pkg::*;
#(
  // Number of receive queues, a power of two.
  parameter int NumRxq = 64,
  // Number of transmit queues, a power of two.
  parameter int NumTxq = 64
) (
  input  logic         clk,
  input  logic         rst,
  // A function-level reset is in progress: no message falls due, waiting ones are dropped.
  input  logic         flr_i,
  // Table bus.
  input  tbl_req_t     tbl_i,
  // Pulse: the Rxq entry on the table bus takes effect.
  input  logic         rx_commit_i,
  // Pulse: the Txq entry on the table bus takes effect.
  input  logic         tx_commit_i,
  // High while the receive queue on the table bus is being disabled and has drained.
  input  logic         rx_flush_i,
  // High while the transmit queue on the table bus is being disabled and has drained.
  input  logic         tx_flush_i,
  // High: messages have reported all entries of the queue on the table bus.
  output logic         flushed_o,
  // Pulse: nic_tlp_mux accepted a completion entry or a message.
  input  logic         taken_i,
  // Completion entry or message that was accepted at the TLP port in this cycle.
  input  left_t        left_i,
  // Next message to be sent.
  output msg_t         msg_o,
  output logic         msg_valid_o,
  input  logic         msg_ready_i,
  // Pulse of the counter MSIX.
  output logic         sent_o,
  // High while a completion entry or a message is between nic_tlp_mux and the TLP port.
  output logic         work_o,
  // High while work_o is high, a message is due, or unreported entries wait for their time limit.
  output logic         busy_o
);
  localparam int Qw     = $clog2(NumRxq > NumTxq ? NumRxq : NumTxq);
  localparam int Iw     = Qw + 1;      // upper half: transmit queues
  localparam int Queues = 1 << Iw;
  localparam int Tw     = 24;          // more than the longest wait, 64 x 65,535 cycles

  typedef enum logic [2:0] {OpNone, OpEntry, OpSent, OpFlush, OpScan} op_e;

  typedef struct packed {
    logic          queued;             // a message is due and not yet accepted at the TLP port
    logic [15:0]   count;              // unreported entries
    logic [Tw-1:0] since;              // time at which the oldest unreported entry left
  } state_t;

  typedef struct packed {
    logic [15:0] count;
    logic [15:0] cycles;
  } limit_t;

  typedef struct packed {
    logic [63:0] addr;
    logic [31:0] data;
  } target_t;

  state_t            state_mem  [Queues];
  limit_t            limit_mem  [Queues];
  target_t           target_mem [Queues];
  logic [Queues-1:0] on_q;             // enabled queues with an msix_addr
  logic [Queues-1:0] fresh_q;          // nothing has left since enabling: state_mem is undefined
  logic [Tw-1:0]     now_q;
  logic [Iw-1:0]     scan_q;
  logic [Iw:0]       waiting_q;        // queues whose message is due or waits for a time limit
  left_t             left_q;
  logic [2:0]        inside_q;         // completion entries and messages in the TLP port
  logic              armed_q;
  logic [2:0]        before_q;         // entries in the port when the disabling began, not yet left
  rxq_entry_t        entry;
  logic [Iw-1:0]     tbl_index, index, head;
  logic              flush, gone, push, due, waited, waits, head_valid, pop;
  logic              unused_ready, unused_bits;
  op_e               op;
  state_t            now, nxt;
  limit_t            limit;

  // Rxq and Txq entries have these fields at the same offsets.
  assign entry       = rxq_entry_t'(tbl_i.wdata[511:0]);
  assign tbl_index   = {tbl_i.id == TableTxq, tbl_i.index[Qw-1:0]};
  assign flush       = rx_flush_i || tx_flush_i;
  assign gone        = left_q.entry || left_q.msg;
  assign sent_o      = left_q.msg;
  assign work_o      = msg_valid_o || gone || inside_q != 3'd0;
  assign busy_o      = work_o || waiting_q != '0;
  assign unused_bits = ^{tbl_i, entry, left_q};

  // The clock, and with it the time, stops while no queue waits and nothing is in the TLP port.
  logic clk_g;

  nic_clkgate u_gate (
    .clk, .test_en_i(1'b0), .clk_o(clk_g),
    .enable_i(rst || busy_o || taken_i || left_i.entry || left_i.msg || rx_commit_i ||
              tx_commit_i || flush || armed_q)
  );

  always_ff @(posedge clk_g) begin
    if (rx_commit_i || tx_commit_i) begin
      limit_mem[tbl_index]  <= '{count: entry.mod_count, cycles: entry.mod_cycles};
      target_mem[tbl_index] <= '{addr: entry.msix_addr, data: entry.msix_data};
    end
  end

  // Departures take precedence, because their order matters. Disabling and the scan use the other
  // cycles.
  always_comb begin
    op    = OpNone;
    index = '0;
    if (gone) begin
      op    = left_q.entry ? OpEntry : OpSent;
      index = {left_q.tx, left_q.queue_f[Qw-1:0]};
    end else if (flush && armed_q && before_q == 3'd0) begin
      op    = OpFlush;
      index = tbl_index;
    end else if (waiting_q != '0) begin
      op    = OpScan;
      index = scan_q;
    end
  end

  always_comb begin
    now   = '0;
    nxt   = '0;
    limit = '0;
    due   = 1'b0;
    if (op != OpNone && on_q[index]) begin
      limit = limit_mem[index];
      if (!fresh_q[index]) now = state_mem[index];
      nxt = now;
      unique case (op)
        OpEntry: begin
          if (now.count == 16'd0) nxt.since = now_q;
          if (now.count != 16'hffff) nxt.count = now.count + 16'd1;
          due = left_q.event_f || nxt.count >= limit.count;
        end
        OpSent:  nxt   = '0;
        OpFlush: due   = now.count != 16'd0;
        default: due   = now.count != 16'd0 && limit.cycles != 16'd0 &&
                         now_q - now.since >= Tw'({limit.cycles, 6'd0});
      endcase
      if (due && !flr_i) nxt.queued = 1'b1;
    end
  end

  assign waited    = now.queued || (now.count != 16'd0 && limit.cycles != 16'd0);
  assign waits     = nxt.queued || (nxt.count != 16'd0 && limit.cycles != 16'd0);
  assign push      = nxt.queued && !now.queued;
  assign flushed_o = flush && (flr_i || (op == OpFlush && !now.queued && now.count == 16'd0));

  always_ff @(posedge clk_g) begin
    now_q  <= now_q + 1'b1;
    left_q <= left_i;
    if (op == OpScan) scan_q <= scan_q + 1'b1;
    if (op != OpNone && on_q[index]) begin
      state_mem[index] <= nxt;
      fresh_q[index]   <= 1'b0;
      if (waits != waited) waiting_q <= waits ? waiting_q + 1'b1 : waiting_q - 1'b1;
    end
    if (rx_commit_i || tx_commit_i) begin
      on_q[tbl_index]    <= entry.enable[0] && entry.msix_addr != 64'd0;
      fresh_q[tbl_index] <= 1'b1;
    end
    // A queue being disabled is flushed only after the entries that were in the TLP port have left.
    inside_q <= inside_q + 3'(taken_i) - 3'(gone);
    armed_q  <= flush;
    if (flush && !armed_q)                before_q <= inside_q - 3'(gone);
    else if (gone && before_q != 3'd0)    before_q <= before_q - 3'd1;
    if (rst) begin
      now_q     <= '0;
      scan_q    <= '0;
      waiting_q <= '0;
      on_q      <= '0;
      fresh_q   <= '0;
      left_q    <= '0;
      inside_q  <= '0;
      armed_q   <= 1'b0;
    end
  end

  // Queues whose message is due, each once; the head becomes the message offered to the port.
  nic_fifo #(.Width(Iw), .Depth(Queues)) u_due (
    .clk(clk_g), .rst, .in_valid_i(push), .in_ready_o(unused_ready), .in_data_i(index),
    .out_valid_o(head_valid), .out_ready_i(pop), .out_data_o(head)
  );

  assign pop = head_valid && !flr_i && (!msg_valid_o || msg_ready_i);

  always_ff @(posedge clk_g) begin
    if (!msg_valid_o || msg_ready_i) msg_valid_o <= pop;
    if (pop) begin
      target_t t;
      t             = target_mem[head];
      msg_o.hdr     <= mem_hdr(1'b1, t.addr, 11'd1, 4'hf, 4'h0, 8'd0);
      msg_o.data    <= t.data;
      msg_o.tx      <= head[Iw-1];
      msg_o.queue_f <= 8'(head[Qw-1:0]);
    end
    if (rst) msg_valid_o <= 1'b0;
  end

  `NIC_ASSERT(a_one, push |-> unused_ready)
  `NIC_ASSERT(a_count, gone |-> inside_q != 3'd0)
  `NIC_HELD(a_held, msg_valid_o, msg_ready_i, msg_o)
endmodule
