/// Round-robin arbiter: names the first request behind the one served last.
/// Latency: none, outputs follow req_i in the same cycle; what is served changes the order of the
/// next one.
/// Promises: a request that stays is served after Num - 1 others at most; without take_i the order
/// stays as it is.
/// Asserts: the request that is named is one (a_named).

`include "nic_assert.svh"

module nic_arb #(
  // Requests, 2 at least.
  parameter int Num = 4,
  localparam int Iw = $clog2(Num)
) (
  // Clock, and reset: synchronous, active high; request 0 is then first.
  input  logic           clk,
  input  logic           rst,
  // Requests.
  input  logic [Num-1:0] req_i,
  // The request that is named is served in this cycle.
  input  logic           take_i,
  // There is a request.
  output logic           valid_o,
  // The request whose turn it is; means nothing without valid_o.
  output logic [Iw-1:0]  index_o
);
  logic [Num-1:0] behind_q;   // ones in the places behind the one served last
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
