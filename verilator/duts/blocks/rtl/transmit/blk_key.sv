/// Test device for nic_key. Requests: check and translate a piece (op 0), commands of table Key (op
/// 1).

module blk_key
  import nic_int_pkg::*;
  import nic_pkg::*;
  import blk_pkg::*;
(
  input  logic          clk,
  input  logic          rst,
  input  logic [1151:0] s_axis_req_tdata,
  input  logic          s_axis_req_tlast,
  input  logic          s_axis_req_tvalid,
  output logic          s_axis_req_tready,
  output logic [1087:0] m_axis_rsp_tdata,
  output logic          m_axis_rsp_tlast,
  output logic          m_axis_rsp_tvalid,
  input  logic          m_axis_rsp_tready
);
  typedef struct packed {
    logic [63:0] addr;
    logic [31:0] len;
    logic [31:0] key;        // bits from the highest: variant, zero, index
    logic [39:0] rsvd;
    logic [7:0]  write;      // 1: the piece needs the right to write
    logic [7:0]  read;       // 1: the piece needs the right to read
    logic [7:0]  op;
  } piece_op_t;

  typedef struct packed {
    logic [63:0] addr;
    logic [47:0] rsvd;
    logic [7:0]  status;
    logic [7:0]  op;
  } piece_res_t;

  piece_op_t     p_op;
  piece_res_t    p_res;
  logic          take, key_ready, found;
  tbl_req_t      tbl;
  tbl_rsp_t      tbl_rsp;
  table_status_e tbl_status;
  status_e       status;
  logic [63:0]   addr;

  assign p_op = piece_op_t'(s_axis_req_tdata[$bits(piece_op_t)-1:0]);

  // The address is defined only with status Ok.
  assign p_res = '{op: 8'd0, status: status, rsvd: '0, addr: status == StatusOk ? addr : 64'd0};

  blk_commands u_commands (
    .clk, .rst,
    .s_axis_req_tdata(s_axis_req_tdata[$bits(table_op_t)-1:0]),
    .s_axis_req_tvalid, .s_axis_req_tready,
    .can_i    (key_ready), .alone_i(1'b0),
    .take_o   (take),
    .tbl_o    (tbl), .tbl_i(tbl_rsp),
    .done_i   (found),
    .data_i   (1088'(p_res)),
    .m_axis_rsp_tdata, .m_axis_rsp_tlast, .m_axis_rsp_tvalid, .m_axis_rsp_tready
  );

  assign tbl_rsp.status = 3'(tbl_status);
  assign tbl_rsp.rdata[1023:256] = '0;

  nic_key u_key (
    .clk, .rst,
    .tbl_i        (tbl),
    .tbl_done_o   (tbl_rsp.done),
    .tbl_status_o (tbl_status),
    .tbl_rdata_o  (tbl_rsp.rdata[255:0]),
    .valid_i      (take),
    .ready_o      (key_ready),
    .index_i      (p_op.key[15:0]),
    .variant_i    (p_op.key[31:24]),
    .addr_i       (p_op.addr),
    .len_i        (p_op.len[24:0]),
    .need_read_i  (p_op.read[0]),
    .need_write_i (p_op.write[0]),
    .valid_o      (found),
    .status_o     (status),
    .addr_o       (addr)
  );

  logic unused_bits;
  assign unused_bits = ^{s_axis_req_tlast, s_axis_req_tdata, p_op};
endmodule
