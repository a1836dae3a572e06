/// Picks the next frame out of the ports' receive buffers, ports in turn.

module nic_rxpick
  import nic_rx_pkg::*;
#(
  // Ethernet ports, 1 or 2.
  parameter int Ports = 1
) (
  input  logic                  clk,
  input  logic                  rst,
  input  logic      [Ports-1:0] frame_valid_i,
  output logic      [Ports-1:0] frame_ready_o,
  input  rx_place_t [Ports-1:0] frame_place_i,
  input  rx_info_t  [Ports-1:0] frame_info_i,
  output logic                  out_valid_o,
  input  logic                  out_ready_i,
  output rx_frame_t             out_o
);
  logic pick, turn_q;

  assign out_valid_o = |frame_valid_i;

  always_comb begin
    pick = 1'b0;
    if (Ports == 2) pick = turn_q ? frame_valid_i[Ports-1] : !frame_valid_i[0];
    frame_ready_o = '0;
    frame_ready_o[Ports == 2 ? pick : 1'b0] = out_ready_i;
    out_o       = '0;
    out_o.port  = pick;
    out_o.place = frame_place_i[pick];
    out_o.info  = frame_info_i[pick];
  end

  always_ff @(posedge clk) begin
    if (out_valid_o && out_ready_i) turn_q <= !pick;
    if (rst) turn_q <= 1'b0;
  end
endmodule
