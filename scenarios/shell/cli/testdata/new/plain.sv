// Pin names end with their direction and have no prefix for the stream.
module plain (
  input  logic        clk_i, rst_ni,
  input  logic        enable_i,
  input  logic [2:0]  mode_i,
  input  logic        valid_i,
  output logic        ready_o,
  input  logic [31:0] data_i,
  input  logic        last_i,
  output logic        valid_o,
  input  logic        ready_i,
  output logic [31:0] data_o,
  output logic        last_o,
  output logic        busy_o
);
  assign ready_o = ready_i & enable_i, valid_o = valid_i, data_o = data_i, last_o = last_i, busy_o = valid_i;
endmodule
