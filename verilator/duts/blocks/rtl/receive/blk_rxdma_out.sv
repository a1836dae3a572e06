/// Collects the results of blk_rxdma's requests, one request after another: its writes, then a beat
/// with the other results.

module blk_rxdma_out
  import nic_int_pkg::*;
  import blk_writes_pkg::*;
  import blk_rxdma_pkg::*;
(
  input  logic       clk,
  input  logic       rst,
  input  logic [9:0] mps_i,
  input  logic [1:0] attr_i,
  // Outcomes, freed lines and beats, each in the order of requests. Events free no lines.
  input  logic       fate_valid_i,
  input  fate_t      fate_i,
  input  logic       freed_valid_i,
  input  freed_t     freed_i,
  input  logic       beat_valid_i,
  output logic       beat_ready_o,
  input  beat_t      beat_i,
  // Pulse: the last beat of the oldest request leaves.
  output logic       out_o,
  output logic [$bits(write_beat_t)-1:0] m_axis_rsp_tdata,
  output logic                           m_axis_rsp_tlast,
  output logic                           m_axis_rsp_tvalid,
  input  logic                           m_axis_rsp_tready
);
  typedef struct packed {
    logic [15:0] queue_f;
    logic [7:0]  delivered;
    logic [7:0]  kept;
    logic [7:0]  lines;
    logic [7:0]  freed;
    logic [7:0]  passed;
    logic [7:0]  settled;
    logic [7:0]  drop;
    logic [7:0]  cause;
    logic [7:0]  attr;
    logic [15:0] mps;
  } told_t;

  fate_t  fate_head;
  freed_t freed_head;
  beat_t  beat_head;
  logic   fate_there, freed_there, beat_there, over_q, told, unused_fate, unused_freed;
  told_t  tale;
  logic [15:0]      done_queue_q;
  logic [Ports-1:0] delivered_q;

  nic_fifo #(.Width($bits(fate_t)), .Depth(Depth)) u_fates (
    .clk, .rst, .in_valid_i(fate_valid_i), .in_ready_o(unused_fate), .in_data_i(fate_i),
    .out_valid_o(fate_there), .out_ready_i(out_o), .out_data_o(fate_head)
  );
  nic_fifo #(.Width($bits(freed_t)), .Depth(Depth)) u_freed (
    .clk, .rst, .in_valid_i(freed_valid_i), .in_ready_o(unused_freed), .in_data_i(freed_i),
    .out_valid_o(freed_there), .out_ready_i(out_o && !fate_head.event_f),
    .out_data_o(freed_head)
  );
  nic_fifo #(.Width($bits(beat_t)), .Depth(4)) u_beats (
    .clk, .rst, .in_valid_i(beat_valid_i), .in_ready_o(beat_ready_o), .in_data_i(beat_i),
    .out_valid_o(beat_there), .out_ready_i(m_axis_rsp_tready && fate_there && !told),
    .out_data_o(beat_head)
  );

  // The oldest request has no more writes: its last beat comes next.
  assign told  = over_q || |fate_head.drop;
  assign out_o = m_axis_rsp_tvalid && m_axis_rsp_tready && m_axis_rsp_tlast;

  always_comb begin
    tale = '{mps: 16'(mps_i), attr: 8'(attr_i), cause: 8'(fate_head.cause),
             drop: 8'(fate_head.drop), settled: 8'(fate_head.settled),
             passed: 8'(fate_head.passed), default: '0};
    if (over_q) {tale.queue_f, tale.delivered} = {done_queue_q, 8'(delivered_q)};
    if (!fate_head.event_f) begin
      tale.freed = 8'(freed_head.of);
      tale.lines = freed_head.lines;
      tale.kept  = 8'(freed_head.kept);
    end
  end

  assign m_axis_rsp_tvalid = fate_there &&
                             (told ? freed_there || fate_head.event_f : beat_there);
  assign m_axis_rsp_tlast  = told;
  assign m_axis_rsp_tdata  = told ? write_end(TlpW'(tale)) : write_beat(beat_head.tlp);

  always_ff @(posedge clk) begin
    if (m_axis_rsp_tvalid && m_axis_rsp_tready) begin
      over_q       <= !told && beat_head.done;
      done_queue_q <= beat_head.queue_f;
      delivered_q  <= beat_head.delivered;
    end
    if (rst) over_q <= 1'b0;
  end
endmodule
