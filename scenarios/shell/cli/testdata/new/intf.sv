interface st_if;
  logic valid, ready;
endinterface

module intf (input logic clk, st_if a);
  assign a.ready = clk;
endmodule
