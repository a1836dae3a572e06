/// Feeds frames beat by beat to a checker, whose result comes a fixed number of cycles after a
/// frame's last beat. The frame's side-band word supplies what the parser would.

module blk_frames
  import nic_int_pkg::*;
  import nic_rx_pkg::*;
#(
  // Sizes of the side-band word and of a result, bytes.
  parameter int SideBytes = 8,
  parameter int OutBytes = 8,
  // Cycles from a frame's last beat to its result.
  parameter int Latency = 3
) (
  input  logic                   clk,
  input  logic                   rst,
  input  logic [EthB-1:0]        s_axis_req_tkeep,
  input  logic [8*SideBytes-1:0] s_axis_req_tuser,
  input  logic                   s_axis_req_tlast,
  input  logic                   s_axis_req_tvalid,
  output logic                   s_axis_req_tready,
  // The beat taken in this cycle; its bytes are those of the input stream.
  output rx_beat_t               beat_o,
  // Side-band word of the frame whose result is on data_i in this cycle.
  output logic [8*SideBytes-1:0] side_o,
  input  logic [8*OutBytes-1:0]  data_i,
  output logic [8*OutBytes-1:0]  m_axis_rsp_tdata,
  output logic                   m_axis_rsp_tlast,
  output logic                   m_axis_rsp_tvalid,
  input  logic                   m_axis_rsp_tready
);
  localparam logic [13:0] BaseMax = 14'(nic_pkg::FrameMax + EthB);

  logic                   mid_q;
  logic [13:0]            base_q;
  logic [Latency-1:0]     done_q;
  logic [8*SideBytes-1:0] side_q [Latency];
  logic                   room, take, unused_idle;

  assign s_axis_req_tready = room || mid_q;
  assign take              = s_axis_req_tvalid && s_axis_req_tready;
  assign side_o            = side_q[Latency-1];
  assign m_axis_rsp_tlast  = 1'b1;

  always_comb begin
    beat_o       = '0;
    beat_o.valid = take;
    beat_o.first = !mid_q;
    beat_o.last  = s_axis_req_tlast;
    beat_o.base  = mid_q ? base_q : 14'h0;
    beat_o.bytes = 7'($countones(s_axis_req_tkeep));
  end

  blk_credit #(.OutBytes(OutBytes)) u_credit (
    .clk, .rst,
    .room_o (room),
    .take_i (take && !mid_q),
    .idle_o (unused_idle),
    .done_i (done_q[Latency-1]),
    .data_i, .m_axis_rsp_tdata, .m_axis_rsp_tvalid, .m_axis_rsp_tready
  );

  always_ff @(posedge clk) begin
    if (take) begin
      mid_q  <= !s_axis_req_tlast;
      base_q <= beat_o.base == BaseMax ? BaseMax : beat_o.base + 14'(EthB);
    end
    done_q    <= {done_q[Latency-2:0], take && s_axis_req_tlast};
    side_q[0] <= s_axis_req_tuser;
    for (int i = 1; i < Latency; i++) side_q[i] <= side_q[i-1];
    if (rst) begin
      mid_q  <= 1'b0;
      done_q <= '0;
    end
  end
endmodule
