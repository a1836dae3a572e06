/// Test device for nic_account. Requests: frames on their way to a queue (op 0), commands of table
/// Account (op 1), writes of ACCOUNT_CREDIT, which are then read back (op 2). The request says how
/// many cycles a frame is held at the output, and how many cycles after leaving it is settled.

module blk_account
  import nic_int_pkg::*;
  import nic_pkg::*;
  import nic_rx_pkg::*;
  import blk_pkg::*;
(
  input  logic          clk,
  input  logic          rst,
  input  logic [1087:0] s_axis_req_tdata,
  input  logic          s_axis_req_tlast,
  input  logic          s_axis_req_tvalid,
  output logic          s_axis_req_tready,
  output logic [1087:0] m_axis_rsp_tdata,
  output logic          m_axis_rsp_tlast,
  output logic          m_axis_rsp_tvalid,
  input  logic          m_axis_rsp_tready
);
  typedef struct packed {
    logic [31:0] port_seq;
    logic [7:0]  passed;
    logic [7:0]  settle;     // cycles from when the frame leaves until it is settled
    logic [7:0]  hold;       // cycles for which the frame is held at the output
    logic [15:0] queue_f;
    logic [7:0]  slow_queue;
    logic [7:0]  account;
    logic [7:0]  account_en;
    logic [7:0]  op;
  } frame_op_t;

  typedef struct packed {
    logic [31:0] account_seq;
    logic [31:0] port_seq;
    logic [15:0] queue_f;
    logic [7:0]  slow;
    logic [7:0]  op;
  } frame_res_t;

  typedef struct packed {
    logic [63:0] value;
    logic [39:0] rsvd;
    logic [7:0]  pair;       // 8-byte unit: registers of two accounts
    logic [7:0]  we;
    logic [7:0]  op;
  } credit_t;

  frame_op_t  f_op;
  credit_t    c_op, c_q;
  frame_res_t f_res;
  logic       is_frame, is_credit, take, read_q;
  logic       in_ready, out_valid, out_ready, gone, settled, open_q, passed_q, unused_busy;
  logic [7:0] held_q, settle_q;
  rx_frame_t  frame, out;
  tbl_req_t   tbl;
  tbl_rsp_t   tbl_rsp;
  reg_bus_t   bus;
  logic [63:0] rdata;
  logic [7:0] pair;

  assign f_op      = frame_op_t'(s_axis_req_tdata[$bits(frame_op_t)-1:0]);
  assign c_op      = credit_t'(s_axis_req_tdata[$bits(credit_t)-1:0]);
  assign is_frame  = f_op.op == 8'd0;
  assign is_credit = f_op.op == 8'd2;

  assign pair      = read_q ? c_q.pair : c_op.pair;

  // Fields `hold`, `settle` and `passed` of the command travel in bits of the frame that
  // nic_account does not use.
  always_comb begin
    frame               = '0;
    frame.info.port_seq = f_op.port_seq;
    frame.info.queue_f  = f_op.queue_f;
    frame.info.hash     = {8'h0, f_op.passed, f_op.settle, f_op.hold};
    frame.info.draw     = '{account_en: f_op.account_en[0], account: f_op.account[5:0],
        slow_queue: f_op.slow_queue};
    f_res     = '{op: 8'd0, slow: 8'(out.slow), queue_f: out.info.queue_f,
        port_seq: out.info.port_seq,
                  account_seq: out.account_seq};
    bus       = '{we: take && is_credit ? c_op.we[1:0] : 2'b00, rd: read_q, wdata: c_op.value,
                  unit: RegAccountCreditBase[RegAw-1:3] + (RegAw-3)'(pair)};
  end

  assign out_ready = held_q >= out.info.hash[7:0];
  assign gone      = out_valid && out_ready;
  assign settled   = open_q && settle_q == 8'd0;

  blk_commands u_commands (
    .clk, .rst,
    .s_axis_req_tdata(s_axis_req_tdata[$bits(table_op_t)-1:0]),
    .s_axis_req_tvalid, .s_axis_req_tready,
    .can_i    (is_frame ? in_ready : !open_q), .alone_i(!is_frame),
    .take_o   (take),
    .tbl_o    (tbl), .tbl_i(tbl_rsp),
    .done_i   (read_q || gone),
    .data_i   (read_q ? 1088'({rdata, c_q.rsvd, 16'h0, 8'd2}) : 1088'(f_res)),
    .m_axis_rsp_tdata, .m_axis_rsp_tlast, .m_axis_rsp_tvalid, .m_axis_rsp_tready
  );

  nic_account u_account (
    .clk, .rst,
    .tbl_i       (tbl),
    .tbl_o       (tbl_rsp),
    .reg_i       (bus),
    .rdata_o     (rdata),
    .in_valid_i  (take && is_frame),
    .in_ready_o  (in_ready),
    .in_i        (frame),
    .out_valid_o (out_valid),
    .out_ready_i (out_ready),
    .out_o       (out),
    .settled_i   (settled),
    .passed_i    (passed_q),
    .busy_o      (unused_busy)
  );

  always_ff @(posedge clk) begin
    read_q <= take && is_credit;
    if (take) c_q <= c_op;
    held_q <= out_valid && !out_ready ? held_q + 8'd1 : 8'd0;
    if (settle_q != 8'd0) settle_q <= settle_q - 8'd1;
    if (settled) open_q <= 1'b0;
    if (gone && out.info.draw.account_en) begin
      open_q   <= 1'b1;
      passed_q <= out.info.hash[16];
      settle_q <= out.info.hash[15:8];
    end
    if (rst) begin
      read_q <= 1'b0;
      open_q <= 1'b0;
      held_q <= '0;
    end
  end

  logic unused_bits;
  assign unused_bits = ^{s_axis_req_tlast, s_axis_req_tdata, f_op, c_q, out};
endmodule
