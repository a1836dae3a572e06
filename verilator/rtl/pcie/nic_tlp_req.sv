/// Judges the header of a TLP that is not a completion: a register access, a request to be answered
/// with Unsupported Request, or one to be dropped (contract P8, G1). Combinational.

module nic_tlp_req
  import nic_pkg::*, nic_int_pkg::*;
#(
  // Optional parts in this build, as the bits of register CAP1.
  parameter int unsigned Parts = PartsDefault
) (
  // High: hdr_i and data_i are a request to be judged; while low, all outputs are 0.
  input  logic         valid_i,
  input  logic [127:0] hdr_i,
  // The first two DWs of the TLP's payload.
  input  logic [63:0]  data_i,
  // The request, decoded for the registers.
  output reg_req_t     req_o,
  // High: the request accesses a register or needs an answer.
  output logic         pass_o,
  // High: the request counts in REG_BAD.
  output logic         reg_bad_o,
  // High: the request counts in TLP_UNSUPPORTED.
  output logic         unsupported_o
);
  // Fmt/Type bytes of requests.
  localparam logic [7:0] MRd32 = 8'h00, MRd64 = 8'h20, MWr32 = 8'h40, MWr64 = 8'h60;

  // Returns whether the type is one of the other non-posted requests: locked reads, I/O,
  // configuration (trusted ones included), deferrable writes and AtomicOps.
  function automatic logic other_non_posted(input logic [7:0] fmt_type);
    case (fmt_type)
      8'h01, 8'h21, 8'h02, 8'h42, 8'h04, 8'h44, 8'h05, 8'h45, 8'h1b,
      8'h5b, 8'h7b, 8'h4c, 8'h6c, 8'h4d, 8'h6d, 8'h4e, 8'h6e: other_non_posted = 1'b1;
      default: other_non_posted = 1'b0;
    endcase
  endfunction

  // Returns the number of the lowest byte enabled; 0 if none is.
  function automatic logic [1:0] lowest(input logic [3:0] be);
    lowest = be[0] ? 2'd0 : be[1] ? 2'd1 : be[2] ? 2'd2 : be[3] ? 2'd3 : 2'd0;
  endfunction

  // Returns the bytes of the DW up to the highest one enabled; 4 if none is.
  function automatic logic [2:0] upto(input logic [3:0] be);
    upto = be[3] ? 3'd4 : be[2] ? 3'd3 : be[1] ? 3'd2 : be[0] ? 3'd1 : 3'd4;
  endfunction

  typedef struct packed {
    reg_req_t req;
    logic     pass;
    logic     reg_bad;
    logic     unsupported;
  } verdict_t;

  function automatic verdict_t judge(input logic [127:0] hdr, input logic [63:0] data);
    logic [7:0]  fmt_type;
    logic        mrd, mwr, other, poisoned, in_bar, one_dw, two_dw, legal, push;
    logic [10:0] length;
    logic [3:0]  first, last;
    logic [31:0] dw2, dw3;
    logic [63:2] addr;
    logic [12:0] span;
    logic        unused;

    fmt_type = hdr[7:0];
    mrd      = fmt_type == MRd32 || fmt_type == MRd64;
    mwr      = fmt_type == MWr32 || fmt_type == MWr64;
    other    = other_non_posted(fmt_type);
    poisoned = hdr[22];
    length   = {hdr[17:16] == 2'd0 && hdr[31:24] == 8'd0, hdr[17:16], hdr[31:24]};
    first    = hdr[59:56];
    last     = hdr[63:60];
    dw2      = {hdr[71:64], hdr[79:72], hdr[87:80], hdr[95:88]};
    dw3      = {hdr[103:96], hdr[111:104], hdr[119:112], hdr[127:120]};
    addr     = hdr[5] ? {dw2, dw3[31:2]} : {32'h0, dw2[31:2]};
    in_bar   = addr[63:RegAw] == BarBase[63:RegAw];

    one_dw = length == 11'd1 && first == 4'hf && last == 4'h0;
    two_dw = length == 11'd2 && first == 4'hf && last == 4'hf && !addr[2];
    legal  = in_bar && !poisoned && (one_dw || two_dw);

    push   = (Parts & PartPush) != 0 && mwr && in_bar && !poisoned && length == 11'd16 &&
             first == 4'hf && last == 4'hf && addr[5:2] == 4'd0 &&
             addr[RegAw-1:14] == RegTxPushBase[RegAw-1:14];

    // Bytes from the first to the last one enabled, both included.
    if (length == 11'd1) span = first == 4'h0 ? 13'd1 : 13'(upto(first)) - 13'(lowest(first));
    else span = {length, 2'b00} - 13'(lowest(first)) - (13'd4 - 13'(upto(last)));

    judge.req.read      = mrd && legal;
    judge.req.write     = mwr && legal;
    judge.req.push      = push;
    judge.req.addr      = addr[RegAw-1:2];
    judge.req.data      = data;
    judge.req.ans.rid   = hdr[47:32];
    judge.req.ans.tag   = hdr[55:48];
    judge.req.ans.tc    = hdr[14:12];
    judge.req.ans.attr  = {hdr[10], hdr[21:20]};
    judge.req.ans.bytes = mrd ? span[11:0] : {length[9:0], 2'b00};
    judge.req.ans.lower = mrd ? {addr[6:2], lowest(first)} : 7'd0;
    judge.req.ans.ok    = mrd && legal;
    judge.req.ans.two   = two_dw;

    judge.pass        = mrd || (other && !poisoned) || (mwr && legal) || push;
    judge.reg_bad     = (mrd || mwr) && in_bar && !poisoned && !legal && !push;
    judge.unsupported = !((mrd || mwr) && in_bar && !poisoned);
    unused = ^{hdr[8], hdr[9], hdr[11], hdr[15], hdr[19:18], hdr[23], dw3[1:0], span[12]};
  endfunction

  verdict_t verdict;

  always_comb begin
    verdict = '0;
    if (valid_i) verdict = judge(hdr_i, data_i);
  end

  assign req_o         = verdict.req;
  assign pass_o        = verdict.pass;
  assign reg_bad_o     = verdict.reg_bad;
  assign unsupported_o = verdict.unsupported;
endmodule
