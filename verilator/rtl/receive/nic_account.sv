/// Credit accounts (contract section 10). For a frame whose rule draws on an account: chooses fast
/// or slow queue, assigns account_seq, and draws on the balance once the frame is delivered. The
/// next such frame waits until this one has ended, so each sees the balance that earlier ones left.
/// Also holds table Account and registers ACCOUNT_CREDIT.

`include "nic_assert.svh"

module nic_account
  import nic_int_pkg::*;
  import nic_pkg::*;
  import nic_rx_pkg::*;
(
  input  logic             clk,
  input  logic             rst,
  // Table Account.
  input  tbl_req_t         tbl_i,
  output tbl_rsp_t         tbl_o,
  // Register accesses: writes of the 8 bytes at address 8 * `unit`, and reads answered in the same
  // cycle; rdata_o is 0 for registers of other blocks.
  input  reg_bus_t         reg_i,
  output logic [63:0]      rdata_o,
  // Frames from the receive buffers.
  input  logic             in_valid_i,
  output logic             in_ready_o,
  input  rx_frame_t        in_i,
  // The same frames, forwarded with the chosen queue and account_seq.
  output logic             out_valid_o,
  input  logic             out_ready_i,
  output rx_frame_t        out_o,
  // Pulse: the latest forwarded frame that uses an account was delivered or dropped.
  input  logic             settled_i,
  // With settled_i: high if the frame was delivered, low if it was dropped.
  input  logic             passed_i,
  output logic             busy_o
);
  localparam int Aw = $clog2(NumAccounts);

  logic [23:0]            balance_q [NumAccounts];
  logic [31:0]            drawn_q [NumAccounts];
  logic [31:0]            seq_q [NumAccounts];
  logic [NumAccounts-1:0] latch_q, slow_q;
  logic [NumAccounts-1:0] some_q;          // balance_q is not 0

  // The frame whose queue is being chosen.
  logic          valid_q, give, counts, fast;
  rx_frame_t     frame_q;
  logic [Aw-1:0] account;
  // The frame with an account that was forwarded and has not ended (open_q). open_mine_q: no table
  // write has replaced its account since.
  logic          open_q, open_fast_q, open_mine_q, draw;
  logic [Aw-1:0] open_account_q;

  assign account     = frame_q.info.draw.account;
  assign counts      = frame_q.info.draw.account_en;
  assign fast        = some_q[account] && !slow_q[account];
  assign out_valid_o = valid_q && !(counts && open_q);
  assign give        = out_valid_o && out_ready_i;
  assign in_ready_o  = !valid_q || give;
  assign busy_o      = valid_q;
  assign draw        = settled_i && passed_i && open_mine_q;

  always_comb begin
    out_o = frame_q;
    if (valid_q && counts) begin
      out_o.slow        = !fast;
      out_o.account_seq = seq_q[account];
      if (!fast) out_o.info.queue_f = 16'(frame_q.info.draw.slow_queue);
    end
  end

  // Table Account.
  account_entry_t entry, shown;
  tbl_rsp_t       rsp_q;
  logic           mine, bad, set;
  logic [Aw-1:0]  index;

  assign entry = account_entry_t'(tbl_i.wdata[127:0]);
  assign index = tbl_i.index[Aw-1:0];
  assign mine  = tbl_i.valid && tbl_i.id == TableAccount && !rsp_q.done;
  assign bad   = tbl_i.write && (entry.latch > 8'd1 || entry.balance > 32'(CreditMax));
  assign set   = mine && tbl_i.write && !bad;
  assign tbl_o = rsp_q;

  always_comb begin
    shown = '0;
    if (mine) begin
      shown.balance = 32'(balance_q[index]);
      shown.latch   = 8'(latch_q[index]);
      shown.slow    = 8'(slow_q[index]);
      shown.drawn   = drawn_q[index];
      shown.seq     = seq_q[index];
    end
  end

  // ACCOUNT_CREDIT: writes add or take credits; the balance saturates at 0 and CreditMax.
  logic       ours;
  logic [1:0] credit;

  assign ours   = reg_i.unit[RegAw-1:Aw+2] == RegAccountCreditBase[RegAw-1:Aw+2];
  assign credit = ours ? reg_i.we : 2'b00;

  function automatic logic [Aw-1:0] account_of(input logic half);
    account_of = {reg_i.unit[Aw+1:3], half};
  endfunction

  function automatic logic [31:0] value(input logic half);
    value = {slow_q[account_of(half)], 7'h0, balance_q[account_of(half)]};
  endfunction

  assign rdata_o = reg_i.rd && ours ? {value(1'b1), value(1'b0)} : 64'h0;

  function automatic logic [23:0] less(input logic [23:0] b, input logic [23:0] n);
    less = b > n ? b - n : 24'h0;
  endfunction

  function automatic logic [23:0] more(input logic [23:0] b, input logic [23:0] n);
    logic [24:0] sum;
    sum  = {1'b0, b} + {1'b0, n};
    more = sum[24] ? 24'(CreditMax) : sum[23:0];
  endfunction

  // State of the accounts. Its clock runs for frames that draw, register writes and table commands.
  logic clk_g;

  nic_clkgate u_gate (
    .clk, .test_en_i(1'b0), .clk_o(clk_g),
    .enable_i(rst || settled_i || (give && counts) || credit != 2'b00 || tbl_i.valid ||
              rsp_q.done)
  );

  // Order of several changes to one account in the same cycle: draw, then credits, then table
  // write.
  always_ff @(posedge clk_g) begin
    if (draw) begin
      seq_q[open_account_q] <= seq_q[open_account_q] + 32'h1;
      if (open_fast_q) begin
        drawn_q[open_account_q]   <= drawn_q[open_account_q] + 32'h1;
        balance_q[open_account_q] <= less(balance_q[open_account_q], 24'h1);
        some_q[open_account_q]    <= balance_q[open_account_q] > 24'h1;
      end
    end
    if (give && counts && !fast && latch_q[account]) slow_q[account] <= 1'b1;

    for (int h = 0; h < 2; h++) begin
      if (credit[h]) begin
        logic [23:0]   b;
        logic [Aw-1:0] a;
        a = account_of(1'(h));
        b = balance_q[a];
        if (draw && open_fast_q && open_account_q == a) b = less(b, 24'h1);
        b = reg_i.wdata[32*h + 30] ? less(b, reg_i.wdata[32*h +: 24]) :
                                     more(b, reg_i.wdata[32*h +: 24]);
        balance_q[a] <= b;
        some_q[a]    <= b != 24'h0;
        if (reg_i.wdata[32*h + 31]) slow_q[a] <= 1'b0;
      end
    end

    if (set) begin
      balance_q[index] <= entry.balance[23:0];
      some_q[index]    <= entry.balance != 32'h0;
      latch_q[index]   <= entry.latch[0];
      slow_q[index]    <= 1'b0;
      drawn_q[index]   <= '0;
      seq_q[index]     <= '0;
    end

    rsp_q.done <= mine;
    if (mine) begin
      rsp_q.status <= bad ? TableStatusBadValue : TableStatusOk;
      rsp_q.rdata  <= 1024'(shown);
    end

    if (rst) begin
      for (int a = 0; a < NumAccounts; a++) begin
        balance_q[a] <= '0;
        drawn_q[a]   <= '0;
        seq_q[a]     <= '0;
      end
      latch_q    <= '0;
      slow_q     <= '0;
      some_q     <= '0;
      rsp_q.done <= 1'b0;
    end
  end

  // Remember the forwarded frame. If a table write replaces its account, the frame no longer draws.
  always_ff @(posedge clk_g) begin
    if (settled_i) open_q <= 1'b0;
    if (set && index == open_account_q) open_mine_q <= 1'b0;
    if (give && counts) begin
      open_q         <= 1'b1;
      open_account_q <= account;
      open_fast_q    <= fast;
      open_mine_q    <= !(set && index == account);
    end
    if (rst) open_q <= 1'b0;
  end

  always_ff @(posedge clk) begin
    valid_q <= in_valid_i || !in_ready_o;
    if (in_valid_i && in_ready_o) frame_q <= in_i;
    if (rst) valid_q <= 1'b0;
  end

  `NIC_ASSERT(a_one, settled_i |-> open_q)
  logic unused_bits;
  assign unused_bits = ^{tbl_i.wdata[1023:128], tbl_i.index[15:Aw], entry.seq, entry.drawn,
                         entry.rsvd0, entry.slow, reg_i.wdata[61:56], reg_i.wdata[29:24]};
endmodule
