/// Test device for nic_rxdma behind nic_rxtake. Requests: frames in the receive buffers of two
/// ports, and Events, with the state of their queues; results: the writes of each and its other
/// effects. Successive requests overlap unless they change MPS, attributes or flr.

module blk_rxdma
  import nic_int_pkg::*;
  import nic_pkg::*;
  import nic_rx_pkg::*;
  import blk_writes_pkg::*;
  import blk_rxdma_pkg::*;
(
  input  logic                          clk,
  input  logic                          rst,
  input  logic [$bits(op_t)-1:0]        s_axis_req_tdata,
  input  logic                          s_axis_req_tlast,
  input  logic                          s_axis_req_tvalid,
  output logic                          s_axis_req_tready,
  output logic [$bits(write_beat_t)-1:0] m_axis_rsp_tdata,
  output logic                          m_axis_rsp_tlast,
  output logic                          m_axis_rsp_tvalid,
  input  logic                          m_axis_rsp_tready
);
  localparam int Cw    = $clog2(Depth) + 1;

  op_t        op, hand_q;
  rx_desc_t   desc_q;
  logic [9:0] mps_q;
  logic [1:0] attr_q;
  logic [7:0] age_q;
  logic [Cw-1:0] count_q;
  logic       same, offer, load, out, flr_q;

  assign op    = op_t'(s_axis_req_tdata);
  assign same  = op.mps[9:0] == mps_q && op.attr[1:0] == attr_q && op.flr[0] == flr_q;
  assign offer = s_axis_req_tvalid && same && count_q != Cw'(Depth);
  assign s_axis_req_tready = load;

  // Outputs of nic_rxtake.
  logic                   take_desc, take_event, settled, passed, job_valid, job_ready;
  logic [Ports-1:0][31:0] evt;
  logic [Ports-1:0]       disabled;
  rx_job_t                job;
  logic                   unused_ready, unused_busy, unused_wake;
  logic [5:0]             unused_ctx, unused_queue;

  nic_rxtake #(.Ports(Ports)) u_take (
    .clk, .rst, .flr_i(flr_q),
    .frame_valid_i(offer && !op.kind[0]), .frame_ready_o(unused_ready), .frame_i(frame_of(op)),
    .ctx_read_o(load), .ctx_queue_o(unused_ctx), .ctx_i(ctx_of(hand_q)), .queue_o(unused_queue),
    .state_i(queue_state_e'(hand_q.state)), .pi_i(hand_q.pi), .ci_i(hand_q.ci),
    .cqi_i(hand_q.cqi), .take_desc_o(take_desc), .take_event_o(take_event),
    .event_valid_i(offer && op.kind[0]), .event_queue_i(op.queue_f[5:0]),
    .event_index_i(hand_q.event_index), .event_status_i(status_e'(hand_q.event_status)),
    .desc_there_i(age_q >= hand_q.late),
    .job_valid_o(job_valid), .job_ready_i(job_ready), .job_o(job),
    .settled_o(settled), .passed_o(passed), .port_evt_o(evt), .disabled_o(disabled),
    .busy_o(unused_busy), .wake_o(unused_wake)
  );

  always_ff @(posedge clk) begin
    if (load) hand_q <= op;
    age_q   <= load ? 8'd0 : age_q + 8'(age_q != 8'hff);
    if (take_desc) desc_q <= hand_q.desc;
    count_q <= count_q + Cw'(load) - Cw'(out);
    if (s_axis_req_tvalid && count_q == '0) begin
      mps_q  <= op.mps[9:0];
      attr_q <= op.attr[1:0];
      flr_q  <= op.flr[0];
    end
    if (rst) count_q <= '0;
  end

  // Counters step one cycle after nic_rxtake has decided; the rest of the outcome is delayed to
  // match.
  fate_t fate;
  logic  took_q, event_q, settled_q, passed_q, fate_valid;

  always_ff @(posedge clk) begin
    took_q    <= take_desc && !rst;
    event_q   <= take_event && !rst;
    settled_q <= settled;
    passed_q  <= settled && passed;
  end

  always_comb begin
    fate = '{event_f: event_q, settled: settled_q, passed: passed_q, default: '0};
    for (int p = 0; p < Ports; p++) begin
      for (int c = 0; c < 32; c++) if (evt[p][c]) fate.cause = 5'(c);
      if (disabled[p]) fate.cause = 5'(CntRxDropDisabled);
      fate.drop[p] = |evt[p] || disabled[p];
    end
  end
  assign fate_valid = took_q || event_q || |fate.drop;

  // nic_rxdma, and the buffers that it reads.
  logic [Ports-1:0]           read, free, kept;
  logic [LineW-1:0]           line;
  logic [Ports-1:0][EthW-1:0] even, odd;
  logic [7:0]                 lines;
  beat_t                      beat;
  logic                       tlp_valid, tlp_ready, unused_dma;

  nic_rxdma #(.Ports(Ports)) u_dma (
    .clk, .rst, .mps_i(mps_q), .attr_i(attr_q), .job_valid_i(job_valid), .job_ready_o(job_ready),
    .job_i(job), .desc_i(desc_q), .read_o(read), .read_line_o(line), .even_i(even), .odd_i(odd),
    .free_o(free), .free_frame_o(kept), .free_lines_o(lines), .tlp_o(beat.tlp),
    .tlp_valid_o(tlp_valid), .tlp_ready_i(tlp_ready), .done_o(beat.done),
    .done_queue_o(beat.queue_f), .delivered_o(beat.delivered), .busy_o(unused_dma)
  );

  for (genvar p = 0; p < Ports; p++) begin : g_port
    blk_lines #(.Port(1'(p))) u_lines (
      .clk, .read_i(read[p]), .line_i(line), .even_o(even[p]), .odd_o(odd[p])
    );
  end

  blk_rxdma_out u_out (
    .clk, .rst, .mps_i(mps_q), .attr_i(attr_q), .fate_valid_i(fate_valid), .fate_i(fate),
    .freed_valid_i(|free), .freed_i({free, kept, lines}), .beat_valid_i(tlp_valid),
    .beat_ready_o(tlp_ready), .beat_i(beat), .out_o(out), .m_axis_rsp_tdata, .m_axis_rsp_tlast,
    .m_axis_rsp_tvalid, .m_axis_rsp_tready
  );

  logic unused_bits;
  assign unused_bits = ^{s_axis_req_tlast, op, hand_q};
endmodule
