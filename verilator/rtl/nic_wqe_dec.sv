/// Decodes one fetched work entry a cycle and makes the checks of contract T3 that need no memory
/// key. A refused entry leaves with its status, length 0 and no pieces.

module nic_wqe_dec
  import nic_pkg::*, nic_tx_pkg::*;
#(
  // Ethernet ports, 1 or 2.
  parameter int Ports = 1,
  // Parts of the build, as bits of CAP1.
  parameter int unsigned Parts = PartsDefault
) (
  input  logic         clk,
  input  logic         rst,
  input  logic         valid_i,
  output logic         ready_o,
  input  tx_id_t       id_i,
  input  logic [511:0] wqe_i,
  // ECN mode of its queue.
  input  logic [1:0]   ecn_i,
  output logic         valid_o,
  input  logic         ready_i,
  output tx_dec_t      dec_o
);
  localparam bit HasCrc   = (Parts & PartCrc32c) != 0;
  localparam bit HasFence = (Parts & PartFence) != 0;

  logic    valid_q;
  tx_dec_t dec_q;

  assign ready_o = !valid_q || ready_i;
  assign valid_o = valid_q;
  assign dec_o   = dec_q;

  // An offset; those that no frame has are all the same.
  function automatic logic [13:0] upto14(input logic [15:0] n);
    upto14 = !HasCrc ? 14'd0 : n[15:14] != 2'd0 ? 14'h3fff : n[13:0];
  endfunction

  // What the copy engine is to do; pieces are of one length, else BadLength.
  function automatic tx_copy_t copy_of(input wqe_t w);
    logic unused_w;
    unused_w      = ^w;
    copy_of.move  = w.opcode == OpcodeCopy || w.opcode == OpcodeCopyInvalidate;
    copy_of.inval = w.opcode == OpcodeInvalidate || w.opcode == OpcodeCopyInvalidate;
    copy_of.any   = copy_of.move || copy_of.inval;
    copy_of.len   = w.slots[56:32];
  endfunction

  // Format of such an entry (contract D1).
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
    wqe_t        w;
    seg_t [2:0]  s;
    tx_dec_t     d;
    status_e     st;
    logic [33:0] sum;
    logic        bad_fmt, bad_len, unused_w;
    if (valid_i && ready_o) begin
      // Pieces stand in the slots from the first one without inline bytes on.
      w = wqe_t'(wqe_i);
      s = w.slots;
      if (w.inline_len > 8'd0)  s = {128'd0, w.slots[383:128]};
      if (w.inline_len > 8'd16) s = {256'd0, w.slots[383:256]};
      unused_w = ^w;

      bad_fmt = w.f_rsvd != 5'd0 || w.blocks != 2'd0 || w.f_fence || w.f_append ||
                (w.f_udp_csum && w.f_udp_zero) ||
                w.inline_len > 8'(InlineMax) || w.nseg > 8'd3 ||
                ((w.inline_len + 8'd15) >> 4) + w.nseg > 8'd3 || w.port >= 8'(Ports);
      sum     = 34'(w.inline_len);
      for (int i = 0; i < 3; i++) begin
        if (w.nseg > 8'(i)) begin
          sum     = sum + 34'(s[i].len);
          bad_fmt = bad_fmt || s[i].len == 32'd0 || s[i].key[23:16] != 8'd0;
        end
      end
      bad_len = sum == 34'd0 || sum > 34'(FrameMax) || (sum < 34'(FrameMin) && !w.f_pad);
      st = StatusOk;
      if (bad_len) st = StatusBadLength;
      if (bad_fmt) st = StatusBadFormat;
      if (w.opcode != OpcodeSend) st = w.opcode == OpcodeNop ? StatusOk : StatusBadOpcode;

      d = '0;
      d.key_read = 3'b111;
      if ((Parts & PartCopy) != 0) d.e.copy = copy_of(w);
      if (d.e.copy.any) begin
        bad_fmt     = copy_bad(w);
        bad_len     = w.slots[63:32] == 32'd0 || w.slots[63:32] > CopyMax ||
                      (d.e.copy.move && w.slots[63:32] != w.slots[191:160]);
        st          = bad_fmt ? StatusBadFormat : bad_len ? StatusBadLength : StatusOk;
        d.key_read  = {2'b00, d.e.copy.move};
        d.key_write = {1'b0, d.e.copy.move, d.e.copy.inval};
      end
      d.e.f.id = id_i;
      d.e.inl  = w.slots;
      for (int i = 0; i < 3; i++) begin
        d.e.seg_len[i]   = s[i].len[13:0];
        d.e.seg_addr[i]  = s[i].addr;
        d.key_index[i]   = s[i].key[15:0];
        d.key_variant[i] = s[i].key[31:24];
      end
      if (!id_i.is_event) begin
        d.e.f.id.wqe_id   = w.wqe_id;
        d.e.f.id.complete = w.f_complete;
        d.e.f.id.status   = st;
        if (w.opcode == OpcodeSend && st == StatusOk) begin
          d.late_bad    = w.f_crc32c && !HasCrc;
          d.e.nseg      = w.nseg[1:0];
          d.e.f.len     = sum[13:0];
          d.e.f.inl_len = w.inline_len[5:0];
          d.e.f.id.port = Ports > 1 && w.port[0];
          d.e.f.ofl     = '{ip_csum: w.f_ip_csum, udp_csum: w.f_udp_csum, udp_zero: w.f_udp_zero,
                            icrc: w.f_icrc, crc: w.f_crc32c && HasCrc, ecn: ecn_i, l3: w.l3_off,
                            l4: w.l4_off, crc_off: upto14(w.crc_off),
                            crc_start: upto14(w.crc_start)};
        end
      end
      if (id_i.is_event) d.e.copy = '0;
      if (d.e.copy.any && st == StatusOk) d.e.nseg = w.nseg[1:0];
      dec_q <= d;
    end
    if (valid_i)      valid_q <= 1'b1;
    else if (ready_i) valid_q <= 1'b0;
    if (rst) valid_q <= 1'b0;
  end

`ifndef SYNTHESIS
  a_out_held: assert property (@(posedge clk) disable iff (rst)
    valid_o && !ready_i |=> valid_o && $stable(dec_o));
`endif
endmodule
