/// Ingress of a port of 256 bits: two beats become one of 512. Nothing is held back; a beat leaves
/// in the cycle in which its second half, or the frame's last beat, arrives.

module nic_eth_pack
  import nic_int_pkg::*;
(
  input  logic              clk,
  input  logic              rst,
  // Beats of 256 bits.
  input  logic [EthW/2-1:0] s_axis_eth_tdata,
  input  logic [EthB/2-1:0] s_axis_eth_tkeep,
  input  logic              s_axis_eth_tlast,
  input  logic              s_axis_eth_tvalid,
  // Beats of 512 bits.
  output logic [EthW-1:0]   m_axis_eth_tdata,
  output logic [EthB-1:0]   m_axis_eth_tkeep,
  output logic              m_axis_eth_tlast,
  output logic              m_axis_eth_tvalid,
  // High while the first half of a beat waits for the second.
  output logic              busy_o
);
  logic              half_q;
  logic [EthW/2-1:0] low_q;

  assign m_axis_eth_tdata  = {s_axis_eth_tdata, half_q ? low_q : s_axis_eth_tdata};
  assign m_axis_eth_tkeep  = half_q ? {s_axis_eth_tkeep, {EthB/2{1'b1}}} : EthB'(s_axis_eth_tkeep);
  assign m_axis_eth_tlast  = s_axis_eth_tlast;
  assign m_axis_eth_tvalid = s_axis_eth_tvalid && (half_q || s_axis_eth_tlast);
  assign busy_o            = half_q;

  always_ff @(posedge clk) begin
    if (s_axis_eth_tvalid) begin
      half_q <= !half_q && !s_axis_eth_tlast;
      if (!half_q) low_q <= s_axis_eth_tdata;
    end
    if (rst) half_q <= 1'b0;
  end
endmodule
