/// Work entries: decodes them, then translates their pieces one by one with the key table (contract
/// T3, T4). Outputs entries with bus addresses, in order; a refused entry has its status and length
/// 0.

`include "nic_assert.svh"

module nic_wqe
  import nic_pkg::*, nic_int_pkg::*, nic_tx_pkg::*;
#(
  // Number of Ethernet ports, 1 or 2.
  parameter int Ports = 1,
  // Number of memory keys, a power of two.
  parameter int NumKeys = 256,
  // Optional parts in this build, as the bits of register CAP1.
  parameter int unsigned Parts = PartsDefault
) (
  input  logic          clk,
  input  logic          rst,
  input  tbl_req_t      tbl_i,
  output logic          tbl_done_o,
  output table_status_e tbl_status_o,
  output logic [255:0]  tbl_rdata_o,
  // Blocks of entries.
  input  logic          valid_i,
  output logic          ready_o,
  input  tx_id_t        id_i,
  input  logic [511:0]  wqe_i,
  // High if another block of the same entry follows.
  input  logic          more_i,
  // ECN mode of the entry's queue.
  input  logic [1:0]    ecn_i,
  // Checked entries.
  output logic          valid_o,
  input  logic          ready_i,
  output tx_ent_t       ent_o
);
  // Lookup results that may be in flight or waiting.
  localparam int Results = 16;

  // The part of an entry that needs no key lookup, kept until its pieces are translated.
  typedef struct packed {
    logic             late_bad;
    tx_frame_t        f;
    logic [3:0]              nseg;
    logic [SegMax-1:0][13:0] seg_len;
    logic [InlW-1:0]         inl;
    tx_copy_t                copy;
  } mid_t;

  typedef struct packed {
    status_e     status;
    logic [63:0] addr;
  } res_t;

  tx_dec_t          dec;
  logic             dec_valid, dec_ready;
  logic [3:0]       walk_q;             // piece of the decoded entry to look up
  logic [4:0]       credit_q;           // lookups that may still be started
  logic             last, look, key_ready;
  logic [24:0]      look_len;
  mid_t             mid_in, mid;
  logic             mid_ready, mid_valid, mid_take;
  res_t             res_in, res;
  logic             res_in_valid, res_valid, res_take, unused_res_ready;
  logic [3:0]       got_q;              // results taken so far for the entry being joined with them
  logic [SegMax-1:0][63:0] early_q;
  status_e          bad_q;
  logic             final_res;
  tx_ent_t          ent_q;
  logic             ent_valid_q;
  logic             clk_g;

  // The clock runs while entries arrive or are here, lookups are in flight, or a table command
  // accesses the keys.
  nic_clkgate u_gate (
    .clk, .test_en_i(1'b0), .clk_o(clk_g),
    .enable_i(rst || tbl_i.valid || valid_i || dec_valid || mid_valid ||
              credit_q != 5'(Results) || ent_valid_q)
  );

  nic_wqe_dec #(.Ports(Ports), .Parts(Parts)) u_dec (
    .clk(clk_g), .rst, .valid_i, .ready_o, .id_i, .wqe_i, .more_i, .ecn_i,
    .valid_o(dec_valid), .ready_i(dec_ready), .dec_o(dec)
  );

  // Start one lookup a cycle; the entry itself moves on with its last piece.
  assign look      = dec_valid && dec.e.nseg != 4'd0 && credit_q != 5'd0 && key_ready &&
                     (mid_ready || !last);
  assign last      = walk_q + 4'd1 == dec.e.nseg;
  assign dec_ready = mid_ready && (dec.e.nseg == 4'd0 || (last && look));
  assign mid_in    = '{late_bad: dec.late_bad, f: dec.e.f, inl: dec.e.inl, nseg: dec.e.nseg,
                       seg_len: dec.e.seg_len, copy: dec.e.copy};
  assign look_len  = dec.e.copy.any ? dec.e.copy.len : 25'(dec.e.seg_len[walk_q[2:0]]);

  nic_key #(.NumKeys(NumKeys)) u_key (
    .clk(clk_g), .rst, .tbl_i, .tbl_done_o, .tbl_status_o, .tbl_rdata_o,
    .valid_i(look), .ready_o(key_ready), .index_i(dec.key_index[walk_q[2:0]]),
    .variant_i(dec.key_variant[walk_q[2:0]]), .addr_i(dec.e.seg_addr[walk_q[2:0]]),
    .len_i(look_len), .need_read_i(dec.key_read[walk_q[2:0]]),
    .need_write_i(dec.key_write[walk_q[2:0]]), .valid_o(res_in_valid), .status_o(res_in.status),
    .addr_o(res_in.addr)
  );

  nic_fifo #(.Width($bits(mid_t)), .Depth(4)) u_mid (
    .clk(clk_g), .rst, .in_valid_i(dec_valid && dec_ready), .in_ready_o(mid_ready),
    .in_data_i(mid_in), .out_valid_o(mid_valid), .out_ready_i(mid_take), .out_data_o(mid)
  );

  nic_fifo #(.Width($bits(res_t)), .Depth(Results)) u_res (
    .clk(clk_g), .rst, .in_valid_i(res_in_valid), .in_ready_o(unused_res_ready),
    .in_data_i(res_in), .out_valid_o(res_valid), .out_ready_i(res_take), .out_data_o(res)
  );

  // Join an entry with the results of its pieces.
  assign final_res = mid.nseg == 4'd0 || got_q + 4'd1 == mid.nseg;
  assign mid_take  = mid_valid && final_res && (mid.nseg == 4'd0 || res_valid) &&
                     (!ent_valid_q || ready_i);
  assign res_take  = mid_valid && mid.nseg != 4'd0 && (!final_res || mid_take);
  assign valid_o   = ent_valid_q;
  assign ent_o     = ent_q;

  // Returns whether a range to invalidate is not whole lines of Arm memory (contract D1).
  function automatic logic range_bad(input logic [63:0] addr, input logic [24:0] len);
    range_bad = addr[63:56] != 8'd0 || addr[5:0] != 6'd0 || len[5:0] != 6'd0 ||
                57'(addr[55:0]) + 57'(len) > 57'h100_0000_0000_0000;
  endfunction

  always_ff @(posedge clk_g) begin
    status_e     st;
    logic [63:0] range;
    if (look) walk_q <= last ? 4'd0 : walk_q + 4'd1;
    if (look != (res_take && res_valid)) credit_q <= look ? credit_q - 5'd1 : credit_q + 5'd1;

    if (res_take && res_valid && !final_res) begin
      early_q[got_q[2:0]] <= res.addr;
      got_q               <= got_q + 4'd1;
      if (bad_q == StatusOk) bad_q <= res.status;
    end
    if (mid_take) begin
      st = status_e'(mid.f.id.status);
      if (mid.nseg != 4'd0) st = bad_q != StatusOk ? bad_q : res.status;
      if (st == StatusOk && mid.late_bad) st = StatusBadOffload;
      range = mid.nseg == 4'd2 ? early_q[0] : res.addr;
      if (st == StatusOk && mid.copy.inval && range_bad(range, mid.copy.len)) st = StatusBadRange;
      ent_q.f           <= mid.f;
      ent_q.f.id.status <= st;
      ent_q.inl         <= mid.inl;
      ent_q.copy        <= mid.copy;
      ent_q.nseg        <= mid.nseg;
      ent_q.seg_len     <= mid.seg_len;
      ent_q.seg_addr    <= early_q;
      ent_q.seg_addr[got_q[2:0]] <= res.addr;
      if (st != StatusOk || mid.f.id.is_event) begin
        ent_q.f.len  <= 14'd0;
        ent_q.f.app  <= 3'd0;
        ent_q.nseg   <= 4'd0;
        ent_q.copy   <= '{any: mid.copy.any, default: '0};
      end
      got_q <= 4'd0;
      bad_q <= StatusOk;
    end
    if (mid_take)     ent_valid_q <= 1'b1;
    else if (ready_i) ent_valid_q <= 1'b0;
    if (rst) begin
      walk_q      <= '0;
      credit_q    <= 5'(Results);
      got_q       <= '0;
      bad_q       <= StatusOk;
      ent_valid_q <= 1'b0;
    end
  end

  `NIC_HELD(a_out_held, valid_o, ready_i, ent_o)
endmodule
