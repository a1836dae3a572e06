/// Holds a table command on the table bus until its owner answers.

module blk_table
  import nic_int_pkg::*;
(
  input  logic     clk,
  input  logic     rst,
  // Pulse: starts the command req_i.
  input  logic     start_i,
  input  tbl_req_t req_i,
  output tbl_req_t tbl_o,
  input  tbl_rsp_t tbl_i,
  // Pulse: the command has ended, with answer rsp_o.
  output logic     done_o,
  output tbl_rsp_t rsp_o
);
  tbl_req_t req_q;
  logic     valid_q;

  always_comb begin
    tbl_o       = req_q;
    tbl_o.valid = valid_q;
    rsp_o       = tbl_i;
    if (req_q.write || tbl_i.status != 3'd0) rsp_o.rdata = '0;  // the table leaves it undefined
  end

  assign done_o = valid_q && tbl_i.done;

  always_ff @(posedge clk) begin
    if (start_i) req_q <= req_i;
    valid_q <= start_i || (valid_q && !tbl_i.done);
    if (rst) valid_q <= 1'b0;
  end

  logic unused_valid;
  assign unused_valid = req_q.valid;
endmodule
