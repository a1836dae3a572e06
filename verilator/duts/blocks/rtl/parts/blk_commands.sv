/// Feeds requests of one beat to a block that owns a table. A table command waits until it is alone
/// in the block and is held on the table bus until answered; all other requests go to the block.

module blk_commands
  import nic_int_pkg::*;
  import blk_pkg::*;
#(
  // Value of byte 0 in a table command and in its result.
  parameter logic [7:0] TableOp = 8'd1
) (
  input  logic                          clk,
  input  logic                          rst,
  input  logic [$bits(table_op_t)-1:0]  s_axis_req_tdata,
  input  logic                          s_axis_req_tvalid,
  output logic                          s_axis_req_tready,
  // High: the block can take the offered request.
  input  logic                          can_i,
  // High: the offered request must be alone in the block, as table commands are.
  input  logic                          alone_i,
  // Pulse: a request that is no table command is taken.
  output logic                          take_o,
  // Table bus, for the commands.
  output tbl_req_t                      tbl_o,
  input  tbl_rsp_t                      tbl_i,
  // Pulse: data_i is the result of the oldest request.
  input  logic                          done_i,
  input  logic [$bits(table_res_t)-1:0] data_i,
  output logic [$bits(table_res_t)-1:0] m_axis_rsp_tdata,
  output logic                          m_axis_rsp_tlast,
  output logic                          m_axis_rsp_tvalid,
  input  logic                          m_axis_rsp_tready
);
  table_op_t op;
  tbl_rsp_t  rsp;
  logic      command, ready, take, done;

  assign op      = table_op_t'(s_axis_req_tdata);
  assign command = op.op == TableOp;
  assign take_o  = take && !command;
  assign s_axis_req_tready = ready && can_i;

  blk_flow #(.OutBytes($bits(table_res_t) / 8)) u_flow (
    .clk, .rst,
    .s_axis_req_tvalid(s_axis_req_tvalid && can_i), .s_axis_req_tready(ready),
    .alone_i  (command || alone_i),
    .take_o   (take),
    .done_i   (done || done_i),
    .data_i   (done ? table_res(TableOp, rsp) : data_i),
    .m_axis_rsp_tdata, .m_axis_rsp_tlast, .m_axis_rsp_tvalid, .m_axis_rsp_tready
  );

  blk_table u_table (
    .clk, .rst,
    .start_i (take && command),
    .req_i   (table_req(op)),
    .tbl_o, .tbl_i,
    .done_o  (done),
    .rsp_o   (rsp)
  );
endmodule
