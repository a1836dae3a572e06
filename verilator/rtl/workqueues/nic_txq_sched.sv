/// Round robin over the transmit queues with work. Each turn fetches up to four blocks with one
/// read that ends at a 256-byte boundary (128 if MRRS is 128) and at the end of the ring at the
/// latest, so that the reader never has to split it.

`include "nic_assert.svh"

module nic_txq_sched
  import nic_int_pkg::*;
#(
  // Number of transmit queues, a power of two.
  parameter int NumTxq = 64,
  // Bits of a fetch slot's number.
  parameter int SlotW = 6,
  localparam int Qw = $clog2(NumTxq)
) (
  input  logic              clk,
  input  logic              rst,
  // CTRL.tx_enable: fetching may begin.
  input  logic              enable_i,
  // High: a pushed entry may take the next slot, so no turn begins in this cycle.
  input  logic              wait_i,
  // High if MRRS is 128 bytes: no read is longer.
  input  logic              short_i,
  // One bit a queue: it has blocks to fetch.
  input  logic [NumTxq-1:0] work_i,
  // Queue whose turn it is; the inputs below are its context, in the same cycle.
  output logic [Qw-1:0]     q_o,
  input  logic              run_i,
  input  logic [63:0]       base_i,
  input  logic [3:0]        log_i,
  input  logic [15:0]       index_i,
  input  logic [15:0]       avail_i,
  // Largest number of blocks of queue q_o that may be fetched now.
  input  logic [2:0]        max_i,
  // Pulse: num_o blocks of queue q_o are being requested.
  output logic              take_o,
  output logic [2:0]        num_o,
  // High if fetch slot slot_i is free.
  input  logic              slot_free_i,
  input  logic [SlotW-1:0]  slot_i,
  // Pulse: fetch slot slot_i is taken.
  output logic              alloc_o,
  // Read client.
  output rd_req_t           rd_req_o,
  output logic              rd_req_valid_o,
  input  logic              rd_req_ready_i,
  // High while a turn of queue q_o is in progress.
  output logic              busy_o,
  // Opens the clock gate: high while a turn runs or begins, or a read waits to be accepted.
  output logic              wake_o
);
  logic              turn_q;
  logic [Qw-1:0]     sel_q;
  rd_req_t           req_q;
  logic              req_valid_q;
  logic [15:0]       pos, room;
  logic [63:0]       addr;
  logic [2:0]        to_line, num;
  logic              go, begins;

  assign q_o            = sel_q;
  assign busy_o         = turn_q;
  assign begins         = !turn_q && enable_i && slot_free_i && work_i != '0;
  assign wake_o         = turn_q || req_valid_q || begins;
  assign num_o          = num;
  assign take_o         = go;
  assign alloc_o        = go && num != 3'd0;
  assign rd_req_o       = req_q;
  assign rd_req_valid_o = req_valid_q;

  // Number of blocks that this turn fetches.
  always_comb begin
    pos     = '0;
    room    = '0;
    addr    = '0;
    to_line = '0;
    num     = '0;
    go      = turn_q && !wait_i && slot_free_i && (!req_valid_q || rd_req_ready_i);
    if (turn_q) begin
      pos     = index_i & ~(16'hffff << log_i);
      room    = (16'd1 << log_i) - pos;
      addr    = base_i + {42'd0, pos, 6'd0};
      to_line = short_i ? 3'd2 - 3'(addr[6]) : 3'd4 - 3'(addr[7:6]);
      num     = to_line;
      if (room < 16'(num)) num = room[2:0];
      if (avail_i < 16'(num)) num = avail_i[2:0];
      if (max_i < num) num = max_i;
      if (!run_i) num = 3'd0;
    end
  end

  always_ff @(posedge clk) begin
    logic [NumTxq-1:0] after, pick;
    if (begins) begin
      after = work_i & ({NumTxq{1'b1}} << sel_q << 1);
      pick  = after != '0 ? after : work_i;
      pick  = pick & (~pick + NumTxq'(1));
      sel_q  <= Qw'($countones(pick - NumTxq'(1)));
      turn_q <= 1'b1;
    end
    if (go) begin
      turn_q <= 1'b0;
      req_q  <= '{addr: addr, len: {5'd0, num, 6'd0}, cookie: 16'(slot_i)};
    end
    if (go) req_valid_q <= num != 3'd0;
    else if (rd_req_ready_i) req_valid_q <= 1'b0;
    if (rst) begin
      turn_q      <= 1'b0;
      req_valid_q <= 1'b0;
      sel_q       <= '0;
    end
  end

  `NIC_HELD(a_req_held, rd_req_valid_o, rd_req_ready_i, rd_req_o)
endmodule
