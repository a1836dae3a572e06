/// Judges the header of a TLP that is not a completion: a register access, a request to be answered
/// with Unsupported Request, or one to be dropped (contract P8, G1). Combinational.

module nic_tlp_req
  import nic_pkg::*, nic_int_pkg::*;
(
  input  logic [127:0] hdr_i,
  // First two DWs of the payload.
  input  logic [63:0]  data_i,
  output reg_req_t     req_o,
  // It goes to the registers or gets an answer; it counts REG_BAD; it counts TLP_UNSUPPORTED.
  output logic         pass_o,
  output logic         reg_bad_o,
  output logic         unsupported_o
);
  // Fmt/Type bytes of requests.
  localparam logic [7:0] MRd32 = 8'h00, MRd64 = 8'h20, MWr32 = 8'h40, MWr64 = 8'h60;

  // The other requests that wait for an answer: locked reads, I/O, configuration, deferrable
  // writes and AtomicOps.
  function automatic logic other_non_posted(input logic [7:0] fmt_type);
    case (fmt_type)
      8'h01, 8'h21, 8'h02, 8'h42, 8'h04, 8'h44, 8'h05, 8'h45,
      8'h5b, 8'h7b, 8'h4c, 8'h6c, 8'h4d, 8'h6d, 8'h4e, 8'h6e: other_non_posted = 1'b1;
      default: other_non_posted = 1'b0;
    endcase
  endfunction

  // Place of the lowest byte enabled; 0 when none is.
  function automatic logic [1:0] lowest(input logic [3:0] be);
    lowest = be[0] ? 2'd0 : be[1] ? 2'd1 : be[2] ? 2'd2 : be[3] ? 2'd3 : 2'd0;
  endfunction

  // Bytes of the DW up to the highest one enabled; all four when none is.
  function automatic logic [2:0] upto(input logic [3:0] be);
    upto = be[3] ? 3'd4 : be[2] ? 3'd3 : be[1] ? 3'd2 : be[0] ? 3'd1 : 3'd4;
  endfunction

  logic [7:0]  fmt_type;
  logic        four, mrd, mwr, other, poisoned, in_bar, one_dw, two_dw, legal, answered;
  logic [10:0] length;
  logic [3:0]  first, last;
  logic [31:0] dw2, dw3;
  logic [63:2] addr;
  logic [12:0] span;
  logic        unused_hdr;

  assign unused_hdr = ^{hdr_i[8], hdr_i[9], hdr_i[11], hdr_i[15], hdr_i[19:18], hdr_i[23], dw3[1:0],
                        span[12]};

  always_comb begin
    fmt_type = hdr_i[7:0];
    four     = hdr_i[5];
    mrd      = fmt_type == MRd32 || fmt_type == MRd64;
    mwr      = fmt_type == MWr32 || fmt_type == MWr64;
    other    = other_non_posted(fmt_type);
    poisoned = hdr_i[22];
    length   = {hdr_i[17:16] == 2'd0 && hdr_i[31:24] == 8'd0, hdr_i[17:16], hdr_i[31:24]};
    first    = hdr_i[59:56];
    last     = hdr_i[63:60];
    dw2      = {hdr_i[71:64], hdr_i[79:72], hdr_i[87:80], hdr_i[95:88]};
    dw3      = {hdr_i[103:96], hdr_i[111:104], hdr_i[119:112], hdr_i[127:120]};
    addr     = four ? {dw2, dw3[31:2]} : {32'h0, dw2[31:2]};
    in_bar   = addr[63:RegAw] == BarBase[63:RegAw];

    one_dw = length == 11'd1 && first == 4'hf && last == 4'h0;
    two_dw = length == 11'd2 && first == 4'hf && last == 4'hf && !addr[2];
    legal  = in_bar && !poisoned && (one_dw || two_dw);

    // Bytes from the first to the last one enabled, both counted.
    if (length == 11'd1) span = first == 4'h0 ? 13'd1 : 13'(upto(first)) - 13'(lowest(first));
    else span = {length, 2'b00} - 13'(lowest(first)) - (13'd4 - 13'(upto(last)));

    answered      = mrd || other;
    req_o.read    = mrd && legal;
    req_o.write   = mwr && legal;
    req_o.addr    = addr[RegAw-1:2];
    req_o.data    = data_i;
    req_o.ans.rid   = hdr_i[47:32];
    req_o.ans.tag   = hdr_i[55:48];
    req_o.ans.tc    = hdr_i[14:12];
    req_o.ans.attr  = {hdr_i[10], hdr_i[21:20]};
    req_o.ans.bytes = mrd ? span[11:0] : {length[9:0], 2'b00};
    req_o.ans.lower = mrd ? {addr[6:2], lowest(first)} : 7'd0;
    req_o.ans.ok    = mrd && legal;
    req_o.ans.two   = two_dw;

    pass_o        = answered || req_o.write;
    reg_bad_o     = (mrd || mwr) && in_bar && !poisoned && !legal;
    unsupported_o = !((mrd || mwr) && in_bar && !poisoned);
  end
endmodule
