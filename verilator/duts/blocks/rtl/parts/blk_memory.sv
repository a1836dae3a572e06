/// Memory behind nic_reader for one read client: answers in any order, in pieces, and with faults.

module blk_memory
  import nic_int_pkg::*;
#(
  parameter int Client = RdCopy,
  // 1: the client's requests already respect MRRS and 4 KB.
  parameter bit Whole = 1'b0,
  // 1: the fault hits the slot's first request, see blk_completer.
  parameter bit OfFirst = 1'b0
) (
  input  logic            clk,
  input  logic            rst,
  input  logic [12:0]     mrrs_i,
  input  logic [1:0]      attr_i,
  // Slots and their faults, see blk_completer.
  input  logic            start_i,
  input  logic [1:0]      start_slot_i,
  input  logic [3:0][2:0] fault_i,
  input  logic [3:0]      late_i,
  // Read client.
  input  rd_req_t         req_i,
  input  logic            req_valid_i,
  output logic            req_ready_o,
  output rd_rsp_t         rsp_o
);
  localparam int Clients = Client > 2 ? Client + 1 : 3;

  cfg_t               cfg;
  rd_req_t            req [Clients];
  logic [Clients-1:0] req_valid, req_ready;
  logic [127:0]       mrd_hdr, cpl_hdr;
  logic               mrd_valid, mrd_ready, cpl_valid, cpl_first, cpl_last, hold;
  logic [TlpD-1:0]    cpl_keep;
  logic [TlpW-1:0]    cpl_data;

  // Outputs that are checked in blk_reader, not here.
  logic        unused_unexpected, unused_err, unused_timeout, unused_out, unused_busy, unused_ready;
  logic [63:0] unused_addr;
  logic [12:0] unused_bytes;

  always_comb begin
    cfg               = '0;
    cfg.attr          = attr_i;
    cfg.mrrs          = mrrs_i;
    cfg.cpl_timeout   = 32'd1024;
    req_valid         = '0;
    req_valid[Client] = req_valid_i;
    for (int c = 0; c < Clients; c++) req[c] = req_i;
  end
  assign req_ready_o = req_ready[Client];

  nic_reader #(
    .Clients(Clients), .DataClients(Clients'(1) << Client),
    .WholeClients(Clients'(Whole) << Client)
  ) u_reader (
    .clk, .rst, .cfg_i(cfg), .req_i(req), .req_valid_i(req_valid), .req_ready_o(req_ready),
    .rsp_o, .mrd_hdr_o(mrd_hdr), .mrd_valid_o(mrd_valid), .mrd_ready_i(mrd_ready),
    .sent_i(mrd_valid && mrd_ready), .sent_tag_i(mrd_hdr[55:48]), .cpl_valid_i(cpl_valid),
    .cpl_first_i(cpl_first), .cpl_last_i(cpl_last), .cpl_hdr_i(cpl_hdr), .cpl_keep_i(cpl_keep),
    .cpl_data_i(cpl_data), .hold_o(hold), .unexpected_o(unused_unexpected), .err_o(unused_err),
    .timeout_o(unused_timeout), .outstanding_o(unused_out), .busy_o(unused_busy)
  );

  blk_completer #(.OfFirst(OfFirst)) u_completer (
    .clk, .rst, .start_i, .start_slot_i, .fault_i, .late_i, .hdr_i(mrd_hdr), .valid_i(mrd_valid),
    .ready_o(mrd_ready), .addr_o(unused_addr), .bytes_o(unused_bytes), .hold_i(hold),
    .cpl_valid_o(cpl_valid), .cpl_first_o(cpl_first), .cpl_last_o(cpl_last), .cpl_hdr_o(cpl_hdr),
    .cpl_keep_o(cpl_keep), .cpl_data_o(cpl_data)
  );
  assign unused_ready = ^req_ready;
endmodule
