/// Copy engine: takes work entries; reads their sources, writes their destinations, and sends
/// messages that invalidate cache lines. Channels take turns with each read, each TLP and each
/// ended entry.

`include "nic_assert.svh"

module nic_copy
  import nic_int_pkg::*, nic_tx_pkg::*, nic_copy_pkg::*;
(
  input  logic       clk,
  input  logic       rst,
  // Maximum payload size, bytes.
  input  logic [9:0] mps_i,
  // PCIe attributes of TLPs that carry data: RO in bit 1, NS in bit 0.
  input  logic [1:0] attr_i,
  // A function-level reset is in progress.
  input  logic       flr_i,
  // Entry to execute; the sender has checked that its channel has a free slot.
  input  logic       job_valid_i,
  input  copy_job_t  job_i,
  // Read client: requests, and their responses.
  output rd_req_t    rd_req_o,
  output logic       rd_req_valid_o,
  input  logic       rd_req_ready_i,
  input  rd_rsp_t    rd_rsp_i,
  // Writes and messages.
  output tlp_beat_t  tlp_o,
  output logic       tlp_valid_o,
  input  logic       tlp_ready_i,
  // Pulse: in the cycle before, a TLP of the engine was accepted at the TLP port.
  input  logic       left_i,
  // Entries that have ended, in order within a channel.
  output logic       end_valid_o,
  input  logic       end_ready_i,
  output tx_id_t     end_id_o,
  // Bytes written in this cycle, to be added to COPY_BYTES.
  output logic [7:0] bytes_o
);
  logic [Channels-1:0] rd_valid, rd_take, done, step_valid, step_take, out, end_valid, end_take;
  copy_rd_t            rd_req [Channels];
  logic [Lw+6:0]       base [Channels];
  copy_step_t          step [Channels];
  copy_step_t          turn_step;
  copy_rd_t            turn_rd;
  tx_id_t              end_id [Channels];
  logic [Chw-1:0]      rd_turn, rsp_chan, done_chan, out_turn, end_turn, read_chan, out_chan;
  logic                rd_any, rd_go, place_done, go, any_end, out_end;
  logic [Lw-1:0]       read_line;
  logic [15:0]         cookie;
  logic [12:0]         done_len;
  logic [7:0]          done_status;
  rd_req_t             req_q;
  logic                req_valid_q;
  logic                unused_cookie;

  logic                clk_g, flr_q;
  logic [Channels-1:0] on;

  // The clock stops while no channel has an entry.
  nic_clkgate u_gate (
    .clk, .test_en_i(1'b0), .clk_o(clk_g),
    .enable_i(rst || job_valid_i || on != '0)
  );

  always_ff @(posedge clk_g) flr_q <= flr_i;

  for (genvar c = 0; c < Channels; c++) begin : g_chan
    nic_copy_chan u_chan (
      .clk(clk_g), .rst, .on_o(on[c]), .mps_i, .flr_i(flr_q),
      .job_valid_i(job_valid_i && job_i.id.qid[Chw-1:0] == Chw'(c)),
      .job_i,
      .rd_valid_o(rd_valid[c]), .rd_take_i(rd_take[c]), .rd_o(rd_req[c]),
      .look_i(rd_rsp_i.cookie[Cw-1:0]), .base_o(base[c]), .done_i(done[c]),
      .done_slot_i(cookie[Cw-1:0]), .done_len_i(done_len), .done_status_i(done_status),
      .step_valid_o(step_valid[c]), .step_take_i(step_take[c]), .step_o(step[c]), .out_i(out[c]),
      .end_valid_o(end_valid[c]), .end_take_i(end_take[c]), .end_id_o(end_id[c])
    );
    assign rd_take[c]   = rd_go && rd_turn == Chw'(c);
    assign done[c]      = place_done && done_chan == Chw'(c);
    assign step_take[c] = go && step_valid[c] && out_turn == Chw'(c);
    assign out[c]       = out_end && out_chan == Chw'(c);
    assign end_take[c]  = any_end && end_ready_i && end_turn == Chw'(c);
  end

  always_comb begin
    turn_step = '0;
    if (|step_valid) turn_step = step[out_turn];
    turn_rd = '0;
    if (rd_any) turn_rd = rd_req[rd_turn];
    end_id_o = '0;
    if (any_end) end_id_o = end_id[end_turn];
  end

  // Read requests: channels with a chunk to read take turns.
  nic_arb #(.Num(Channels)) u_rd_arb (
    .clk(clk_g), .rst, .req_i(rd_valid), .take_i(rd_go), .valid_o(rd_any), .index_o(rd_turn)
  );
  assign rd_go          = rd_any && (!req_valid_q || rd_req_ready_i);
  assign rd_req_o       = req_q;
  assign rd_req_valid_o = req_valid_q;

  always_ff @(posedge clk_g) begin
    if (rd_go) begin
      req_q <= '{addr: turn_rd.addr, len: 14'(turn_rd.len), cookie: 16'({rd_turn, turn_rd.slot})};
    end
    if (rd_go)               req_valid_q <= 1'b1;
    else if (rd_req_ready_i) req_valid_q <= 1'b0;
    if (rst) req_valid_q <= 1'b0;
  end

  // Buffer: a byte lies at the same offset in its 128-byte line as at the destination.
  logic [1:0]          we;
  logic [Lw-2:0]       even_a, odd_a;
  logic [TlpW-1:0]     even_m, odd_m, wdata, even_d, odd_d;
  logic [1:0][Chw-1:0] we_chan_q;          // channels of the responses in nic_place's stages
  logic                read;

  assign rsp_chan      = rd_rsp_i.cookie[Cw +: Chw];
  assign done_chan     = cookie[Cw +: Chw];
  assign unused_cookie = ^cookie;

  nic_place #(.Aw(Lw + 7), .Client(RdCopy)) u_place (
    .clk(clk_g), .rst, .rsp_i(rd_rsp_i), .base_i(base[rsp_chan]), .we_o(we), .even_addr_o(even_a),
    .odd_addr_o(odd_a), .even_mask_o(even_m), .odd_mask_o(odd_m), .data_o(wdata),
    .done_o(place_done), .cookie_o(cookie), .done_len_o(done_len), .status_o(done_status)
  );

  always_ff @(posedge clk_g) we_chan_q <= {we_chan_q[0], rsp_chan};

  nic_ram_mask #(.Width(TlpW), .Depth(Channels * Lines / 2)) u_even (
    .clk(clk_g), .we_i(we[0]), .waddr_i({we_chan_q[1], even_a}), .wdata_i(wdata), .wmask_i(even_m),
    .re_i(read && !read_line[0]), .raddr_i({read_chan, read_line[Lw-1:1]}), .rdata_o(even_d)
  );
  nic_ram_mask #(.Width(TlpW), .Depth(Channels * Lines / 2)) u_odd (
    .clk(clk_g), .we_i(we[1]), .waddr_i({we_chan_q[1], odd_a}), .wdata_i(wdata), .wmask_i(odd_m),
    .re_i(read && read_line[0]), .raddr_i({read_chan, read_line[Lw-1:1]}), .rdata_o(odd_d)
  );

  nic_copy_out u_out (
    .clk(clk_g), .rst, .attr_i, .step_valid_i(step_valid), .step_i(turn_step), .go_o(go),
    .turn_o(out_turn),
    .read_o(read), .read_chan_o(read_chan), .read_line_o(read_line), .even_i(even_d),
    .odd_i(odd_d), .tlp_o, .tlp_valid_o, .tlp_ready_i, .left_i, .end_o(out_end),
    .end_chan_o(out_chan), .bytes_o
  );

  // Ended entries: channels that have one take turns at the output.
  nic_arb #(.Num(Channels)) u_end_arb (
    .clk(clk_g), .rst, .req_i(end_valid), .take_i(end_ready_i), .valid_o(any_end),
    .index_o(end_turn)
  );
  assign end_valid_o = any_end;

  `NIC_HELD(a_req_held, rd_req_valid_o, rd_req_ready_i, rd_req_o)
endmodule
