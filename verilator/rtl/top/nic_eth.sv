/// The Ethernet pins: in builds with EthBits 256, each port has converters between the pins and the
/// beats of 512 bits inside; in builds with 512 bits, wires.

module nic_eth
  import nic_int_pkg::*;
#(
  // Number of Ethernet ports, 1 or 2.
  parameter int Ports = 1,
  // Bits of an Ethernet stream: 256 or 512.
  parameter int EthBits = EthW
) (
  input  logic                       clk,
  input  logic                       rst,
  input  logic [Ports*EthBits-1:0]   s_axis_eth_tdata,
  input  logic [Ports*EthBits/8-1:0] s_axis_eth_tkeep,
  input  logic [Ports-1:0]           s_axis_eth_tlast,
  input  logic [Ports-1:0]           s_axis_eth_tvalid,
  output logic [Ports*EthBits-1:0]   m_axis_eth_tdata,
  output logic [Ports*EthBits/8-1:0] m_axis_eth_tkeep,
  output logic [Ports-1:0]           m_axis_eth_tlast,
  output logic [Ports-1:0]           m_axis_eth_tvalid,
  input  logic [Ports-1:0]           m_axis_eth_tready,
  // Received frames, in beats of 512 bits.
  output logic [Ports*EthW-1:0]      rx_tdata_o,
  output logic [Ports*EthB-1:0]      rx_tkeep_o,
  output logic [Ports-1:0]           rx_tlast_o,
  output logic [Ports-1:0]           rx_tvalid_o,
  // Frames to send, in beats of 512 bits.
  input  logic [Ports*EthW-1:0]      tx_tdata_i,
  input  logic [Ports*EthB-1:0]      tx_tkeep_i,
  input  logic [Ports-1:0]           tx_tlast_i,
  input  logic [Ports-1:0]           tx_tvalid_i,
  output logic [Ports-1:0]           tx_tready_o,
  // High while the first half of a beat has arrived and the second has not.
  output logic                       busy_o
);
  if (EthBits == EthW) begin : g_wires
    logic unused_clock;
    assign unused_clock      = ^{clk, rst};
    assign rx_tdata_o        = s_axis_eth_tdata;
    assign rx_tkeep_o        = s_axis_eth_tkeep;
    assign rx_tlast_o        = s_axis_eth_tlast;
    assign rx_tvalid_o       = s_axis_eth_tvalid;
    assign m_axis_eth_tdata  = tx_tdata_i;
    assign m_axis_eth_tkeep  = tx_tkeep_i;
    assign m_axis_eth_tlast  = tx_tlast_i;
    assign m_axis_eth_tvalid = tx_tvalid_i;
    assign tx_tready_o       = m_axis_eth_tready;
    assign busy_o            = 1'b0;
  end else if (EthBits == EthW / 2) begin : g_halves
    localparam int W = EthBits;
    localparam int B = W / 8;

    logic [Ports-1:0] port_busy;

    assign busy_o = |port_busy;

    for (genvar p = 0; p < Ports; p++) begin : g_port
      nic_eth_pack u_pack (
        .clk, .rst,
        .s_axis_eth_tdata  (s_axis_eth_tdata[p*W +: W]),
        .s_axis_eth_tkeep  (s_axis_eth_tkeep[p*B +: B]),
        .s_axis_eth_tlast  (s_axis_eth_tlast[p]),
        .s_axis_eth_tvalid (s_axis_eth_tvalid[p]),
        .m_axis_eth_tdata  (rx_tdata_o[p*EthW +: EthW]),
        .m_axis_eth_tkeep  (rx_tkeep_o[p*EthB +: EthB]),
        .m_axis_eth_tlast  (rx_tlast_o[p]),
        .m_axis_eth_tvalid (rx_tvalid_o[p]),
        .busy_o            (port_busy[p])
      );

      nic_eth_unpack u_unpack (
        .clk, .rst,
        .s_axis_eth_tdata  (tx_tdata_i[p*EthW +: EthW]),
        .s_axis_eth_tkeep  (tx_tkeep_i[p*EthB +: EthB]),
        .s_axis_eth_tlast  (tx_tlast_i[p]),
        .s_axis_eth_tvalid (tx_tvalid_i[p]),
        .s_axis_eth_tready (tx_tready_o[p]),
        .m_axis_eth_tdata  (m_axis_eth_tdata[p*W +: W]),
        .m_axis_eth_tkeep  (m_axis_eth_tkeep[p*B +: B]),
        .m_axis_eth_tlast  (m_axis_eth_tlast[p]),
        .m_axis_eth_tvalid (m_axis_eth_tvalid[p]),
        .m_axis_eth_tready (m_axis_eth_tready[p])
      );
    end
  end
endmodule
