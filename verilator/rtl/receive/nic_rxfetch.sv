/// Prefetches posted descriptors, each once: up to four a read, never across a 64 B block of the
/// ring. A queue is examined after a doorbell and after a descriptor was used.

`include "nic_assert.svh"

module nic_rxfetch
  import nic_int_pkg::*;
  import nic_pkg::*;
#(
  // Number of receive queues.
  parameter int NumRxq = 64,
  // Descriptors cached for each queue, a power of two.
  parameter int DescCache = 128,
  localparam int Qw = $clog2(NumRxq),
  localparam int Sw = $clog2(DescCache)
) (
  input  logic          clk,
  input  logic          rst,
  // Pulse: a doorbell posted descriptors of queue posted_queue_i.
  input  logic          posted_i,
  input  logic [Qw-1:0] posted_queue_i,
  // Pulse: queue start_queue_i was enabled; its indices are 0.
  input  logic          start_i,
  input  logic [Qw-1:0] start_queue_i,
  // Queue to be examined; the inputs below are its state, in the same cycle.
  output logic [Qw-1:0] queue_o,
  input  logic          run_i,
  input  logic [15:0]   pi_i,
  input  logic [15:0]   ci_i,
  input  logic [3:0]    log_size_i,
  // Reads the ring base of queue base_queue_o; base_i holds it in the next cycle.
  output logic          base_read_o,
  output logic [Qw-1:0] base_queue_o,
  input  logic [63:0]   base_i,
  // Read client.
  output rd_req_t       rd_req_o,
  output logic          rd_req_valid_o,
  input  logic          rd_req_ready_i,
  input  rd_rsp_t       rd_rsp_i,
  // Pulse: a read failed; fail_slot_o is the slot of its first descriptor.
  output logic          fail_o,
  output logic [Qw-1:0] fail_queue_o,
  output logic [7:0]    fail_slot_o,
  output status_e       fail_status_o,
  // Slot to look up; look_o: its descriptor has arrived.
  input  logic [Qw-1:0] look_queue_i,
  input  logic [Sw-1:0] look_slot_i,
  output logic          look_o,
  // Pulse: reads the descriptor in slot look_slot_i; it is on desc_o from the next cycle on.
  input  logic          take_i,
  output rx_desc_t      desc_o,
  // Queue that is being disabled; drain_reads_o: it has reads that have not ended.
  input  logic [Qw-1:0] drain_queue_i,
  output logic          drain_reads_o,
  output logic          busy_o,
  // Opens the clock gate: high while a queue waits to be examined, or a read to be accepted.
  output logic          wake_o
);
  localparam int Cw = Sw + 1;          // width of counts of reads and descriptors of a queue

  // OnesAt[b]: mask of the queues whose number has bit b set.
  typedef logic [NumRxq-1:0] masks_t[Qw];
  localparam masks_t OnesAt = ones_at();

  function automatic logic [NumRxq-1:0] ones(input int b);
    ones = '0;
    for (int q = NumRxq - 1; q >= 0; q--) ones = {ones[NumRxq-2:0], 1'(q >> b)};
  endfunction

  function automatic masks_t ones_at();
    for (int b = 0; b < Qw; b++) ones_at[b] = ones(b);
  endfunction

  logic [15:0]       next_q [NumRxq];  // index of the descriptor to fetch next
  logic [Cw-1:0]     reads_q [NumRxq]; // reads in flight
  logic [NumRxq-1:0] want_q;
  logic [Qw+Sw:0]    all_reads_q;

  // Round robin over the queues that may need a read: pick a queue, look at its state, send the
  // request.
  logic              look_q, req_valid_q;
  logic [Qw-1:0]     queue_q, pick;
  rd_req_t           req_q;
  logic              asked, begin_look;

  logic [15:0]       next, posted, index;
  logic [2:0]        count;

  function automatic logic [Qw-1:0] first_from(input logic [NumRxq-1:0] m, input logic [Qw-1:0] q);
    logic [NumRxq-1:0] upper, one;
    upper = m & ({NumRxq{1'b1}} << q);
    upper = |upper ? upper : m;
    one   = upper & (~upper + 1'b1);
    first_from = '0;
    for (int b = 0; b < Qw; b++) first_from[b] = |(one & OnesAt[b]);
  endfunction

  assign begin_look   = |want_q && !look_q && !req_valid_q;
  assign pick         = begin_look ? first_from(want_q, queue_q + 1'b1) : '0;
  assign base_read_o  = begin_look;
  assign base_queue_o = pick;
  assign queue_o      = queue_q;

  // Size of the next read: the descriptors posted, up to the end of the block; none if the cache
  // lacks room for them.
  always_comb begin
    next   = '0;
    posted = '0;
    count  = '0;
    asked  = 1'b0;
    if (look_q && run_i) begin
      next   = next_q[queue_q];
      posted = pi_i - next;
      count  = 3'd4 - 3'(next[1:0]);
      if (posted < 16'(count)) count = posted[2:0];
      asked  = posted != 16'h0 && 16'(next - ci_i) + 16'(count) <= 16'(DescCache);
    end
  end

  assign index = next & 16'((17'h1 << log_size_i) - 17'h1);

  // Responses carry queue and slot in their cookie.
  logic [Qw-1:0] rsp_queue;
  logic [Sw-1:0] rsp_slot;
  logic          rsp_done, rsp_good;

  assign rsp_queue     = rd_rsp_i.cookie[Qw-1:0];
  assign rsp_slot      = rd_rsp_i.cookie[8 +: Sw];
  assign rsp_done      = rd_rsp_i.to[RdRx] && rd_rsp_i.done;
  assign rsp_good      = rd_rsp_i.status == 8'(StatusOk);
  assign fail_o        = rsp_done && !rsp_good;
  assign fail_queue_o  = rsp_queue;
  assign fail_slot_o   = 8'(rsp_slot);
  assign fail_status_o = status_e'(rd_rsp_i.status);

  nic_rxdesc #(.NumRxq(NumRxq), .DescCache(DescCache)) u_desc (
    .clk,
    .fill_i        (rd_rsp_i.to[RdRx] && rd_rsp_i.nbytes != 8'h0),
    .fill_queue_i  (rsp_queue),
    .fill_slot_i   (rsp_slot),
    .fill_rsp_i    (rd_rsp_i),
    .ready_i       (rsp_done && rsp_good),
    .ready_count_i (rd_rsp_i.done_len[6:4]),
    .clear_i       (start_i),
    .clear_queue_i (start_queue_i),
    .look_queue_i, .look_slot_i, .look_o, .take_i, .desc_o
  );

  assign rd_req_o       = req_q;
  assign rd_req_valid_o = req_valid_q;
  assign drain_reads_o  = reads_q[drain_queue_i] != '0;
  assign wake_o         = |want_q || look_q || req_valid_q;
  assign busy_o         = |want_q || look_q || all_reads_q != '0;

  always_ff @(posedge clk) begin
    look_q <= begin_look;
    if (begin_look) queue_q <= pick;

    if (look_q && !asked) want_q[queue_q] <= 1'b0;
    if (asked) begin
      req_q.addr   <= base_i + {44'h0, index, 4'h0};
      req_q.len    <= {7'h0, count, 4'h0};
      req_q.cookie <= {8'(next[Sw-1:0]), 8'(queue_q)};
      next_q[queue_q] <= next + 16'(count);
    end
    if (asked)               req_valid_q <= 1'b1;
    else if (rd_req_ready_i) req_valid_q <= 1'b0;

    if (asked && !(rsp_done && rsp_queue == queue_q)) begin
      reads_q[queue_q] <= reads_q[queue_q] + 1'b1;
    end
    if (rsp_done && !(asked && rsp_queue == queue_q)) begin
      reads_q[rsp_queue] <= reads_q[rsp_queue] - 1'b1;
    end
    all_reads_q <= all_reads_q + (Qw+Sw+1)'(asked) - (Qw+Sw+1)'(rsp_done);

    if (posted_i) want_q[posted_queue_i] <= 1'b1;
    if (take_i)   want_q[look_queue_i]   <= 1'b1;
    if (start_i) begin
      next_q[start_queue_i]  <= '0;
      reads_q[start_queue_i] <= '0;
      want_q[start_queue_i]  <= 1'b0;
    end

    if (rst) begin
      look_q      <= 1'b0;
      req_valid_q <= 1'b0;
      queue_q     <= '0;
      want_q      <= '0;
      all_reads_q <= '0;
    end
  end

  `NIC_HELD(a_req, rd_req_valid_o, rd_req_ready_i, rd_req_o)
  logic unused_bits;
  assign unused_bits = ^rd_rsp_i;
endmodule
