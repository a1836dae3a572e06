/// Memory keys: table Key, and the check and translation of a piece (contract T3, T4), one piece a
/// cycle, two cycles deep. A table command costs the lookups one cycle.

module nic_key
  import nic_pkg::*, nic_int_pkg::*;
#(
  // Number of memory keys, a power of two.
  parameter int NumKeys = 256,
  localparam int Kw = $clog2(NumKeys)
) (
  input  logic          clk,
  input  logic          rst,
  input  tbl_req_t      tbl_i,
  output logic          tbl_done_o,
  output table_status_e tbl_status_o,
  output logic [255:0]  tbl_rdata_o,
  // Piece to check, and the rights that it needs; len_i is 2^24 at most.
  input  logic          valid_i,
  output logic          ready_o,
  input  logic [15:0]   index_i,
  input  logic [7:0]    variant_i,
  input  logic [63:0]   addr_i,
  input  logic [24:0]   len_i,
  input  logic          need_read_i,
  input  logic          need_write_i,
  // Result, two cycles later: status and bus address of the piece.
  output logic          valid_o,
  output status_e       status_o,
  output logic [63:0]   addr_o
);
  typedef enum logic [2:0] {KIdle, KAccess, KAnswer, KDone, KGap} state_e;

  typedef struct packed {
    logic [63:0] bus_base;
    logic [63:0] length;
    logic [63:0] va_base;
    logic [7:0]  variant;
    logic        right_write;
    logic        right_read;
    logic        valid;
  } slot_t;

  slot_t              key_mem [NumKeys];
  logic [NumKeys-1:0] written_q;
  slot_t              slot_q;
  logic               slot_ok_q;       // the slot read was written since reset
  state_e             ks_q;
  table_status_e      tstatus_q;
  logic [255:0]       rdata_q;

  logic               v1_q, in1_q, read1_q, write1_q;
  logic [7:0]         variant1_q;
  logic [63:0]        addr1_q;
  logic [24:0]        len1_q;
  logic               v2_q;
  status_e            status2_q;
  logic [63:0]        addr2_q;

  logic               table_turn;
  logic [Kw-1:0]      ra;
  logic               unused_tbl;

  assign unused_tbl   = ^{tbl_i.wdata[1023:256], tbl_i.index};
  assign table_turn   = ks_q == KAccess;
  assign ready_o      = !table_turn;
  assign ra           = table_turn ? tbl_i.index[Kw-1:0] : index_i[Kw-1:0];
  assign tbl_done_o   = ks_q == KDone;
  assign tbl_status_o = tstatus_q;
  assign tbl_rdata_o  = rdata_q;
  assign valid_o      = v2_q;
  assign status_o     = status2_q;
  assign addr_o       = addr2_q;

  // Execute table commands.
  always_ff @(posedge clk) begin
    key_entry_t  e;
    logic [64:0] va_end, bus_end;
    logic        unused_e;
    unique case (ks_q)
      KIdle: if (tbl_i.valid && tbl_i.id == TableKey) ks_q <= KAccess;
      KAccess: begin
        ks_q      <= KAnswer;
        tstatus_q <= TableStatusOk;
        if (tbl_i.write) begin
          e        = key_entry_t'(tbl_i.wdata[255:0]);
          unused_e = ^e;
          va_end   = {1'b0, e.va_base} + {1'b0, e.length};
          bus_end  = {9'b0, e.bus_base[55:0]} + {1'b0, e.length};
          if (e.valid > 8'd1 || va_end > {1'b1, 64'd0} || bus_end > 65'h100_0000_0000_0000) begin
            tstatus_q <= TableStatusBadValue;
          end
        end
      end
      KAnswer: begin
        ks_q <= KDone;
        e = '0;
        if (tbl_i.write) begin
          e        = key_entry_t'(tbl_i.wdata[255:0]);
          unused_e = ^e;
          if (tstatus_q == TableStatusOk) begin
            key_mem[tbl_i.index[Kw-1:0]] <= '{bus_base: e.bus_base, length: e.length,
                va_base: e.va_base, variant: e.variant, right_write: e.right_write,
                right_read: e.right_read, valid: e.valid[0]};
            written_q[tbl_i.index[Kw-1:0]] <= 1'b1;
          end
        end else if (slot_ok_q) begin
          e.bus_base    = slot_q.bus_base;
          e.length      = slot_q.length;
          e.va_base     = slot_q.va_base;
          e.variant     = slot_q.variant;
          e.right_write = slot_q.right_write;
          e.right_read  = slot_q.right_read;
          e.valid       = {7'd0, slot_q.valid};
        end
        rdata_q <= tbl_i.write ? '0 : e;
      end
      KDone:   ks_q <= KGap;
      default: ks_q <= KIdle;
    endcase
    if (rst) begin
      ks_q      <= KIdle;
      written_q <= '0;
    end
  end

  // Lookup: read the key in the first cycle, check the piece in the second.
  always_ff @(posedge clk) begin
    logic [63:0] diff;
    logic        borrow;
    v1_q <= valid_i && ready_o && !rst;
    v2_q <= v1_q && !rst;
    if (table_turn || valid_i) begin
      slot_q    <= key_mem[ra];
      slot_ok_q <= written_q[ra];
    end
    if (valid_i && ready_o) begin
      in1_q      <= 32'(index_i) < 32'(NumKeys);
      variant1_q <= variant_i;
      addr1_q    <= addr_i;
      len1_q     <= len_i;
      read1_q    <= need_read_i;
      write1_q   <= need_write_i;
    end
    if (v1_q) begin
      {borrow, diff} = {1'b0, addr1_q} - {1'b0, slot_q.va_base};
      status2_q <= StatusOk;
      if (borrow || diff > slot_q.length || slot_q.length - diff < 64'(len1_q)) begin
        status2_q <= StatusKeyBounds;
      end
      if ((read1_q && !slot_q.right_read) || (write1_q && !slot_q.right_write)) begin
        status2_q <= StatusKeyRights;
      end
      if (!in1_q || !slot_ok_q || !slot_q.valid || slot_q.variant != variant1_q) begin
        status2_q <= StatusBadKey;
      end
      addr2_q <= slot_q.bus_base + diff;
    end
  end
endmodule
