/// Completes read requests: picks any of the outstanding ones, and sends one completion at a time,
/// split at multiples of 64 B. A byte of memory is a function of its address. Bits 31:30 of an
/// address name a slot; each slot may have one fault, in its first completion or in the first that
/// ends a request.

module blk_completer
  import nic_int_pkg::*;
#(
  // 1: the fault hits the slot's first request, even if a later one is answered before it.
  parameter bit OfFirst = 1'b0
) (
  input  logic            clk,
  input  logic            rst,
  // Pulse: slot start_slot_i gets new work: its fault may occur again.
  input  logic            start_i,
  input  logic [1:0]      start_slot_i,
  // Fault of each slot; late_i: it occurs only in a completion that ends a request.
  input  logic [3:0][2:0] fault_i,
  input  logic [3:0]      late_i,
  // Read requests: header only.
  input  logic [127:0]    hdr_i,
  input  logic            valid_i,
  output logic            ready_o,
  // Address and length of the request taken in this cycle.
  output logic [63:0]     addr_o,
  output logic [12:0]     bytes_o,
  // High: no completion in this cycle.
  input  logic            hold_i,
  // Beats of completions.
  output logic            cpl_valid_o,
  output logic            cpl_first_o,
  output logic            cpl_last_o,
  output logic [127:0]    cpl_hdr_o,
  output logic [TlpD-1:0] cpl_keep_o,
  output logic [TlpW-1:0] cpl_data_o
);
  localparam int Entries = 16;
  localparam int Blocks  = 64;         // completions are split at multiples of this, bytes

  typedef enum logic [2:0] {Fine, Unsupported, Abort, Poison, BadCount, BadLower, NoData,
      Silence} fault_e;

  typedef struct packed {
    logic        valid;
    logic        first;   // first request of its slot
    logic [7:0]  tag;
    logic [31:0] addr;
    logic [12:0] left;
  } entry_t;

  entry_t      entry_q [Entries];
  entry_t      chosen;
  logic [15:0] lfsr_q;
  logic [3:0]  free, pick, faulted_q, asked_q;
  logic        full, busy_q, first_q, ends, bad;
  logic [1:0]  slot;
  fault_e      fault;
  logic [12:0] cut, bytes;
  logic [10:0] dws, left_q;
  logic [31:0] addr_q;
  logic [127:0] hdr_q;

  function automatic logic [7:0] memory(input logic [31:0] a);
    logic unused_bits;
    unused_bits = ^a;
    memory      = a[7:0] ^ {a[11:8], a[15:12]} ^ a[31:24];
  endfunction

  function automatic logic [31:0] swap(input logic [31:0] b);
    swap = {b[7:0], b[15:8], b[23:16], b[31:24]};
  endfunction

  // upto returns the end of the last enabled byte of a DW, 1..4; from returns its first enabled
  // byte.
  function automatic logic [2:0] upto(input logic [3:1] be);
    upto = be[3] ? 3'd4 : be[2] ? 3'd3 : be[1] ? 3'd2 : 3'd1;
  endfunction

  function automatic logic [1:0] from(input logic [2:0] be);
    from = be[0] ? 2'd0 : be[1] ? 2'd1 : be[2] ? 2'd2 : 2'd3;
  endfunction

  always_comb begin
    logic [10:0] n;
    n       = {{hdr_i[17:16], hdr_i[31:24]} == 10'd0, hdr_i[17:16], hdr_i[31:24]};
    addr_o  = 64'(from(hdr_i[58:56])) +
              (hdr_i[5] ? {swap(hdr_i[95:64]), swap(hdr_i[127:96])} : {32'h0, swap(hdr_i[95:64])});
    bytes_o = {n, 2'b00} - 13'(from(hdr_i[58:56])) - 13'd4 +
              13'(upto(n == 11'd1 ? hdr_i[59:57] : hdr_i[63:61]));
    full    = 1'b1;
    free    = '0;
    for (int i = 0; i < Entries; i++) if (!entry_q[i].valid) {full, free} = {1'b0, 4'(i)};
  end

  assign ready_o = !full && (lfsr_q[5] || lfsr_q[9]);

  // Choose the request and length of the next completion.
  assign pick   = lfsr_q[3:0];
  assign chosen = entry_q[pick];
  assign slot   = chosen.addr[31:30];
  assign cut    = ((13'(lfsr_q[8:7]) + 13'd1) << $clog2(Blocks)) - 13'(chosen.addr[5:0]);
  assign ends   = chosen.left <= cut;
  assign bytes  = ends ? chosen.left : cut;
  assign bad    = fault_i[slot] != 3'(Fine) && !faulted_q[slot] && (ends || !late_i[slot]) &&
                 (!OfFirst || chosen.first);
  assign fault  = bad ? fault_e'(fault_i[slot]) : Fine;
  assign dws    = 11'((13'(chosen.addr[1:0]) + bytes + 13'd3) >> 2);

  function automatic logic [127:0] header();
    logic        data;
    logic [12:0] count;
    logic [6:0]  lower;
    logic        unused_bits;
    data   = fault != Unsupported && fault != Abort && fault != NoData;
    count  = fault == BadCount ? chosen.left + 13'd1 : chosen.left;
    lower  = fault == BadLower ? chosen.addr[6:0] ^ 7'h10 : chosen.addr[6:0];
    header = '0;
    header[7:0]   = data ? 8'h4a : 8'h0a;
    header[22]    = fault == Poison;
    header[17:16] = data ? dws[9:8] : 2'd0;
    header[31:24] = data ? dws[7:0] : 8'd0;
    header[55:53] = fault == Unsupported ? 3'd1 : fault == Abort ? 3'd4 : 3'd0;
    header[51:48] = count[11:8];
    header[63:56] = count[7:0];
    header[79:64] = 16'h0002;          // requester 0x0200, high byte first
    header[87:80] = chosen.tag;
    header[94:88] = lower;
    unused_bits   = count[12];
  endfunction

  assign cpl_valid_o = busy_q && !hold_i && lfsr_q[11:10] != 2'd0;
  assign cpl_first_o = first_q;
  assign cpl_last_o  = left_q <= 11'(TlpD);
  assign cpl_hdr_o   = hdr_q;
  assign cpl_keep_o  = cpl_last_o ? ~({TlpD{1'b1}} << left_q[5:0]) : '1;

  always_comb begin
    for (int i = 0; i < TlpB; i++) cpl_data_o[8*i +: 8] = memory(addr_q + 32'(i));
  end

  always_ff @(posedge clk) begin
    lfsr_q <= {lfsr_q[14:0], lfsr_q[15] ^ lfsr_q[13] ^ lfsr_q[12] ^ lfsr_q[10]};
    if (valid_i && ready_o) begin
      entry_q[free] <= '{valid: 1'b1, first: !asked_q[addr_o[31:30]], tag: hdr_i[55:48],
                         addr: addr_o[31:0], left: bytes_o};
      asked_q[addr_o[31:30]] <= 1'b1;
    end
    if (cpl_valid_o) begin
      first_q <= 1'b0;
      busy_q  <= !cpl_last_o;
      left_q  <= left_q - 11'(TlpD);
      addr_q  <= addr_q + 32'(TlpB);
    end
    if (!busy_q && chosen.valid) begin
      busy_q  <= fault != Silence;
      first_q <= 1'b1;
      hdr_q   <= header();
      addr_q  <= {chosen.addr[31:2], 2'b00};
      left_q  <= fault == Unsupported || fault == Abort || fault == NoData ? 11'd0 : dws;
      faulted_q[slot] <= faulted_q[slot] || bad;
      entry_q[pick].valid <= !bad && !ends;
      entry_q[pick].addr  <= chosen.addr + 32'(bytes);
      entry_q[pick].left  <= chosen.left - bytes;
    end
    if (start_i) {faulted_q[start_slot_i], asked_q[start_slot_i]} <= 2'b00;
    if (rst) begin
      lfsr_q <= 16'hace1;
      busy_q <= 1'b0;
      for (int i = 0; i < Entries; i++) entry_q[i].valid <= 1'b0;
    end
  end

  logic unused_bits;
  assign unused_bits = ^hdr_i;
endmodule
