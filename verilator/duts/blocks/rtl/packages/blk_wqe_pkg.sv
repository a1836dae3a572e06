/// Requests and results of blk_wqe. Fields that do not apply are zero.

package blk_wqe_pkg;
  import nic_pkg::*;
  import nic_tx_pkg::*;

  // Request: a work entry with its blocks, the first in the low bits.
  typedef struct packed {
    logic [WqeBlocksMax-1:0][511:0] wqe;
    logic [7:0]   pace;      // mask: a block comes only in cycles with timer & pace = 0
    logic [7:0]   status;    // status of an Event
    logic [15:0]  index;
    logic [7:0]   qid;
    logic [7:0]   ecn;
    logic [7:0]   is_event;
    logic [7:0]   op;
  } entry_op_t;

  typedef struct packed {
    logic [InlW-1:0]         inl;
    logic [SegMax-1:0][63:0] addr;
    logic [SegMax-1:0][15:0] seg_len;
    logic [31:0]      rsvd;
    logic [7:0]       blocks;
    logic [7:0]       app;
    logic [7:0]       nseg;
    logic [31:0]      copy_len;
    logic [7:0]       inval;
    logic [7:0]       move;
    logic [15:0]      crc_start;
    logic [15:0]      crc_off;
    logic [7:0]       l4;
    logic [7:0]       l3;
    logic [7:0]       ecn;
    logic [7:0]       crc;
    logic [7:0]       icrc;
    logic [7:0]       udp_zero;
    logic [7:0]       udp_csum;
    logic [7:0]       ip_csum;
    logic [7:0]       port;
    logic [7:0]       inl_len;
    logic [15:0]      len;
    logic [31:0]      wqe_id;
    logic [15:0]      index;
    logic [7:0]       qid;
    logic [7:0]       is_event;
    logic [7:0]       complete;
    logic [7:0]       status;
    logic [7:0]       op;
  } entry_res_t;

  function automatic entry_res_t entry_res(input tx_ent_t ent);
    logic unused_bits;
    unused_bits = ^ent;
    entry_res          = '0;
    entry_res.status   = ent.f.id.status;
    entry_res.complete = 8'(ent.f.id.complete);
    entry_res.is_event = 8'(ent.f.id.is_event);
    entry_res.qid      = ent.f.id.qid;
    entry_res.index    = ent.f.id.index;
    entry_res.wqe_id   = ent.f.id.wqe_id;
    if (ent.f.len != 14'd0) begin
      entry_res.len      = 16'(ent.f.len);
      entry_res.inl_len  = 8'(ent.f.inl_len);
      entry_res.port     = 8'(ent.f.id.port);
      entry_res.ip_csum  = 8'(ent.f.ofl.ip_csum);
      entry_res.udp_csum = 8'(ent.f.ofl.udp_csum);
      entry_res.udp_zero = 8'(ent.f.ofl.udp_zero);
      entry_res.icrc     = 8'(ent.f.ofl.icrc);
      entry_res.crc      = 8'(ent.f.ofl.crc);
      entry_res.ecn      = 8'(ent.f.ofl.ecn);
      entry_res.l3       = ent.f.ofl.l3;
      entry_res.l4       = ent.f.ofl.l4;
      if (ent.f.ofl.crc) begin
        entry_res.crc_off   = 16'(ent.f.ofl.crc_off);
        entry_res.crc_start = 16'(ent.f.ofl.crc_start);
      end
      entry_res.app = 8'(ent.f.app != 3'd0);
      entry_res.inl = ent.inl & ~({InlW{1'b1}} << (12'(ent.f.inl_len) << 3));
    end
    if (!ent.f.id.is_event) entry_res.blocks = 8'(ent.f.id.more) + 8'd1;
    entry_res.nseg = 8'(ent.nseg);
    for (int i = 0; i < SegMax; i++) begin
      if (4'(i) < ent.nseg) begin
        entry_res.addr[i]    = ent.seg_addr[i];
        entry_res.seg_len[i] = ent.f.len != 14'd0 ? 16'(ent.seg_len[i]) : 16'd0;
      end
    end
    entry_res.move  = 8'(ent.copy.move);
    entry_res.inval = 8'(ent.copy.inval);
    if (ent.copy.move || ent.copy.inval) entry_res.copy_len = 32'(ent.copy.len);
  endfunction
endpackage
