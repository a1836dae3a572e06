/// Steering rules: a ternary table of NumRules entries. Each port's frames are compared with all
/// rules, and the matching rule with the lowest index is taken; one frame a cycle and port, three
/// cycles deep. Also holds the rules' hit counters and table Rule.

module nic_steer
  import nic_int_pkg::*;
  import nic_pkg::*;
  import nic_rx_pkg::*;
#(
  // Number of Ethernet ports.
  parameter int Ports = 1,
  // Number of rules, 4..256.
  parameter int NumRules = 64,
  // Number of receive queues, to check a rule's queue.
  parameter int NumRxq = 64,
  // Optional parts in this build, as the bits of register CAP1.
  parameter int unsigned Parts = PartsDefault
) (
  input  logic                   clk,
  input  logic                   rst,
  // High at the end of a function-level reset: resets all but the hit counters.
  input  logic                   clear_i,
  input  tbl_req_t               tbl_i,
  output tbl_rsp_t               tbl_o,
  // Steering key of a frame.
  input  logic       [Ports-1:0] key_valid_i,
  input  steer_key_t [Ports-1:0] key_i,
  // Lowest rule that the frame matches, three cycles later.
  output rx_steer_t  [Ports-1:0] steer_o,
  // Pulse: a frame that passed the checks matched rule hit_rule_i.
  input  logic       [Ports-1:0] hit_valid_i,
  input  logic [Ports-1:0][7:0]  hit_rule_i,
  // Rule whose hit count is on hits_o in the next cycle.
  input  logic [7:0]             hits_index_i,
  output logic [63:0]            hits_o
);
  localparam int Rw     = $clog2(NumRules);
  localparam bit HasRss = (Parts & PartRss) != 0;
  localparam bit HasAccounts = (Parts & PartAccounts) != 0;

  // The fields of an entry after value and mask.
  typedef struct packed {
    logic [7:0]  rss_log;
    logic [15:0] slow_queue;
    logic [7:0]  account;
    logic [7:0]  account_en;
    logic [15:0] queue_f;
    logic [7:0]  action;
    logic [7:0]  valid;
  } rest_t;

  if (NumRules < 4 || NumRules > RulesMax) begin : g_bad_rules
    $fatal(1, "nic_steer: NumRules must be 4..256");
  end

  // Table entries, without their reserved bytes.
  logic [447:0] value_q [NumRules];
  logic [447:0] mask_q [NumRules];
  rest_t        rest_q [NumRules];
  // One bit a rule: written since reset; valid.
  logic [NumRules-1:0] known_q, live_q;

  logic          mine, write;
  logic [Rw-1:0] index;
  rule_entry_t   entry;
  table_status_e status;
  tbl_rsp_t      rsp_q;

  assign entry = rule_entry_t'(tbl_i.wdata);
  assign mine  = tbl_i.valid && tbl_i.id == TableRule && !rsp_q.done;
  assign index = tbl_i.index[Rw-1:0];
  assign write = mine && tbl_i.write && status == TableStatusOk;
  assign tbl_o = rsp_q;

  // With action Rss, the queue field is an offset in table Indirection.
  logic bad_queue, bad_account;
  assign bad_queue = HasRss && entry.action == ActionRss ?
                     entry.queue_f >= 16'(RssEntries) || entry.rss_log > 8'(RssLogMax) :
                     entry.queue_f >= 16'(NumRxq);
  assign bad_account = entry.account_en > 8'd1 ||
                       (entry.account_en == 8'd1 &&
                        (entry.action == ActionDrop || entry.account >= 8'(NumAccounts) ||
                         entry.slow_queue >= 16'(NumRxq)));

  always_comb begin
    status = TableStatusOk;
    if (mine && tbl_i.write) begin
      if (entry.valid > 8'd1 || 8'(entry.action) > 8'(ActionRss) || bad_queue ||
          (HasAccounts && bad_account)) begin
        status = TableStatusBadValue;
      end else if ((entry.action == ActionRss && !HasRss) ||
                   (entry.account_en != 8'h0 && !HasAccounts)) begin
        status = TableStatusNotBuilt;
      end
    end
  end

  // A rule's action is written two cycles after its value and mask, because frames read it two
  // cycles after the comparison: each frame sees either the old entry or the new one.
  logic [1:0]    rest_write_q;
  logic [Rw-1:0] rest_index_q [2];
  rest_t         rest_new_q [2];
  rest_t         rest_new;

  always_comb begin
    rest_new = rest_t'(tbl_i.wdata[896 +: $bits(rest_t)]);
    // Fields of parts that are not built read 0.
    if (!HasAccounts) begin
      rest_new.slow_queue = '0;
      rest_new.account    = '0;
      rest_new.account_en = '0;
    end
    if (!HasRss) rest_new.rss_log = '0;
  end

  always_ff @(posedge clk) begin
    rest_write_q <= {rest_write_q[0], write};
    if (write) begin
      value_q[index]  <= entry.value;
      mask_q[index]   <= entry.mask;
      known_q[index]  <= 1'b1;
      live_q[index]   <= entry.valid[0];
      rest_index_q[0] <= index;
      rest_new_q[0]   <= rest_new;
    end
    rest_index_q[1] <= rest_index_q[0];
    rest_new_q[1]   <= rest_new_q[0];
    if (rest_write_q[1]) rest_q[rest_index_q[1]] <= rest_new_q[1];
    rsp_q.done <= mine;
    if (mine) begin
      rsp_q.status <= status;
      rsp_q.rdata  <= known_q[index] ?
                      {56'h0, rest_q[index], mask_q[index], value_q[index]} : '0;
    end
    if (rst || clear_i) begin
      known_q    <= '0;
      live_q     <= '0;
      rsp_q.done   <= 1'b0;
      rest_write_q <= '0;
    end
  end

  function automatic logic [Rw-1:0] lowest(input logic [NumRules-1:0] m);
    lowest = '0;
    for (int r = NumRules - 1; r >= 0; r--) if (m[r]) lowest = Rw'(r);
  endfunction

  // Compare eight rules at a time; groups without a valid rule are skipped.
  localparam int Groups = (NumRules + 7) / 8;

  logic [8*Groups-1:0] live;
  assign live = (8*Groups)'(live_q);

  for (genvar p = 0; p < Ports; p++) begin : g_port
    logic                valid1_q, valid2_q;
    logic [NumRules-1:0] match_q;
    logic                hit_q;
    logic [Rw-1:0]       rule_q;
    rx_steer_t           steer_q;

    assign steer_o[p] = steer_q;

    always_ff @(posedge clk) begin
      valid1_q <= key_valid_i[p];
      valid2_q <= valid1_q;
      if (key_valid_i[p]) begin
        logic [NumRules-1:0] m;
        m = '0;
        for (int g = 0; g < Groups; g++) begin
          if (live[8*g +: 8] != 8'h0) begin
            for (int r = 8 * g; r < 8 * g + 8 && r < NumRules; r++) begin
              m[r] = live_q[r] && ((key_i[p] ^ value_q[r]) & mask_q[r]) == '0;
            end
          end
        end
        match_q <= m;
      end
      if (valid1_q) begin
        hit_q  <= |match_q;
        rule_q <= lowest(match_q);
      end
      if (valid2_q) begin
        steer_q.hit      <= hit_q;
        steer_q.rule     <= 8'(rule_q);
        steer_q.to_queue <= rest_q[rule_q].action == ActionQueue;
        steer_q.rss      <= rest_q[rule_q].action == ActionRss;
        steer_q.queue_f  <= rest_q[rule_q].queue_f;
        steer_q.rss_log  <= rest_q[rule_q].rss_log[3:0];
        steer_q.draw     <= '{account_en: rest_q[rule_q].account_en[0],
                              account: rest_q[rule_q].account[5:0],
                              slow_queue: rest_q[rule_q].slow_queue[7:0]};
      end
    end
  end

  // Hit counters: one bank for each port; a read returns their sum.
  logic [63:0] bank [Ports];
  logic [63:0] sum;

  for (genvar p = 0; p < Ports; p++) begin : g_hits
    logic [63:0]         count_q [NumRules];
    logic [NumRules-1:0] used_q;
    logic [Rw-1:0]       rule;

    assign rule    = hit_rule_i[p][Rw-1:0];
    assign bank[p] = used_q[hits_index_i[Rw-1:0]] ? count_q[hits_index_i[Rw-1:0]] : 64'h0;

    always_ff @(posedge clk) begin
      if (hit_valid_i[p]) begin
        count_q[rule] <= used_q[rule] ? count_q[rule] + 64'h1 : 64'h1;
        used_q[rule]  <= 1'b1;
      end
      if (rst) used_q <= '0;
    end
  end

  always_comb begin
    sum = '0;
    for (int p = 0; p < Ports; p++) sum += bank[p];
  end

  always_ff @(posedge clk) hits_o <= 16'(hits_index_i) < 16'(NumRules) ? sum : 64'h0;

  logic unused_bits;
  assign unused_bits = ^{entry, tbl_i.index[15:Rw]};
endmodule
