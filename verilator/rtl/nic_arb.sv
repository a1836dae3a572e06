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
  logic [Iw-1:0]  last_q;
  logic [Num-1:0] after;    // requests behind the one served last

  assign valid_o = |req_i;

  always_comb begin
    after = '0;
    for (int i = 0; i < Num; i++) after[i] = req_i[i] && i > int'(last_q);
    index_o = '0;
    for (int i = Num - 1; i >= 0; i--) if (|after ? after[i] : req_i[i]) index_o = Iw'(i);
  end

  always_ff @(posedge clk) begin
    if (take_i && valid_o) last_q <= index_o;
    if (rst) last_q <= '0;
  end
endmodule
