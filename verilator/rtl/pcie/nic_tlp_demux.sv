/// Input of the TLP port: completions go to the reader, requests to the registers; everything else
/// is counted and dropped. Completions are never queued here. The input is held back while ReqDepth
/// requests wait, which takes more unanswered register reads than two requesters have tags, and for
/// the cycle in which a timeout is answered.

`include "nic_assert.svh"

module nic_tlp_demux
  import nic_pkg::*, nic_int_pkg::*;
#(
  // Optional parts in this build, as the bits of register CAP1.
  parameter int unsigned Parts = PartsDefault
) (
  input  logic             clk,
  input  logic             rst,
  input  logic [TlpW-1:0]  s_axis_tlp_tdata,
  input  logic [TlpD-1:0]  s_axis_tlp_tkeep,
  input  logic [127:0]     s_axis_tlp_thdr,
  input  logic             s_axis_tlp_tlast,
  input  logic             s_axis_tlp_tvalid,
  output logic             s_axis_tlp_tready,
  // High: the reader needs a cycle without a completion.
  input  logic             hold_i,
  // Beats of completions: valid for one cycle each, never held back.
  output logic             cpl_valid_o,
  output logic             cpl_first_o,
  output logic             cpl_last_o,
  output logic [127:0]     cpl_hdr_o,
  output logic [TlpD-1:0]  cpl_keep_o,
  output logic [TlpW-1:0]  cpl_data_o,
  // Requests, in the order of arrival.
  output reg_req_t         req_o,
  output logic             req_valid_o,
  input  logic             req_ready_i,
  // Work entry of a request that writes TX_PUSH; valid with req_o.
  output logic [511:0]     push_wqe_o,
  // Pulses of the counters REG_BAD and TLP_UNSUPPORTED.
  output logic             reg_bad_o,
  output logic             unsupported_o,
  // High while a packet or a request is in the block.
  output logic             busy_o
);
  localparam int ReqDepth = 16;
  localparam int Margin   = 3;   // requests that may still arrive after ready falls

  logic            ready_q, mid_q;
  logic            valid_q, first_q, last_q;
  logic [127:0]    hdr_q;
  logic [TlpD-1:0] keep_q;
  logic [TlpW-1:0] data_q;
  logic [4:0]      waiting_q, waiting_d;
  logic            is_cpl, judged, push, fifo_ready;
  reg_req_t        req;

  assign s_axis_tlp_tready = ready_q;

  // Cpl and CplD, and their forms for locked reads.
  assign is_cpl      = {hdr_q[7], hdr_q[5:1]} == 6'b000101;
  assign cpl_valid_o = valid_q && is_cpl;
  assign cpl_first_o = first_q;
  assign cpl_last_o  = last_q;
  assign cpl_hdr_o   = hdr_q;
  assign cpl_keep_o  = keep_q;
  assign cpl_data_o  = data_q;

  // A request is judged with its last beat.
  assign judged    = valid_q && last_q && !is_cpl;
  assign waiting_d = waiting_q + 5'(push) - 5'(req_valid_o && req_ready_i);
  assign busy_o    = valid_q || mid_q || req_valid_o;

  nic_tlp_req #(.Parts(Parts)) u_req (
    .valid_i(judged), .hdr_i(hdr_q), .data_i(data_q[63:0]), .req_o(req),
    .pass_o(push), .reg_bad_o, .unsupported_o
  );

  nic_fifo #(.Width($bits(reg_req_t)), .Depth(ReqDepth)) u_fifo (
    .clk, .rst,
    .in_valid_i(push), .in_ready_o(fifo_ready), .in_data_i(req),
    .out_valid_o(req_valid_o), .out_ready_i(req_ready_i), .out_data_o(req_o)
  );

  if ((Parts & PartPush) != 0) begin : g_push
    logic unused_ready, unused_valid;
    nic_fifo #(.Width(512), .Depth(ReqDepth)) u_push (
      .clk, .rst, .in_valid_i(push && req.push), .in_ready_o(unused_ready),
      .in_data_i(data_q[511:0]), .out_valid_o(unused_valid),
      .out_ready_i(req_valid_o && req_ready_i && req_o.push), .out_data_o(push_wqe_o)
    );
  end else begin : g_no_push
    assign push_wqe_o = '0;
  end

  always_ff @(posedge clk) begin
    ready_q   <= !hold_i && waiting_d <= 5'(ReqDepth - Margin);
    waiting_q <= waiting_d;
    valid_q   <= s_axis_tlp_tvalid && ready_q;
    if (s_axis_tlp_tvalid && ready_q) begin
      mid_q   <= !s_axis_tlp_tlast;
      first_q <= !mid_q;
      last_q  <= s_axis_tlp_tlast;
      keep_q  <= s_axis_tlp_tkeep;
      data_q  <= s_axis_tlp_tdata;
      if (!mid_q) hdr_q <= s_axis_tlp_thdr;
    end
    if (rst) begin
      ready_q   <= 1'b0;
      mid_q     <= 1'b0;
      valid_q   <= 1'b0;
      waiting_q <= '0;
    end
  end

  `NIC_ASSERT(a_room, push |-> fifo_ready)
endmodule
