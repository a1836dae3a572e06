/// Round-robin arbiter: selects the first request after the one served last.
/// Latency: none, outputs follow req_i in the same cycle; a served request moves to the end of the
/// order.
/// Promises: a request that stays is served after Num - 1 others at most; without take_i the order
/// stays unchanged.
/// Asserts: the selected request is asserted (a_named).

`include "nic_assert.svh"

module nic_arb #(
  // Number of requests, 2 or more.
  parameter int Num = 4,
  localparam int Iw = $clog2(Num)
) (
  // Clock, and reset: synchronous, active high; request 0 is then first.
  input  logic           clk,
  input  logic           rst,
  // One bit a request; high while it waits to be served.
  input  logic [Num-1:0] req_i,
  // High in a cycle in which the selected request is served.
  input  logic           take_i,
  // High while some request waits.
  output logic           valid_o,
  // Number of the selected request; undefined while valid_o is low.
  output logic [Iw-1:0]  index_o
);
  logic [Num-1:0] behind_q;   // ones at the requests numbered above the one served last
  logic [Num-1:0] pick;

  assign valid_o = |req_i;

  always_comb begin
    pick    = |(req_i & behind_q) ? req_i & behind_q : req_i;
    index_o = '0;
    for (int i = Num - 1; i >= 0; i--) if (pick[i]) index_o = Iw'(i);
  end

  always_ff @(posedge clk) begin
    if (take_i && valid_o) behind_q <= {Num{1'b1}} << index_o << 1;
    if (rst) behind_q <= '0;
  end

  `NIC_ASSERT(a_named, valid_o |-> req_i[index_o])
endmodule
