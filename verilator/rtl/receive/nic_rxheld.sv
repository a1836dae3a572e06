/// Counts the lines that frames hold in the receive buffers, for the pause thresholds: lines in
/// use, and lines already freed whose frame's completion entry was not yet accepted at the TLP port
/// (contract R3).

`include "nic_assert.svh"

module nic_rxheld
  import nic_int_pkg::*;
  import nic_rx_pkg::*;
#(
  // Number of Ethernet ports.
  parameter int Ports = 1
) (
  input  logic                        clk,
  input  logic                        rst,
  // Number of lines in use in each buffer.
  input  logic [Ports-1:0][LineW:0]   used_i,
  // Pulse: the writer has read a delivered frame of the port and frees free_lines_i lines.
  input  logic [Ports-1:0]            free_i,
  input  logic [7:0]                  free_lines_i,
  // Completion entry accepted at the TLP port in this cycle; those of frames come in the order of
  // free_i.
  input  left_t                       left_i,
  // Lines held: those in use, and those of frames whose completion entry has not left.
  output logic [Ports-1:0][LineW+1:0] held_o,
  // High while the completion entry of some freed frame has not left.
  output logic                        busy_o
);
  logic       push_ready, head_valid, pop, head_port, unused_bits;
  logic [7:0] head_lines;

  assign unused_bits = ^{push_ready, left_i};
  assign pop         = left_i.entry && !left_i.tx && !left_i.event_f;
  assign busy_o      = head_valid;

  // For each frame whose lines the writer has freed and whose completion entry has not left: port
  // and number of lines. Depth suffices for all frames in the writer and at the TLP port.
  nic_fifo #(.Width(9), .Depth(8)) u_lines (
    .clk, .rst,
    .in_valid_i  (|free_i),
    .in_ready_o  (push_ready),
    .in_data_i   ({!free_i[0], free_lines_i}),
    .out_valid_o (head_valid),
    .out_ready_i (pop),
    .out_data_o  ({head_port, head_lines})
  );

  for (genvar p = 0; p < Ports; p++) begin : g_port
    logic [LineW+1:0] given_q;
    logic             left;

    assign left      = pop && head_port == 1'(p);
    assign held_o[p] = (LineW+2)'(used_i[p]) + given_q;

    always_ff @(posedge clk) begin
      if (free_i[p] || left) begin
        given_q <= given_q + (free_i[p] ? (LineW+2)'(free_lines_i) : '0) -
                   (left ? (LineW+2)'(head_lines) : '0);
      end
      if (rst) given_q <= '0;
    end
  end

  `NIC_ASSERT(a_room, |free_i |-> push_ready)
  `NIC_ASSERT(a_head, pop |-> head_valid)
endmodule
