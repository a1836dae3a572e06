/// Egress of a port of 256 bits: a beat of 512 leaves as two, or as one if that holds the rest of
/// the frame. The input beat is accepted with its last half, so the transmit path sees a frame as
/// sent only when the pins have accepted it.

`include "nic_assert.svh"

module nic_eth_unpack
  import nic_int_pkg::*;
(
  input  logic              clk,
  input  logic              rst,
  // Beats of 512 bits, accepted with their last half.
  input  logic [EthW-1:0]   s_axis_eth_tdata,
  input  logic [EthB-1:0]   s_axis_eth_tkeep,
  input  logic              s_axis_eth_tlast,
  input  logic              s_axis_eth_tvalid,
  output logic              s_axis_eth_tready,
  // Beats of 256 bits.
  output logic [EthW/2-1:0] m_axis_eth_tdata,
  output logic [EthB/2-1:0] m_axis_eth_tkeep,
  output logic              m_axis_eth_tlast,
  output logic              m_axis_eth_tvalid,
  input  logic              m_axis_eth_tready
);
  localparam int W = EthW / 2;
  localparam int B = EthB / 2;

  logic high_q, final_part;

  // tkeep is contiguous, so the second half is empty if its first byte is.
  assign final_part        = high_q || !s_axis_eth_tkeep[B];
  assign m_axis_eth_tdata  = high_q ? s_axis_eth_tdata[W +: W] : s_axis_eth_tdata[0 +: W];
  assign m_axis_eth_tkeep  = high_q ? s_axis_eth_tkeep[B +: B] : s_axis_eth_tkeep[0 +: B];
  assign m_axis_eth_tlast  = s_axis_eth_tlast && final_part;
  assign m_axis_eth_tvalid = s_axis_eth_tvalid;
  assign s_axis_eth_tready = m_axis_eth_tready && final_part;

  always_ff @(posedge clk) begin
    if (m_axis_eth_tvalid && m_axis_eth_tready) high_q <= !final_part;
    if (rst) high_q <= 1'b0;
  end

  `NIC_HELD(a_held, m_axis_eth_tvalid, m_axis_eth_tready,
    {m_axis_eth_tdata, m_axis_eth_tkeep, m_axis_eth_tlast})
  `NIC_KEEP(a_keep, m_axis_eth_tvalid, m_axis_eth_tkeep, m_axis_eth_tlast)
  `NIC_ASSERT(a_bytes, m_axis_eth_tvalid |-> m_axis_eth_tkeep != '0)
endmodule
