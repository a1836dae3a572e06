/// Decodes work entries, one block a cycle, and makes the checks of contract T3 that need no memory
/// key. A refused entry leaves with its status, length 0 and no pieces.

`include "nic_assert.svh"

module nic_wqe_dec
  import nic_pkg::*, nic_tx_pkg::*;
#(
  // Number of Ethernet ports, 1 or 2.
  parameter int Ports = 1,
  // Optional parts in this build, as the bits of register CAP1.
  parameter int unsigned Parts = PartsDefault
) (
  input  logic         clk,
  input  logic         rst,
  // Blocks of entries.
  input  logic         valid_i,
  output logic         ready_o,
  input  tx_id_t       id_i,
  input  logic [511:0] wqe_i,
  // High if another block of the same entry follows.
  input  logic         more_i,
  // ECN mode of the entry's queue.
  input  logic [1:0]   ecn_i,
  // Decoded entries.
  output logic         valid_o,
  input  logic         ready_i,
  output tx_dec_t      dec_o
);
  localparam bit HasCrc    = (Parts & PartCrc32c) != 0;
  localparam bit HasFence  = (Parts & PartFence) != 0;

  localparam bit HasAppend = (Parts & PartAppend) != 0;
  localparam bit HasLong   = (Parts & PartLong) != 0;

  // The slots of an entry with the largest number of blocks.
  typedef logic [128 * (WqeSlots + (WqeBlocksMax - 1) * WqeMoreSlots)-1:0] slots_t;

  logic              valid_q;
  tx_dec_t           dec_q;
  // Blocks of an entry before its last: their number, the first one, the others.
  logic [1:0]        count_q;
  tx_id_t            id_q;
  logic [511:0]      wqe_q;
  logic [1:0][511:0] more_q;

  assign ready_o = !valid_q || ready_i;
  assign valid_o = valid_q;
  assign dec_o   = dec_q;

  // Returns an offset with 14 bits; those beyond every frame all become 16,383.
  function automatic logic [13:0] upto14(input logic [15:0] n);
    upto14 = !HasCrc ? 14'd0 : n[15:14] != 2'd0 ? 14'h3fff : n[13:0];
  endfunction

  // Returns the copy work of an entry. Its pieces have one length, else the entry's status is
  // BadLength.
  function automatic tx_copy_t copy_of(input wqe_t w);
    logic unused_w;
    unused_w      = ^w;
    copy_of.move  = w.opcode == OpcodeCopy || w.opcode == OpcodeCopyInvalidate;
    copy_of.inval = w.opcode == OpcodeInvalidate || w.opcode == OpcodeCopyInvalidate;
    copy_of.any   = copy_of.move || copy_of.inval;
    copy_of.len   = w.slots[56:32];
  endfunction

  // Returns whether the entry violates the format of copies and invalidations (contract D1).
  function automatic logic copy_bad(input wqe_t w);
    seg_t [2:0] s;
    logic       one, unused_w;
    s        = w.slots;
    one      = w.opcode == OpcodeInvalidate;
    unused_w = ^{w, s};
    copy_bad = w.nseg != (one ? 8'd1 : 8'd2) || w.inline_len != 8'd0 || w.port != 8'd0 ||
               w.f_rsvd != 5'd0 || w.blocks != 2'd0 || w.f_append ||
               (w.f_fence && (one || !HasFence)) || w.f_pad || w.f_crc32c || w.f_icrc ||
               w.f_udp_zero || w.f_udp_csum || w.f_ip_csum || s[0].key[23:16] != 8'd0 ||
               (!one && s[1].key[23:16] != 8'd0);
  endfunction

  always_ff @(posedge clk) begin
    wqe_t              w;
    seg_t [SegMax-1:0] s;
    slots_t            slots;
    logic [7:0]        skip, limit;   // slots with inline bytes; all slots of the entry
    tx_id_t            id;
    tx_dec_t           d;
    status_e           st;
    logic [35:0]       sum, least, most;
    logic              bad_fmt, bad_len, unused_w;
    if (valid_i && ready_o && HasLong && more_i) begin
      if (count_q == 2'd0) {id_q, wqe_q} <= {id_i, wqe_i};
      else                 more_q[count_q[1]] <= wqe_i;
      count_q <= count_q + 2'd1;
    end
    if (valid_i && ready_o && !(HasLong && more_i)) begin
      // Pieces begin in the first slot after the inline bytes.
      w      = wqe_t'(count_q == 2'd0 ? wqe_i : wqe_q);
      id     = count_q == 2'd0 ? id_i : id_q;
      skip = (w.inline_len + 8'd15) >> 4;
      slots  = slots_t'(w.slots);
      if (HasLong && count_q != 2'd0) begin
        slots[895:384] = count_q == 2'd1 ? wqe_i : more_q[0];
        if (count_q[1])      slots[1407:896]  = count_q == 2'd2 ? wqe_i : more_q[1];
        if (count_q == 2'd3) slots[1919:1408] = wqe_i;
        s = (128 * SegMax)'(slots >> {skip[3:0], 7'd0});
      end else begin
        s = (128 * SegMax)'(w.slots);
        if (skip != 8'd0) s = (128 * SegMax)'(w.slots[383:128]);
        if (skip > 8'd1)  s = (128 * SegMax)'(w.slots[383:256]);
      end
      count_q  <= 2'd0;
      limit    = 8'(WqeSlots) + {4'd0, count_q, 2'd0};
      unused_w = ^{w, id};

      bad_fmt = w.f_rsvd != 5'd0 || w.f_fence || (w.f_udp_csum && w.f_udp_zero) ||
                (w.f_append && (!HasAppend || !w.f_icrc)) || (!HasLong && w.blocks != 2'd0) ||
                w.inline_len > 8'(HasLong ? InlineMaxLong : InlineMax) ||
                w.nseg > 8'(HasLong ? SegMax : WqeSlots) || skip + w.nseg > limit ||
                w.port >= 8'(Ports);
      sum     = 36'(w.inline_len);
      for (int i = 0; i < (HasLong ? SegMax : WqeSlots); i++) begin
        if (w.nseg > 8'(i)) begin
          sum     = sum + 36'(s[i].len);
          bad_fmt = bad_fmt || s[i].len == 32'd0 || s[i].key[23:16] != 8'd0;
        end
      end
      most    = w.f_append ? 36'(FrameMax) - 36'(AppendMax) : 36'(FrameMax);
      least   = w.f_append ? 36'(FrameMin) - 36'd4 : 36'(FrameMin);
      bad_len = sum == 36'd0 || sum > most || (sum < least && !w.f_pad);
      st = StatusOk;
      if (bad_len) st = StatusBadLength;
      if (bad_fmt) st = StatusBadFormat;
      if (w.opcode != OpcodeSend) st = w.opcode == OpcodeNop ? StatusOk : StatusBadOpcode;

      d = '0;
      d.key_read = '1;
      if ((Parts & PartCopy) != 0) d.e.copy = copy_of(w);
      if (d.e.copy.any) begin
        bad_fmt     = copy_bad(w);
        bad_len     = w.slots[63:32] == 32'd0 || w.slots[63:32] > CopyMax ||
                      (d.e.copy.move && w.slots[63:32] != w.slots[191:160]);
        st          = bad_fmt ? StatusBadFormat : bad_len ? StatusBadLength : StatusOk;
        d.key_read  = SegMax'(d.e.copy.move);
        d.key_write = SegMax'({d.e.copy.move, d.e.copy.inval});
      end
      d.e.f.id = id;
      d.e.inl  = slots[InlW-1:0];
      for (int i = 0; i < SegMax; i++) begin
        d.e.seg_len[i]   = s[i].len[13:0];
        d.e.seg_addr[i]  = s[i].addr;
        d.key_index[i]   = s[i].key[15:0];
        d.key_variant[i] = s[i].key[31:24];
      end
      if (!id.is_event) begin
        d.e.f.id.wqe_id   = w.wqe_id;
        d.e.f.id.complete = w.f_complete;
        d.e.f.id.status   = st;
        d.e.f.id.more     = count_q;
        if (w.opcode == OpcodeSend && st == StatusOk) begin
          d.late_bad    = w.f_crc32c && !HasCrc;
          d.e.nseg      = w.nseg[3:0];
          d.e.f.len     = sum[13:0];
          d.e.f.app     = w.f_append ? 3'd4 : 3'd0;
          d.e.f.inl_len = w.inline_len;
          d.e.f.id.port = Ports > 1 && w.port[0];
          d.e.f.ofl     = '{ip_csum: w.f_ip_csum, udp_csum: w.f_udp_csum, udp_zero: w.f_udp_zero,
                            icrc: w.f_icrc, crc: w.f_crc32c && HasCrc, ecn: ecn_i, l3: w.l3_off,
                            l4: w.l4_off, crc_off: upto14(w.crc_off),
                            crc_start: upto14(w.crc_start)};
        end
      end
      if (id.is_event) d.e.copy = '0;
      if (d.e.copy.any && st == StatusOk) d.e.nseg = w.nseg[3:0];
      dec_q <= d;
    end
    if (ready_o) valid_q <= valid_i && !(HasLong && more_i);
    if (rst) begin
      valid_q <= 1'b0;
      count_q <= 2'd0;
    end
  end

  `NIC_HELD(a_out_held, valid_o, ready_i, dec_o)
endmodule
