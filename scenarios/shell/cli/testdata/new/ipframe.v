// Headers beside their payload. The names of their fields do not begin like those of the handshake.
module ipframe (
  input         clk,
  input         rst,
  input         s_ip_hdr_valid,
  output        s_ip_hdr_ready,
  input  [15:0] s_ip_length,
  input  [31:0] s_ip_dest_ip,
  input  [47:0] s_eth_dest_mac,
  input  [7:0]  s_ip_payload_axis_tdata,
  input         s_ip_payload_axis_tvalid,
  output        s_ip_payload_axis_tready,
  input         s_ip_payload_axis_tlast,
  input         s_ip_payload_axis_tuser,
  output        m_eth_hdr_valid,
  input         m_eth_hdr_ready,
  output [47:0] m_eth_dest_mac,
  output [7:0]  m_eth_payload_axis_tdata,
  output        m_eth_payload_axis_tvalid,
  input         m_eth_payload_axis_tready,
  output        m_eth_payload_axis_tlast,
  output        m_eth_payload_axis_tuser
);
  assign s_ip_hdr_ready = m_eth_hdr_ready, m_eth_hdr_valid = s_ip_hdr_valid, m_eth_dest_mac = s_eth_dest_mac;
  assign s_ip_payload_axis_tready = m_eth_payload_axis_tready, m_eth_payload_axis_tvalid = s_ip_payload_axis_tvalid;
  assign m_eth_payload_axis_tdata = s_ip_payload_axis_tdata, m_eth_payload_axis_tlast = s_ip_payload_axis_tlast;
  assign m_eth_payload_axis_tuser = s_ip_payload_axis_tuser;
endmodule
