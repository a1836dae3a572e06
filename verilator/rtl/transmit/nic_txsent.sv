/// Counts departures for each port: frames and their bytes, with a frame's last beat, and pause
/// frames.

module nic_txsent
  import nic_pkg::*;
#(
  // Number of Ethernet ports, 1 or 2.
  parameter int Ports = 1
) (
  input  logic                   clk,
  input  logic                   rst,
  // Pulse: a beat of bytes_i bytes left on a port; last_i: the frame's last.
  input  logic [Ports-1:0]       sent_i,
  input  logic [Ports-1:0][6:0]  bytes_i,
  input  logic [Ports-1:0]       last_i,
  // Pulse: a pause frame left on a port.
  input  logic [Ports-1:0]       pause_i,
  // Pulses of each port's counters.
  output logic [Ports-1:0][31:0] evt_o,
  // Bytes to add to TX_BYTES.
  output logic [Ports-1:0][31:0] bytes_o
);
  logic [Ports-1:0][31:0] sum_q;  // bytes of the frame's earlier beats

  always_ff @(posedge clk) begin
    for (int p = 0; p < Ports; p++) begin
      evt_o[p]              <= '0;
      evt_o[p][CntTxPause]  <= pause_i[p] && !rst;
      evt_o[p][CntTxFrames] <= sent_i[p] && last_i[p] && !rst;
      bytes_o[p]            <= sent_i[p] && last_i[p] && !rst ? sum_q[p] + 32'(bytes_i[p]) : '0;
      if (sent_i[p]) sum_q[p] <= last_i[p] ? '0 : sum_q[p] + 32'(bytes_i[p]);
      if (rst)       sum_q[p] <= '0;
    end
  end
endmodule
