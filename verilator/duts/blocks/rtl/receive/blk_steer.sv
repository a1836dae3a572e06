/// Test device for nic_steer. Requests: compare a key with the rules (op 0), commands of table Rule
/// (op 1), count a hit (op 2), read a rule's hits (op 3).

module blk_steer
  import nic_int_pkg::*;
  import nic_pkg::*;
  import nic_rx_pkg::*;
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
  typedef enum logic [7:0] {OpFrame, OpTable, OpHit, OpRead} op_e;

  typedef struct packed {
    steer_key_t  key;
    logic [47:0] rsvd;
    logic [7:0]  rule;
    logic [7:0]  op;
  } frame_op_t;

  typedef struct packed {
    logic [63:0] hits;
    logic [7:0]  slow_queue;
    logic [7:0]  account;
    logic [7:0]  account_en;
    logic [7:0]  rss_log;
    logic [15:0] queue_f;
    logic [7:0]  action;
    logic [7:0]  rule;
    logic [7:0]  hit;
    logic [7:0]  op;
  } frame_res_t;

  frame_op_t  f_op;
  frame_res_t f_res;
  logic       take;
  tbl_req_t   tbl;
  tbl_rsp_t   tbl_rsp;
  rx_steer_t  steer;
  logic [2:0] busy_q;
  logic [7:0] op_q [3], rule_q [2];
  logic [63:0] hits;

  assign f_op = frame_op_t'(s_axis_req_tdata[$bits(frame_op_t)-1:0]);

  // Fields that do not apply are zero: all if no rule matched, most if the frame goes to no queue.
  always_comb begin
    f_res    = '0;
    f_res.op = op_q[2];
    if (op_q[2] == OpRead) f_res.hits = hits;
    if (op_q[2] == OpFrame && steer.hit) begin
      f_res.hit    = 8'd1;
      f_res.rule   = steer.rule;
      f_res.action = steer.rss ? 8'(ActionRss) : steer.to_queue ? 8'(ActionQueue) : 8'(ActionDrop);
      if (steer.rss || steer.to_queue) begin
        f_res.queue_f    = steer.queue_f;
        f_res.rss_log    = steer.rss ? 8'(steer.rss_log) : 8'd0;
        f_res.account_en = 8'(steer.draw.account_en);
        if (steer.draw.account_en) begin
          f_res.account    = 8'(steer.draw.account);
          f_res.slow_queue = steer.draw.slow_queue;
        end
      end
    end
  end

  blk_commands #(.TableOp(OpTable)) u_commands (
    .clk, .rst,
    .s_axis_req_tdata(s_axis_req_tdata[$bits(table_op_t)-1:0]),
    .s_axis_req_tvalid, .s_axis_req_tready,
    .can_i    (1'b1), .alone_i(f_op.op == OpRead),
    .take_o   (take),
    .tbl_o    (tbl), .tbl_i(tbl_rsp),
    .done_i   (busy_q[2]),
    .data_i   (1088'(f_res)),
    .m_axis_rsp_tdata, .m_axis_rsp_tlast, .m_axis_rsp_tvalid, .m_axis_rsp_tready
  );

  nic_steer u_steer (
    .clk, .rst,
    .clear_i      (1'b0),
    .tbl_i        (tbl),
    .tbl_o        (tbl_rsp),
    .key_valid_i  (take && f_op.op == OpFrame),
    .key_i        (f_op.key),
    .steer_o      (steer),
    .hit_valid_i  (take && f_op.op == OpHit),
    .hit_rule_i   (f_op.rule),
    .hits_index_i (rule_q[1]),
    .hits_o       (hits)
  );

  always_ff @(posedge clk) begin
    busy_q <= {busy_q[1:0], take};
    op_q   <= '{0: f_op.op, 1: op_q[0], 2: op_q[1]};
    rule_q <= '{0: f_op.rule, 1: rule_q[0]};
    if (rst) busy_q <= '0;
  end

  logic unused_bits;
  assign unused_bits = ^{s_axis_req_tlast, s_axis_req_tdata, f_op};
endmodule
