/// Reads for the device's blocks: splits their requests, assigns tags, sends MRd TLPs, checks the
/// completions and returns the data to the client that asked (contract P2 to P7).

module nic_reader
  import nic_int_pkg::*;
#(
  // Number of read clients, 2 or more.
  parameter int Clients = 3,
  // One bit per client, set if its reads fetch frame or copy data and so carry the attributes for
  // data [P11].
  parameter logic [Clients-1:0] DataClients = '0,
  // One bit per client, set if its requests already respect MRRS and 4 KB, and are never split.
  parameter logic [Clients-1:0] WholeClients = '0
) (
  input  logic               clk,
  input  logic               rst,
  // Configuration registers.
  input  cfg_t               cfg_i,
  // Requests of the clients.
  input  rd_req_t            req_i [Clients],
  input  logic [Clients-1:0] req_valid_i,
  output logic [Clients-1:0] req_ready_o,
  // Response to the clients.
  output rd_rsp_t            rsp_o,
  // Read requests: header only.
  output logic [127:0]       mrd_hdr_o,
  output logic               mrd_valid_o,
  input  logic               mrd_ready_i,
  // Pulse: the read request with tag sent_tag_i was accepted at the TLP port.
  input  logic               sent_i,
  input  logic [7:0]         sent_tag_i,
  // Beats of completions, never held back.
  input  logic               cpl_valid_i,
  input  logic               cpl_first_i,
  input  logic               cpl_last_i,
  input  logic [127:0]       cpl_hdr_i,
  input  logic [TlpD-1:0]    cpl_keep_i,
  input  logic [TlpW-1:0]    cpl_data_i,
  // High when the reader needs a cycle without a completion, to answer a request that timed out.
  output logic               hold_o,
  // Pulses of the counters CPL_UNEXPECTED, CPL_ERR and CPL_TIMEOUTS.
  output logic               unexpected_o,
  output logic               err_o,
  output logic               timeout_o,
  // High while some read has not ended.
  output logic               outstanding_o,
  // High while the block has a request, a completion or a tag in quarantine.
  output logic               busy_o
);
  localparam int Cw = $clog2(Clients);

  logic          piece_valid, piece_take, tag_free;
  logic [Cw-1:0] piece_client;
  logic [15:0]   piece_cookie;
  logic [63:0]   piece_addr;
  logic [12:0]   piece_len;
  logic [13:0]   piece_off;
  logic [7:0]    tag;
  logic          mrd_valid_q;
  logic [127:0]  mrd_hdr_q;

  logic [7:0]    cpl_tag;
  logic          live, part, ended, bad, late, late_ready, cpl_busy;
  logic [Cw-1:0] client, late_client;
  logic [15:0]   cookie, late_cookie;
  logic [12:0]   len, left, bytes, late_len;
  logic [13:0]   off;
  logic [6:0]    lower;
  logic          unused_cfg;

  assign unused_cfg = ^cfg_i;

  nic_rdsplit #(.Clients(Clients), .Whole(WholeClients)) u_split (
    .clk, .rst, .mrrs_i(cfg_i.mrrs), .req_i, .req_valid_i, .req_ready_o,
    .piece_valid_o(piece_valid), .piece_ready_i(piece_take), .client_o(piece_client),
    .cookie_o(piece_cookie), .addr_o(piece_addr), .len_o(piece_len), .off_o(piece_off)
  );

  // Returns the header of a read of len bytes at addr, which cross no 4 KB boundary.
  function automatic logic [127:0] read_hdr(input logic [63:0] addr, input logic [12:0] bytes_n,
                                            input logic [7:0] tag_n);
    logic [12:0] stop;       // end of the bytes, counted from the start of the first DW
    logic [10:0] dws;
    logic        one;
    logic [2:0]  in_last;    // bytes used of the last DW, 1..4
    stop     = 13'(addr[1:0]) + bytes_n;
    dws      = 11'((stop + 13'd3) >> 2);
    one      = dws == 11'd1;
    in_last  = stop[1:0] == 2'd0 ? 3'd4 : {1'b0, stop[1:0]};
    read_hdr = mem_hdr(1'b0, addr, dws, first_be(addr[1:0], bytes_n[2:0], one),
                       last_be(in_last, one), tag_n);
  endfunction

  logic [1:0] attr;
  assign attr = DataClients[piece_client] ? cfg_i.attr : 2'b00;

  assign piece_take  = piece_valid && tag_free && (!mrd_valid_q || mrd_ready_i);
  assign mrd_hdr_o   = mrd_hdr_q;
  assign mrd_valid_o = mrd_valid_q;

  always_ff @(posedge clk) begin
    if (!mrd_valid_q || mrd_ready_i) mrd_valid_q <= piece_take;
    if (piece_take) mrd_hdr_q <= with_attr(read_hdr(piece_addr, piece_len, tag), attr);
    if (rst) mrd_valid_q <= 1'b0;
  end

  nic_tags #(.Cw(Cw)) u_tags (
    .clk, .rst, .timeout_i(cfg_i.cpl_timeout),
    .free_o(tag_free), .tag_o(tag), .take_i(piece_take), .take_client_i(piece_client),
    .take_cookie_i(piece_cookie), .take_off_i(piece_off), .take_len_i(piece_len),
    .take_lower_i(piece_addr[6:0]), .sent_i, .sent_tag_i,
    .cpl_tag_i(cpl_tag), .live_o(live), .client_o(client), .cookie_o(cookie), .len_o(len),
    .off_o(off), .left_o(left), .lower_o(lower), .part_i(part), .cpl_bytes_i(bytes),
    .end_i(ended), .bad_i(bad),
    .late_o(late), .late_ready_i(late_ready), .late_client_o(late_client),
    .late_cookie_o(late_cookie), .late_len_o(late_len), .outstanding_o
  );

  nic_cpl #(.Clients(Clients)) u_cpl (
    .clk, .rst, .cpl_valid_i, .cpl_first_i, .cpl_last_i, .cpl_hdr_i, .cpl_keep_i, .cpl_data_i,
    .tag_o(cpl_tag), .live_i(live), .client_i(client), .cookie_i(cookie), .len_i(len),
    .off_i(off), .left_i(left), .lower_i(lower), .part_o(part), .bytes_o(bytes), .end_o(ended),
    .bad_o(bad), .late_i(late), .late_ready_o(late_ready), .late_client_i(late_client),
    .late_cookie_i(late_cookie), .late_len_i(late_len), .rsp_o, .unexpected_o, .err_o,
    .timeout_o, .busy_o(cpl_busy)
  );

  assign hold_o = late;
  assign busy_o = piece_valid || mrd_valid_q || outstanding_o || cpl_busy || req_valid_i != '0;
endmodule
