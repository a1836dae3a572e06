/// Round-robin arbiter: of the requests that stand it names the first one after the last that was
/// served. `take_i` says that the one named is served in this cycle.

module nic_arb #(
  // Requests, 2 at least.
  parameter int Num = 4,
  localparam int Iw = $clog2(Num)
) (
  input  logic           clk,
  input  logic           rst,
  input  logic [Num-1:0] req_i,
  input  logic           take_i,
  output logic           valid_o,
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
endmodule
