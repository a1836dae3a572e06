/// Lines that frames hold in the receive buffers, for the pause thresholds: those in use, and those
/// given back whose completion entry has not left (contract R3).

module nic_rxheld
  import nic_rx_pkg::*;
#(
  // Ethernet ports.
  parameter int Ports = 1
) (
  input  logic                        clk,
  input  logic                        rst,
  // Lines in use in each buffer.
  input  logic [Ports-1:0][LineW:0]   used_i,
  // A delivered frame's lines are given back; its completion entry left.
  input  logic [Ports-1:0]            free_i,
  input  logic [7:0]                  free_lines_i,
  input  logic [Ports-1:0]            left_i,
  output logic [Ports-1:0][LineW+1:0] held_o
);
  logic       push_ready, head_valid, unused_fifo;
  logic [7:0] head;

  assign unused_fifo = ^{push_ready, head_valid};

  // As many as the writer has under way.
  nic_fifo #(.Width(8), .Depth(8)) u_lines (
    .clk, .rst,
    .in_valid_i  (|free_i),
    .in_ready_o  (push_ready),
    .in_data_i   (free_lines_i),
    .out_valid_o (head_valid),
    .out_ready_i (|left_i),
    .out_data_o  (head)
  );

  for (genvar p = 0; p < Ports; p++) begin : g_port
    logic [LineW+1:0] given_q;

    assign held_o[p] = (LineW+2)'(used_i[p]) + given_q;

    always_ff @(posedge clk) begin
      if (free_i[p] || left_i[p]) begin
        given_q <= given_q + (free_i[p] ? (LineW+2)'(free_lines_i) : '0) -
                   (left_i[p] ? (LineW+2)'(head) : '0);
      end
      if (rst) given_q <= '0;
    end
  end

`ifndef SYNTHESIS
  a_room: assert property (@(posedge clk) disable iff (rst) |free_i |-> push_ready);
  a_head: assert property (@(posedge clk) disable iff (rst) |left_i |-> head_valid);
`endif
endmodule
