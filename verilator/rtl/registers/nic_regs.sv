/// Register file (contract section 3): takes requests in order, one a cycle; rings doorbells,
/// executes table commands, counts, and answers reads two cycles later. The queue of answers has a
/// slot for each tag of two requesters, so that a TLP output that is held back does not block
/// completions at the input.

`include "nic_assert.svh"

module nic_regs
  import nic_pkg::*, nic_int_pkg::*;
#(
  // Number of Ethernet ports.
  parameter int Ports = 1,
  // Number of receive queues.
  parameter int NumRxq = 64,
  // Number of transmit queues.
  parameter int NumTxq = 64,
  // Number of memory keys.
  parameter int NumKeys = 256,
  // Number of steering rules.
  parameter int NumRules = 64,
  // Optional parts in this build, as the bits of register CAP1.
  parameter int unsigned Parts = PartsDefault
) (
  input  logic           clk,
  input  logic           rst,
  // Requests from the TLP port, in order.
  input  reg_req_t       req_i,
  input  logic           req_valid_i,
  output logic           req_ready_o,
  // Work entry of a request that writes TX_PUSH; valid with req_i.
  input  logic [511:0]   push_wqe_i,
  // Work entry pushed with the doorbell on tx_db_o.
  output push_t          tx_push_o,
  // Answers to reads and to refused requests.
  output answer_t        ans_o,
  output logic [63:0]    ans_data_o,
  output logic           ans_valid_o,
  input  logic           ans_ready_i,
  output cfg_t           cfg_o,
  output rss_key_t       rss_key_o,
  // Accesses to registers in other blocks, and the data read.
  output reg_bus_t       reg_o,
  input  logic [63:0]    reg_rdata_i,
  // Table bus: command, and the answers of the receive and the transmit path.
  output tbl_req_t       tbl_o,
  input  tbl_rsp_t       rx_tbl_i,
  input  tbl_rsp_t       tx_tbl_i,
  // Doorbell of a receive queue.
  output doorbell_t      rx_db_o,
  // Doorbell of a transmit queue.
  output doorbell_t      tx_db_o,
  // Reads counter cnt_index_o; cnt_data_i holds it in the next cycle.
  output logic           cnt_rd_o,
  output logic [7:0]     cnt_index_o,
  input  logic [63:0]    cnt_data_i,
  // Rule whose hit count is on hits_i in the next cycle.
  output logic [7:0]     hits_index_o,
  input  logic [63:0]    hits_i,
  // Fields of STATUS: receive path busy, transmit path busy, reads outstanding.
  input  logic           rx_busy_i,
  input  logic           tx_busy_i,
  input  logic           reads_i,
  // High while the blocks have work that a function-level reset must wait for.
  input  logic           work_i,
  // Pulses of the counter REG_BAD; each bit counts one.
  output logic [1:0]     reg_bad_o,
  // High while a request, an answer, a table command or a reset is in the block.
  output logic           busy_o
);
  localparam int AnsDepth = 512;

  typedef enum logic [1:0] {FromRegs, FromCounter, FromHits} from_e;

  logic               flr_start, flr, clear, writes, push;
  logic [1:0]         tbl_bad;
  logic               exec, asks, second_q, is_db, rx_db, tx_db, store_ok;
  logic [1:0]         we;
  logic [RegAw-1:3]   unit;
  logic [63:0]        wdata, tbl_rdata, cfg_rdata;
  logic               tbl_busy, changed, clk_g;
  logic               ans_valid_q, ans_push_ready;
  answer_t            ans_q;
  from_e              from_q;
  logic [63:0]        regs_q, ans_data;
  logic [9:0]         held_q;
  doorbell_t          rx_db_q, tx_db_q;
  push_t              push_q;

  assign rx_db_o   = rx_db_q;
  assign tx_db_o   = tx_db_q;
  assign tx_push_o = push_q;

  // First stage: execute the request at the queue's head. A write of two doorbells takes two
  // cycles.
  assign unit        = req_i.addr[RegAw-1:3];
  assign rx_db       = unit[RegAw-1:10] == RegRxDoorbellBase[RegAw-1:10];
  assign tx_db       = unit[RegAw-1:10] == RegTxDoorbellBase[RegAw-1:10];
  assign writes      = req_i.write && !flr;
  assign push        = req_i.push && !flr;
  assign is_db       = writes && (rx_db || tx_db);
  assign store_ok    = held_q < 10'(AnsDepth);
  assign asks        = !req_i.write && !req_i.push;
  assign exec        = req_valid_i && (!asks || store_ok);
  assign req_ready_o = exec && !(is_db && req_i.ans.two && !second_q);
  assign wdata       = req_i.addr[2] ? {req_i.data[31:0], 32'd0} : req_i.data;
  assign we          = !(exec && writes) ? 2'b00 : req_i.ans.two ? 2'b11 :
                       req_i.addr[2] ? 2'b10 : 2'b01;
  // During a function-level reset, writes have no effect and count REG_BAD.
  assign reg_bad_o   = flr ? {1'b0, exec && !asks} : tbl_bad;
  assign cnt_rd_o    = exec && req_i.read;
  assign cnt_index_o = unit[10:3];
  assign hits_index_o = unit[10:3];
  assign reg_o        = '{we: we, rd: cnt_rd_o, unit: unit, wdata: wdata};

  // The clock runs while a request arrives, is executed or is not yet answered.
  nic_clkgate u_gate (
    .clk, .test_en_i(1'b0), .clk_o(clk_g),
    .enable_i(rst || busy_o || changed)
  );

  nic_cfg #(
    .Ports(Ports), .NumRxq(NumRxq), .NumTxq(NumTxq), .NumKeys(NumKeys), .NumRules(NumRules),
    .Parts(Parts)
  ) u_cfg (
    .clk(clk_g), .rst, .start_o(flr_start), .flr_i(flr), .clear_i(clear), .we_i(we),
    .unit_i(unit), .wdata_i(wdata), .rd_i(cnt_rd_o), .rdata_o(cfg_rdata),
    .cfg_o, .changed_o(changed), .rss_key_o, .rx_busy_i, .tx_busy_i, .reads_i
  );

  nic_tables #(
    .Ports(Ports), .NumRxq(NumRxq), .NumTxq(NumTxq), .NumKeys(NumKeys), .NumRules(NumRules),
    .Parts(Parts)
  ) u_tables (
    .clk(clk_g), .rst(rst || clear), .we_i(we), .unit_i(unit), .wdata_i(wdata), .rd_i(cnt_rd_o),
    .rdata_o(tbl_rdata),
    .reg_bad_o(tbl_bad), .busy_o(tbl_busy), .tbl_o, .rx_tbl_i, .tx_tbl_i
  );

  if ((Parts & PartFlr) != 0) begin : g_flr
    nic_flr u_flr (
      .clk(clk_g), .rst, .start_i(flr_start), .work_i(work_i || tbl_busy), .flr_o(flr),
      .clear_o(clear)
    );
  end else begin : g_no_flr
    logic unused_flr;
    assign unused_flr = ^{flr_start, work_i};
    assign flr        = 1'b0;
    assign clear      = 1'b0;
  end

  always_ff @(posedge clk_g) begin
    rx_db_q.valid <= exec && is_db && rx_db;
    tx_db_q.valid <= exec && ((is_db && tx_db) || push);
    push_q.valid  <= exec && push;
    if (exec && is_db) begin
      rx_db_q.queue_f <= {8'd0, unit[9:3], second_q || req_i.addr[2]};
      rx_db_q.pi    <= second_q ? req_i.data[47:32] : req_i.data[15:0];
      tx_db_q.queue_f <= {8'd0, unit[9:3], second_q || req_i.addr[2]};
      tx_db_q.pi    <= second_q ? req_i.data[47:32] : req_i.data[15:0];
      second_q      <= req_i.ans.two && !second_q;
    end
    if ((Parts & PartPush) != 0 && exec && push) begin
      tx_db_q.queue_f <= {8'd0, unit[13:6]};
      push_q.wqe      <= push_wqe_i;
    end
    if (rst) begin
      rx_db_q.valid <= 1'b0;
      tx_db_q.valid <= 1'b0;
      push_q.valid  <= 1'b0;
      second_q      <= 1'b0;
    end
  end

  // Second stage: assemble the answer. Counters and rule hits have 256 slots of 8 bytes each.
  always_ff @(posedge clk_g) begin
    ans_valid_q <= exec && asks;
    if (exec && asks) begin
      ans_q  <= req_i.ans;
      regs_q <= cfg_rdata | tbl_rdata | reg_rdata_i;
      from_q <= FromRegs;
      if (unit[RegAw-1:11] == RegCounterBase[RegAw-1:11]) from_q <= FromCounter;
      if (unit[RegAw-1:11] == RegRuleHitsBase[RegAw-1:11]) begin
        from_q <= {1'b0, unit[10:3]} < 9'(NumRules) ? FromHits : FromRegs;
      end
    end
    if (rst) ans_valid_q <= 1'b0;
  end

  always_comb begin
    unique case (from_q)
      FromCounter: ans_data = cnt_data_i;
      FromHits:    ans_data = hits_i;
      default:     ans_data = regs_q;
    endcase
    if (!ans_q.two) ans_data = {32'd0, ans_q.lower[2] ? ans_data[63:32] : ans_data[31:0]};
  end

  nic_ram_fifo #(.Width($bits(answer_t) + 64), .Depth(AnsDepth)) u_answers (
    .clk(clk_g), .rst,
    .in_valid_i(ans_valid_q), .in_ready_o(ans_push_ready), .in_data_i({ans_q, ans_data}),
    .out_valid_o(ans_valid_o), .out_ready_i(ans_ready_i), .out_data_o({ans_o, ans_data_o})
  );

  // Count the answers not yet sent.
  always_ff @(posedge clk_g) begin
    held_q <= held_q + 10'(exec && asks) - 10'(ans_valid_o && ans_ready_i);
    if (rst) held_q <= '0;
  end

  assign busy_o = req_valid_i || tbl_busy || flr || held_q != '0 || rx_db_q.valid || tx_db_q.valid;

  `NIC_ASSERT(a_room, ans_valid_q |-> ans_push_ready)
endmodule
